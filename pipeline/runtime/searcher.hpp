#pragma once
/// Searches pictures one after the other, without a pipeline.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frame/frame_result.hpp"
#include "image/view.hpp"
#include "pipeline/runtime/schedule.hpp"

namespace sightline::pipeline {

/// Searches one picture at a time, from pixels in host memory to the result. Keeps memory for the last size.
/// One thread at a time.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Searches a picture without log messages. Throws Error (failed) and DeviceError.
  virtual FrameResult search(GrayView picture) = 0;
  /// Seconds of parts of the last search, and of other ways to do the same, by name.
  virtual std::vector<std::pair<std::string, double>> parts() { return {}; }
};

/// Runs a frame processor by a schedule, which must not split frames.
/// @param device   the schedule's device; null if it uses none
/// @param threads  CPU threads Processor and device must outlive it. Throws DeviceError.
std::unique_ptr<Searcher> make_searcher(const FrameProcessor& processor, const DeviceStages* device,
                                        const Schedule& schedule, int threads);

}  // namespace sightline::pipeline
