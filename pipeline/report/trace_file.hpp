#pragma once
/// Files that a run's trace is written to.

#include <filesystem>
#include <memory>

#include "pipeline/session/trace.hpp"

namespace sightline::pipeline {

constexpr const char* to_string(Activity activity) {
  constexpr const char* kNames[] = {"decode", "wait", "run", "upload", "download", "output"};
  return kNames[static_cast<int>(activity)];
}

/// Whether spans of the activity name a stage.
constexpr bool has_stage(Activity activity) {
  return activity != Activity::decode && activity != Activity::output;
}

class TraceFile : public TraceSink {
 public:
  /// Completes the file and gives it its name, after the last frame or after a run that was stopped; a run
  /// without frames is valid, too. Throws Error (failed) where that fails. Further calls do nothing.
  virtual void finish() = 0;
};

/// NAME.svg: a picture (TraceChart); any other name: trace events (ChromeTraceWriter). Throws Error (failed).
std::unique_ptr<TraceFile> open_trace_file(const std::filesystem::path& path);

}  // namespace sightline::pipeline
