#pragma once
/// Internal to src/media: what Reader reads from, once through.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "media/audio_track.hpp"
#include "media/ffmpeg.hpp"
#include "media/reader.hpp"

namespace sightline::media {

/// Counts decode errors and ends the reading when there are only errors.
/// Thread-safety: `total` from any thread, the rest from the reading one.
class DecodeErrors {
 public:
  static constexpr int kMaxInARow = 100;

  explicit DecodeErrors(std::string input) : input_(std::move(input)) {}
  /// @throws Error (input) for the kMaxInARow-th call without a `good` between
  void add(const std::string& reason);
  /// Damage that reading goes on after, however often it comes: a picture that was delivered all the same, or
  /// one of many pictures that are files of their own.
  void add_concealed(const std::string& reason = "the decoder concealed damage") {
    ++total_;
    last_ = reason;
  }
  void good() { in_a_row_ = 0; }
  std::int64_t total() const { return total_; }
  const std::string& last() const { return last_; }

 private:
  std::string input_;
  std::string last_;
  std::atomic<std::int64_t> total_{0};
  int in_a_row_ = 0;
};

struct SourceFrame {
  std::shared_ptr<const AVFrame> picture;
  double time = 0;  ///< seconds from the source's start
  std::string name;
  FrameTimes times;
  std::string damage = {};  ///< why there is no picture; see Frame::damage
};

/// One reading of an input from its start to its end.
class Source {
 public:
  virtual ~Source() = default;
  /// The next picture that can be decoded; none at the end. Never throws for a damaged one (see
  /// DecodeErrors).
  virtual std::optional<SourceFrame> next() = 0;
  /// Moves to a frame at or before `time`, or stays where it is if the input cannot move. Returns false if
  /// the new position is unknown; then the input must be reopened. Call it before the first `next`, or after
  /// `release`.
  virtual bool seek(double time) = 0;
  /// Frees the decoder of a video and its memory, and forgets all frames: `seek` must follow, and opens it
  /// again.
  virtual void release() {}
  /// Facts of the container; the size and pixel format are Reader's to fill in from the first picture.
  virtual StreamInfo info() const = 0;
  /// As Reader::device.
  virtual std::string device() const { return ""; }
  /// As Reader::tests_device.
  virtual bool tests_device() const { return false; }
};

/// State that the sources of one reader share.
struct SourceContext {
  const ReadOptions& options;
  DecodeErrors& errors;
  std::shared_ptr<AudioTrack>& audio;  ///< made by the first opening that finds sound
  double audio_shift = 0;              ///< seconds to add to the times of packets
};

/// @throws Error (input) for more than `max_pixels`
void check_picture_size(std::int64_t width, std::int64_t height, const std::string& name,
                        std::int64_t max_pixels);

/// Opens any input of Reader's. @throws Error
std::unique_ptr<Source> open_source(const std::string& input, const SourceContext& context);

/// Images of a folder, in order. @throws Error if there is none
std::unique_ptr<Source> open_folder(const std::string& folder, const SourceContext& context);

/// A local file, if its first bytes are those of a TIFF; else null. Uses the TiffReader that is set.
std::unique_ptr<Source> open_tiff(const std::string& input, const SourceContext& context);

struct TiffContent {
  FramePtr picture;    ///< gray or RGB of 8 bits and full range; null if it is damaged
  std::string damage;  ///< why it cannot be read whole
};

/// Decodes the first picture of a TIFF's content; warns of others. Unsigned samples of more than 8 bits are
/// spread over all of their values.
/// @param name  of the file, for messages
/// @throws Error (input) for kinds that are not read, and pictures over `max_pixels`
TiffContent decode_tiff(std::span<const std::uint8_t> content, const std::string& name,
                        std::int64_t max_pixels);

/// A file, URL, pattern, device, generator or standard input. @throws Error
std::unique_ptr<Source> open_stream(const std::string& input, const SourceContext& context);

}  // namespace sightline::media
