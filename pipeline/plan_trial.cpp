#include "pipeline/plan_trial.hpp"

#include "base/error.hpp"
#include "pipeline/sources.hpp"

namespace sightline::pipeline {

TraceStatistics run_for(Pipeline& pipeline, const Schedule& schedule, const std::vector<media::Frame>& frames,
                        std::int64_t count, std::size_t trim, const std::atomic<bool>* stop) {
  pipeline.set_schedule(schedule);
  MemorySource source(frames, count);
  TraceStatistics statistics;
  RunOptions options;
  options.traces = {&statistics};
  options.stop = stop;
  const RunReport report = pipeline.run({&source, "calibration", {}, {}}, options);
  if (report.failed > 0) throw Error(ExitCode::failed, report.first_failure);
  statistics.trim(trim);
  return statistics;
}

}  // namespace sightline::pipeline
