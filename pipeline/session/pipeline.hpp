#pragma once
/// Pipeline: one program on streams that are known in advance, until they end.

#include <vector>

#include "pipeline/session/session.hpp"

namespace sightline::pipeline {

struct RunOptions {
  const std::atomic<bool>* stop = nullptr;  ///< ends the run early, cleanly; may be null
  std::vector<TraceSink*> traces;
};

using PipelineOptions = SessionOptions;

/// A frame processor with a schedule, in a session of its own (session.hpp). Slots are kept between runs.
/// Thread-safety: one `run` at a time; any thread may call `set_schedule` and `set_setting`.
class Pipeline {
 public:
  /// Throws Error (usage) if the processor and the devices cannot run the schedule.
  /// @param processor  must outlive the pipeline
  /// @param devices    the processor's stages on devices, must outlive the pipeline; null: none
  Pipeline(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule,
           const PipelineOptions& options = {})
      : session_(options), program_(session_.add(processor, devices, schedule)) {}

  int threads() const { return session_.threads(); }
  Schedule schedule() const { return session_.schedule(program_); }
  void set_schedule(const Schedule& schedule) { session_.set_schedule(program_, schedule); }
  /// As Session::wait_until_ready.
  void wait_until_ready() { session_.wait_until_ready(program_); }
  std::size_t setting() const { return session_.setting(program_); }
  void set_setting(std::size_t setting) { session_.set_setting(program_, setting); }
  bool device_lost() const { return session_.device_lost(program_); }

  /// The session and its program, for streams that come and go. Not during a `run`.
  Session& session() { return session_; }
  ProgramId program() const { return program_; }

  /// Runs until the sources end or `stop` is set. The sources share the pipeline evenly. Returns one report
  /// per stream; the first one has the devices' time for all streams. Throws the first error of a source or a
  /// sink, which ends all; that of a stream which fails alone is in its report. Traces of streams get the
  /// frames of those, the options' get all.
  std::vector<RunReport> run(std::span<const Stream> streams, const RunOptions& options = {});
  /// Runs one stream.
  RunReport run(const Stream& stream, const RunOptions& options = {}) {
    return std::move(run({&stream, 1}, options).front());
  }

 private:
  Session session_;
  ProgramId program_;
};

}  // namespace sightline::pipeline
