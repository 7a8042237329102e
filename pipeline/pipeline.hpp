#pragma once
/// Runs a detector over a source, several frames in flight, and hands the results to sinks in order.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "detection/detector.hpp"
#include "media/reader.hpp"

namespace sightline::pipeline {

/// Which processors work, and on how many frames at once.
struct Schedule {
  int threads = 0;           ///< of the CPU; 0: all
  int frames_in_flight = 0;  ///< slots; 0: chosen by the number of threads
};

/// Where results go. Called by one thread at a time, frames in order.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error (failed) where the frame cannot be taken; the run ends then.
  virtual void accept(const media::Frame& frame, const FrameResult& result) = 0;
};

struct StageTime {
  std::string name;
  double seconds = 0;  ///< busy time, summed over all frames
};

/// Where a run stands; sent after every frame.
struct Progress {
  std::int64_t frames = 0;
  double seconds = 0;                 ///< since the start
  std::optional<std::int64_t> total;  ///< estimate of all frames
};

/// What a run did.
struct RunReport {
  std::int64_t frames = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t objects = 0;
  std::int64_t decode_errors = 0;
  double seconds = 0;
  bool stopped = false;           ///< by request, before the end of the source
  std::vector<StageTime> stages;  ///< decode, the detector's own, output
  std::string first_failure;      ///< message of the first failed frame

  /// Adds another source's run.
  void add(const RunReport& other);
};

struct RunOptions {
  std::string source;                       ///< name of the source in the results
  const std::atomic<bool>* stop = nullptr;  ///< ends the run early, cleanly; may be null
  std::function<void(const Progress&)>
      on_progress;  ///< called in order, from one thread at a time; may be empty
};

/// A detector with a schedule and the slots (workspaces) that it runs in. Slots are kept between runs.
///
/// Results do not depend on the schedule. A frame whose detection throws becomes a failed FrameResult and the
/// run goes on; an error of the source or of a sink ends the run and is thrown from `run`. Thread-safety: one
/// `run` at a time.
class Pipeline {
 public:
  /// @param detector  must outlive the pipeline
  Pipeline(const Detector& detector, const Schedule& schedule);
  ~Pipeline();

  int threads() const;
  int frames_in_flight() const;

  /// Runs until the source ends or `stop` is set.
  RunReport run(media::Reader& reader, std::span<Sink* const> sinks, const RunOptions& options = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::pipeline
