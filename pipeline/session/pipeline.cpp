#include "pipeline/session/pipeline.hpp"

#include "pipeline/session/run_report.hpp"

namespace sightline::pipeline {

std::vector<RunReport> Pipeline::run(std::span<const Stream> streams, const RunOptions& options) {
  DeviceUse use;
  std::vector<TraceSink*> traces = options.traces;
  if (streams.size() > 1) traces.push_back(&use);  // the report of a single one has it
  TraceInfo info = session_.trace_info(program_);
  for (const Stream& stream : streams) info.sources.push_back(stream.name);
  for (TraceSink* sink : traces) sink->begin(info);
  std::vector<Stream> all(streams.begin(), streams.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].number = static_cast<int>(i);
    all[i].stop = options.stop;
    for (TraceSink* sink : all[i].traces) sink->begin(info);
    all[i].traces.insert(all[i].traces.end(), traces.begin(), traces.end());
  }
  std::vector<RunReport> reports;
  std::exception_ptr error;
  for (const StreamId id : session_.add(program_, all)) {
    try {
      reports.push_back(session_.wait(id));
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  if (reports.size() > 1) {
    for (RunReport& report : reports) report.devices.clear();
    reports.front().devices = use.times();
  }
  return reports;
}

}  // namespace sightline::pipeline
