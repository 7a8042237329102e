#pragma once
/// Pipeline: runs a frame processor on sources, with stages mapped to CPU and devices, several frames in
/// flight, and results in order.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frame/frame_source.hpp"
#include "pipeline/runtime/schedule.hpp"
#include "pipeline/runtime/trace.hpp"
#include "processing/frame_processor.hpp"

namespace sightline::pipeline {

/// Consumer of results. Called by one thread at a time, frames in order.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error (failed) if it cannot take the frame; that ends the run.
  virtual void accept(const Frame& frame, const FrameResult& result) = 0;
};

struct StageTime {
  std::string name;
  std::string processor;  ///< "CPU" or the device's name; "CPU and ..." if frames differed
  double seconds = 0;     ///< busy time, summed over all frames
  double work = 0;        ///< core-seconds on the CPU, summed over all frames
};

/// Progress of a run; sent after every frame.
struct Progress {
  std::int64_t frames = 0;
  double seconds = 0;                 ///< since the start
  std::optional<std::int64_t> total;  ///< estimated number of frames in total
};

/// Number of frames processed at one operating point.
struct OperatingPointUse {
  OperatingPoint setting;
  std::int64_t frames = 0;
};

/// Summary of a run.
struct RunReport {
  std::int64_t frames = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t objects = 0;  ///< sum of FrameResult::count
  std::int64_t decode_errors = 0;
  std::int64_t retried = 0;  ///< frames repeated elsewhere after a device failed
  double seconds = 0;
  bool stopped = false;           ///< stopped by request before the end of the source
  std::vector<StageTime> stages;  ///< decode, the processor's stages, transfers if any, output
  std::string first_failure;      ///< message of the first failed frame
  /// Use of each operating point, from the most accurate to the fastest; empty if there is only one. Counts
  /// only searched frames.
  std::vector<OperatingPointUse> settings;

  /// Adds another source's run.
  void add(const RunReport& other);
};

/// A source and the sinks of its results, which must all outlive the run.
struct Stream {
  FrameSource* source = nullptr;
  std::string name;  ///< source name in the results
  std::vector<Sink*> sinks;
  std::function<void(const Progress&)>
      on_progress;  ///< called in order, from one thread at a time; may be empty
};

struct RunOptions {
  const std::atomic<bool>* stop = nullptr;  ///< ends the run early, cleanly; may be null
  std::vector<TraceSink*> traces;
};

struct PipelineOptions {
  int threads = 0;          ///< CPU threads; 0: all
  double stall_limit = 30;  ///< seconds without an answer after which a device is lost
  /// Poll devices for completion instead of using callbacks. Devices with their own memory are always polled.
  bool poll_device = false;
};

/// A frame processor with a schedule and the slots for its frames in flight. Slots are kept between runs.
///
/// A frame enters only when a slot is free, so memory is bounded. It then goes through the segments of its
/// schedule: CPU stages are tasks of one TBB arena; device stages are enqueued together, for several frames
/// at once if the schedule has batches, and no thread waits for them. With several devices, each frame goes
/// to the device that is expected to finish it first, or all devices share each frame. Results do not depend
/// on the schedule or the number of devices.
///
/// A frame on which a stage throws becomes a failed FrameResult, and the run continues. A device that fails
/// or does not answer is disabled for all later frames, and logged once. Its frames are retried on the
/// schedule's other devices, or on the CPU. An error of a source or a sink ends the run, and `run` throws it.
///
/// Thread-safety: one `run` at a time; any thread may call `set_schedule` and `set_setting`.
class Pipeline {
 public:
  /// Throws Error (usage) if the processor and the devices cannot run the schedule.
  /// @param processor  must outlive the pipeline
  /// @param devices    the processor's stages on devices, must outlive the pipeline; null: none
  Pipeline(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule,
           const PipelineOptions& options = {});
  ~Pipeline();

  int threads() const;
  Schedule schedule() const;
  /// Sets the schedule of frames that enter from now on; frames in flight keep theirs. Throws Error (usage).
  void set_schedule(const Schedule& schedule);
  /// Index of the operating point (FrameProcessor::operating_points) of frames that enter now; initially the
  /// configured one.
  std::size_t setting() const;
  /// Sets the operating point of frames that enter from now on; frames in flight keep theirs. Throws Error
  /// (usage) if the processor has no such operating point.
  void set_setting(std::size_t setting);
  /// Whether a device was disabled.
  bool device_lost() const;

  /// Runs until the sources end or `stop` is set. The sources share the pipeline evenly. Returns one report
  /// per stream.
  std::vector<RunReport> run(std::span<Stream> streams, const RunOptions& options = {});
  /// Runs one stream.
  RunReport run(Stream stream, const RunOptions& options = {});

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::pipeline
