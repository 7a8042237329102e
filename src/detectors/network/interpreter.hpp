#pragma once
/// Runs a network node by node in plain scalar code: the definition of its result.

#include <vector>

#include "detectors/network/runner.hpp"

namespace sightline::network {

/// Thread-safety: one run at a time.
class Interpreter : public Runner {
 public:
  /// @param graph         simplified; must outlive it
  /// @param memory_limit  bytes of all values that are needed at once
  Interpreter(const Graph& graph, std::int64_t memory_limit);

  Tensor& input(std::size_t i) override { return values_[static_cast<std::size_t>(graph_.inputs[i].value)]; }
  void run(std::size_t segment, WorkMeter* meter) override;
  const Tensor& output(std::size_t i) override;

 private:
  void run_one(const Node& node);

  const Graph& graph_;
  const std::int64_t limit_;
  std::vector<std::vector<int>> ends_;  ///< by node: values that nobody reads behind it
  std::vector<Tensor> values_;
  std::int64_t live_bytes_ = 0;
};

}  // namespace sightline::network
