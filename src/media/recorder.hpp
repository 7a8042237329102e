#pragma once
/// Annotated video of a source that runs now, into one file after the other.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/segment_limits.hpp"
#include "frame/frame.hpp"
#include "frame/frame_result.hpp"
#include "frame/stream_info.hpp"
#include "media/writer.hpp"

namespace sightline::media {

struct RecordOptions {
  /// A name, a pattern or a folder, as FileNames takes them (base/file_names.hpp). Numbered from the first
  /// file with rotation; no existing file is ever replaced.
  std::string path;
  SegmentLimits rotation;
  int keep = 0;            ///< number of files to keep, the oldest are deleted; 0: all
  std::size_t queue = 16;  ///< frames that wait for the encoder, at least 1; each holds its picture
  WriteOptions writing;    ///< `live` is set and `audio` is not regarded: recordings have no sound
};

/// Status of a recording. For the frames offered while it was on
/// `offered == written + busy + failed + pending`, and `pending` is 0 after `finish`.
struct RecorderStatus {
  bool recording = false;    ///< frames that are offered now are taken, if there is room
  std::string file;          ///< the one being written, or the last one; empty before the first
  double seconds = 0;        ///< the file's duration: time from its first to its last frame
  std::int64_t bytes = 0;    ///< the file's size
  std::int64_t frames = 0;   ///< the file's frames
  std::int64_t files = 0;    ///< begun and not empty, the deleted ones too
  std::int64_t offered = 0;  ///< frames over all files, as the others below
  std::int64_t written = 0;
  std::int64_t busy = 0;     ///< left out, cause "recorder busy": the encoder could not keep up
  std::int64_t failed = 0;   ///< left out, cause "recorder failed": could not be encoded or written
  std::int64_t pending = 0;  ///< taken and not yet written
  std::string error;         ///< error that ended the last recording; empty: none
};

/// Names of the causes for frames that a recording lacks.
inline constexpr const char* kRecorderBusy = "recorder busy";
inline constexpr const char* kRecorderFailed = "recorder failed";

/// Encodes on its own thread behind a bounded queue, so `offer` never waits for encoder or disk. Frames that
/// do not fit into the queue are dropped and counted.
///
/// - Files are as Writer makes them with WriteOptions::live: the data on disk can be played even if the
///   process is killed. The boxes are drawn in.
/// - Times are the frames', relative to the first one of each file. At a dropped frame, the picture before it
///   stays.
/// - Rotation cuts between two frames: the next file starts with a key frame at time 0 and no frame is lost.
///   A file covers less than SegmentLimits::seconds, and has at most SegmentLimits::bytes, except for its
///   index and larger single frames. Time that goes back by more than a second also starts a new file.
/// - A file has the size of its first frame; later frames of another size are scaled into it, until the next
///   file.
/// - A disk that is full, or another error while writing, ends the recording: the error is logged once and
///   kept in the status, the file stays readable up to there. `start` tries anew. A frame that cannot be
///   converted is left out.
///
/// Frames wait as references: a source with few picture buffers of its own should have more than `queue`.
/// Thread-safety: `offer` from one thread at a time; everything else but the destructor from any thread.
class Recorder {
 public:
  /// Starts the thread, but no recording. Uses rate, sample aspect and colours of `video`; frames give the
  /// size.
  /// @throws Error (usage) for an encoder, preset or extension that is unknown or impossible
  Recorder(const StreamInfo& video, RecordOptions options);
  /// Finishes.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Switches recording on, into a new file; does nothing if it is on. Takes the name at once, and encodes
  /// from the first frame on.
  /// @throws Error (failed) if the file cannot be made; after `finish`
  void start();
  /// Switches recording off. Frames taken so far are still written, without waiting for them here; a file
  /// that got none is removed.
  void stop();

  /// Gives a frame to be written, if recording is on. Frames come in the order of their times.
  /// @return whether it was taken; not if recording is off, the frame is empty or the encoder is behind
  bool offer(const Frame& frame, std::span<const Detection> objects = {},
             std::span<const std::string> labels = {});

  RecorderStatus status() const;

  /// Stops, waits until everything is written, and ends the thread. Further calls do nothing. Errors are in
  /// the status.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::media
