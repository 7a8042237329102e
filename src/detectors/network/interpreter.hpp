#pragma once
/// Runs a network node by node in plain scalar code: the definition of its result.

#include <vector>

#include "detectors/network/runner.hpp"

namespace sightline::network {

/// Nodes of a graph that run one after the other in plain scalar code.
class NodeSequence {
 public:
  /// @param nodes         in an order in which they can run; the graph must outlive the object
  /// @param memory_limit  bytes of all values that they make and that are needed at once
  NodeSequence(const Graph& graph, std::vector<const Node*> nodes, std::int64_t memory_limit);

  std::size_t size() const { return nodes_.size(); }
  /// @param values  of the graph: those that the nodes make get memory here, and lose it behind their last
  ///                reader unless they are outputs of the network
  /// Throws Error (failed), naming the node.
  void run(std::vector<Tensor>& values) const;

 private:
  const Graph& graph_;
  const std::vector<const Node*> nodes_;
  const std::int64_t limit_;
  std::vector<std::vector<int>> ends_;  ///< by node: values of theirs that nobody reads behind it
};

/// Bytes of one frame's values where a frame decides their sizes: as many as those of known sizes need, or a
/// quarter of the limit of all frames.
std::int64_t limit_of_frame(std::int64_t known_bytes, std::int64_t memory_limit);

/// Thread-safety: one run at a time.
class Interpreter : public Runner {
 public:
  /// @param graph         simplified; must outlive it
  /// @param memory_limit  bytes of all values that are needed at once
  Interpreter(const Graph& graph, std::int64_t memory_limit);

  Tensor& input(std::size_t i) override { return values_[static_cast<std::size_t>(graph_.inputs[i].value)]; }
  void run(std::size_t /*segment*/, WorkMeter* /*meter*/) override { nodes_.run(values_); }
  const Tensor& output(std::size_t i) override;

 private:
  const Graph& graph_;
  const NodeSequence nodes_;
  std::vector<Tensor> values_;
};

}  // namespace sightline::network
