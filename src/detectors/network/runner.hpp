#pragma once
/// Runs a network on one frame: the interpreter, which defines the result, or a plan, which is faster.

#include "detectors/network/graph.hpp"

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

  /// The value of an input, to be filled before `run`; memory for its type is there.
  virtual Tensor& input(std::size_t i) = 0;
  /// Throws Error (failed), naming the node. @param meter  is told how long threads were busy; may be null
  virtual void run(WorkMeter* meter) = 0;
  /// The value of an output, until the next `run`.
  virtual const Tensor& output(std::size_t i) const = 0;
};

}  // namespace sightline::network
