#pragma once
/// Runs a frame processor over sources: stages mapped to processors, several frames in flight, results in
/// order.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "media/frame_source.hpp"
#include "pipeline/runtime/schedule.hpp"
#include "pipeline/runtime/trace.hpp"
#include "processing/frame_processor.hpp"

namespace sightline::pipeline {

/// Consumer of results. Called by one thread at a time, frames in order.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error (failed) where the frame cannot be taken; the run ends then.
  virtual void accept(const media::Frame& frame, const FrameResult& result) = 0;
};

struct StageTime {
  std::string name;
  std::string processor;  ///< "CPU" or the device's name; "CPU and ..." if frames differed
  double seconds = 0;     ///< busy time, summed over all frames
  double work = 0;        ///< core-seconds on the CPU
};

/// Progress of a run; sent after every frame.
struct Progress {
  std::int64_t frames = 0;
  double seconds = 0;                 ///< since the start
  std::optional<std::int64_t> total;  ///< estimate of all frames
};

/// The frames that one of the processor's settings has searched.
struct SettingUse {
  ProcessorSetting setting;
  std::int64_t frames = 0;
};

/// Summary of a run.
struct RunReport {
  std::int64_t frames = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t objects = 0;  ///< or whatever else results count: FrameResult::count
  std::int64_t decode_errors = 0;
  std::int64_t retried = 0;  ///< frames that a device failed on and another or the CPU did again
  double seconds = 0;
  bool stopped = false;           ///< by request, before the end of the source
  std::vector<StageTime> stages;  ///< decode, the processor's own, transfers where there are any, output
  std::string first_failure;      ///< message of the first failed frame
  /// By setting, from the most accurate to the fastest; empty where the processor has only one. Frames that
  /// were not searched count for none.
  std::vector<SettingUse> settings;

  /// Adds another source's run.
  void add(const RunReport& other);
};

/// One source with the sinks that its results go to.
struct Stream {
  media::FrameSource* source = nullptr;
  std::string name;  ///< of the source in the results
  std::vector<Sink*> sinks;
  std::function<void(const Progress&)>
      on_progress;  ///< called in order, from one thread at a time; may be empty
};

struct RunOptions {
  const std::atomic<bool>* stop = nullptr;  ///< ends the run early, cleanly; may be null
  std::vector<TraceSink*> traces;
};

struct PipelineOptions {
  int threads = 0;          ///< of the CPU; 0: all
  double stall_limit = 30;  ///< seconds without an answer after which a device counts as lost
  /// Ask a device for the end of its work rather than have it call back. Devices with memory of their own are
  /// asked anyway: see Pipeline::Impl::poll.
  bool poll_device = false;
};

/// A frame processor with a schedule and the slots that it runs in. Slots are kept between runs.
///
/// Frames enter with a free slot only, so that memory is bounded. Each goes through the segments of its
/// schedule: CPU stages are tasks of one TBB arena; device stages are enqueued together, and no thread waits
/// for them. With several devices, frames are dealt out to them, each to the one that is expected to be done
/// with it first, or share the frames. Results do not depend on the schedule, or on how many devices there
/// are.
///
/// A frame on which a stage throws becomes a failed FrameResult and the run goes on. A device that fails, or
/// does not answer, is disabled: its frames are retried on the other devices that the schedule has, or on the
/// CPU, and all that follow stay there; the log says so once. An error of a source or of a sink ends the run
/// and is thrown from `run`. Thread-safety: one `run` at a time; `set_schedule` and
/// `set_setting` from any thread.
class Pipeline {
 public:
  /// Throws Error (usage) where processor and devices cannot run the schedule.
  /// @param processor  must outlive the pipeline
  /// @param devices   its stages on devices, must outlive the pipeline; null: none
  Pipeline(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule,
           const PipelineOptions& options = {});
  ~Pipeline();

  int threads() const;
  Schedule schedule() const;
  /// For the frames that enter from now on; those in flight finish as they began. Throws Error (usage).
  void set_schedule(const Schedule& schedule);
  /// Index of the setting (FrameProcessor::run_settings) for frames that enter now; at first, the configured
  /// one.
  std::size_t setting() const;
  /// For the frames that enter from now on; those in flight finish as they began. Throws Error (usage) where
  /// the processor has no such setting.
  void set_setting(std::size_t setting);
  /// Whether a device was disabled.
  bool device_lost() const;

  /// Runs until the sources end or `stop` is set. Several sources share the processors evenly. One report a
  /// stream.
  std::vector<RunReport> run(std::span<Stream> streams, const RunOptions& options = {});
  /// One source.
  RunReport run(Stream stream, const RunOptions& options = {});

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::pipeline
