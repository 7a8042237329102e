#pragma once
/// Compressed sound on its way from a reader to a writer, copied and never decoded.

#include <cstddef>
#include <cstdint>
#include <memory>

struct AVCodecParameters;
struct AVPacket;
struct AVRational;

namespace sightline::media {

/// A bounded queue of audio packets. A Reader with ReadOptions::keep_audio fills one while it reads; a Writer
/// that was given it (WriteOptions::audio) empties it while it writes. If no packets are taken, the oldest
/// are dropped, so an unused track costs little.
///
/// Packets carry times relative to the start of the source, as Frame::time does.
/// Thread-safety: all functions may be called from any thread at any time.
class AudioTrack {
 public:
  static constexpr std::size_t kMaxPackets = 8192;     ///< about 3 minutes of AAC
  static constexpr std::size_t kMaxBytes = 64u << 20;  ///< maximum payload

  /// Copies the parameters.
  AudioTrack(const AVCodecParameters& parameters, const AVRational& time_base);
  ~AudioTrack();
  AudioTrack(const AudioTrack&) = delete;
  AudioTrack& operator=(const AudioTrack&) = delete;

  const AVCodecParameters& parameters() const;
  const AVRational& time_base() const;

  /// Takes over the packet's contents, leaving it blank. A packet that is not later than the one before is
  /// thrown away: seeking meets packets again, and where loops meet they overlap by less than one.
  void push(AVPacket& packet);
  /// Moves the oldest packet into `packet` (whose contents are released first); false if there is none.
  bool pop(AVPacket& packet);
  /// Time in seconds of the packet that `pop` would give; false if there is none.
  bool next_time(double& seconds) const;

  std::int64_t pushed() const;   ///< packets so far
  std::int64_t dropped() const;  ///< packets dropped because they were not taken in time

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::media
