#pragma once
/// Partitions: parts of a graph that one processor runs.

#include <vector>

#include "network/opencl/device_plan.hpp"

namespace sightline::nn {

/// Nodes for which devices have kernels, or the others between them. Tensors are those of the whole graph.
struct Partition {
  bool on_device = false;
  Graph graph;
  std::vector<int> inputs, outputs;  ///< by input and output of `graph`
};

/// A graph as partitions that run one after the other.
struct Partitions {
  Graph graph;  ///< gives the same bits as the one that was divided, whose inputs and outputs it has in order
  std::vector<Partition> parts;
};

/// The fewest partitions whose first nodes run on a device where possible.
/// @param most  partitions, an even number: the last one is for the CPU, with all that is left
Partitions partitions_of(const Graph& graph, std::size_t most = 1000);

}  // namespace sightline::nn
