#pragma once
/// Runs a network on one frame: the interpreter, which defines the result, or a plan, which is faster.

#include <span>
#include <vector>

#include "detectors/network/graph.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline {
class WorkMeter;
}

namespace sightline::network {

/// Thread-safety: one run at a time.
class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  /// The value of an input, to be filled before the first segment runs; memory for its type is there.
  virtual Tensor& input(std::size_t i) = 0;
  /// Segments run one after the other. Throws Error (failed), naming the node.
  /// @param meter  is told how long threads were busy; may be null
  virtual void run(std::size_t segment, WorkMeter* meter) = 0;
  virtual std::size_t segments() const { return 1; }
  void run_all(WorkMeter* meter = nullptr) {
    for (std::size_t i = 0; i < segments(); ++i) run(i, meter);
  }
  /// Runs all segments. Returns the seconds of each of the plan's levels; none where there is no plan.
  virtual std::vector<double> time_levels() { return {}; }
  /// The value of an output, until the next frame.
  virtual const Tensor& output(std::size_t i) = 0;
  /// Memory that segments share: the picture's first, then the results of each segment. Empty where only the
  /// CPU can run it.
  virtual std::span<InterStageBuffer> shared() { return {}; }
};

}  // namespace sightline::network
