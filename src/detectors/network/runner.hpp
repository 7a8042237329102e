#pragma once
/// Runs a network on one frame: part by part, or as the reference.

#include <memory>
#include <span>
#include <vector>

#include "detectors/network/parts.hpp"
#include "detectors/network/tensors.hpp"
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

  /// The value of an input, to be filled before the first part runs.
  virtual Tensor& input(std::size_t i) = 0;
  /// Parts run one after the other. Throws Error (failed), naming the node.
  /// @param meter  is told how long threads were busy; may be null
  virtual void run(std::size_t part, WorkMeter* meter) = 0;
  virtual std::size_t parts() const { return 1; }
  void run_all(WorkMeter* meter = nullptr) {
    for (std::size_t i = 0; i < parts(); ++i) run(i, meter);
  }
  /// Runs all parts. Returns the seconds of each wave of each part, and of the copies behind a part's waves
  /// where there are some; none for the reference.
  virtual std::vector<double> time_waves() { return {}; }
  /// The value of an output, until the next frame.
  virtual const Tensor& output(std::size_t i) = 0;
  /// The pools (parts.hpp). Empty where only the CPU can run it.
  virtual std::span<InterStageBuffer> pools() { return {}; }
};

/// Runs parts on the threads of the calling TBB arena.
/// @param parts         outlives the runner
/// @param memory_limit  bytes of tensors whose sizes a frame decides
std::unique_ptr<Runner> make_runner(const Parts& parts, std::int64_t memory_limit);

/// Runs a graph by the reference. @param graph  outlives the runner
std::unique_ptr<Runner> make_reference_runner(const nn::Graph& graph, std::int64_t memory_limit);

}  // namespace sightline::network
