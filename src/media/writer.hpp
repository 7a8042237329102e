#pragma once
/// Writes annotated video.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "frame/frame.hpp"
#include "frame/frame_result.hpp"
#include "frame/stream_info.hpp"

namespace sightline::media {

class AudioTrack;

struct WriteOptions {
  std::string encoder =
      "libx264";  ///< FFmpeg's name; containers that cannot hold H.264 get their own default
  /// Constant rate factor, 0 (best) to 51, lower is better and larger; encoders without one get quality / 5
  /// as the quantiser, within 1..31.
  int quality = 23;
  std::string preset = "veryfast";    ///< preset of encoders that have one
  int threads = 0;                    ///< threads of the encoder; 0: its choice
  std::shared_ptr<AudioTrack> audio;  ///< sound to copy along (Reader::audio); may be null
  std::string input;                  ///< refused as the output, when it is the same file; may be empty
  /// For live sources: encodes without look-ahead, and the file can be played even if the process is killed,
  /// except for about the last 0.5 s. MP4 and MOV are written in short fragments, Matroska in short clusters.
  bool live = false;
  double key_seconds = 1;  ///< maximum time between key frames, if live
};

/// A video file being written: MP4, Matroska, or another format by the path's extension (FFmpeg). With `%d`
/// in the path (`out%04d.png`), or a path that is a folder or ends with a slash, numbered images are written
/// instead.
///
/// - The picture has the size and colour tags of StreamInfo (the source's); an odd width or height is rounded
///   up to even by repeating the last column or row where chroma is subsampled. Frames of another size are
///   scaled into it, with black bars where the proportions differ; boxes go along.
/// - Times are kept (variable frame rate too), counted from the first frame written. Containers without
///   variable rate round to their rate.
/// - Sound is copied as it is; where the container cannot hold it, it is left out with a warning.
/// - Until it is whole, a file `NAME` is called `NAME.part-` and eight random digits (not where `live`): what
///   has the name can be played. Whatever ends the writing, `finish` or the destructor completes it, as far
///   as it got; where they cannot, the unfinished file is left and the log names it. Without a frame there is
///   no file.
/// - What an unfinished file holds can be played even if the process is killed, but for the last seconds: MP4
///   and MOV are written in fragments, which are copied into one file with one index when all is there; for a
///   moment that takes the room of two. Where there is none, the fragments get the name.
///
/// Owns the file. Thread-safety: one thread at a time.
class Writer {
 public:
  /// Opens the file and the encoder. Uses size, rate, sample aspect and colours of `video`.
  /// @throws Error (failed) if the path cannot be written; (usage) for an unknown or impossible encoder,
  /// preset or extension, or an output that is the input
  Writer(const std::string& path, const StreamInfo& video, const WriteOptions& options = {});
  /// Finishes if `finish` was not called; problems are logged.
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  /// Encodes a frame with the objects drawn in, in order of time.
  /// @throws Error (failed) if the file cannot be written, such as on a full disk; then do not call it again
  void write(const Frame& frame, std::span<const Detection> objects = {},
             std::span<const std::string> labels = {});

  /// Writes pending data and closes the file. Further calls do nothing.
  /// @throws Error (failed) if something could not be written
  void finish();

  std::int64_t frames() const;         ///< written so far
  std::int64_t bytes() const;          ///< file size so far, including data buffered by the container
  std::int64_t audio_packets() const;  ///< written so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Checks the options like Writer without touching the file, so that they are refused before anything starts.
/// @throws Error (usage) like Writer
void check_writing(const std::string& path, const StreamInfo& video, const WriteOptions& options = {});

/// Whether, by its extension, a name is that of still pictures rather than of a video.
/// @throws Error (usage) for an extension that is not known
bool is_picture_name(const std::string& path);

}  // namespace sightline::media
