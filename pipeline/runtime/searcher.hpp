#pragma once
/// Searches pictures one after the other, without a pipeline.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "image/view.hpp"
#include "pipeline/runtime/schedule.hpp"
#include "processing/frame_result.hpp"

namespace sightline::pipeline {

/// One picture at a time, from its pixels in the host's memory to what is found. Keeps what a picture of the
/// last size needed. One thread at a time.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Searches a picture without log messages. Throws Error (failed) and DeviceError.
  virtual FrameResult search(GrayView picture) = 0;
  /// Seconds of parts of the last search, and of other ways to do the same, by name.
  virtual std::vector<std::pair<std::string, double>> parts() { return {}; }
};

/// Runs the stages of a frame processor where a schedule says, which is none that splits frames.
/// @param device   where the schedule has stages on one; else null
/// @param threads  of the CPU
/// Processor and device must outlive it. Throws DeviceError.
std::unique_ptr<Searcher> make_searcher(const FrameProcessor& processor, const DeviceStages* device,
                                        const Schedule& schedule, int threads);

}  // namespace sightline::pipeline
