#pragma once
/// Fusion: which nodes one kernel computes together, and in which order kernels can run.

#include <functional>
#include <span>
#include <vector>

#include "network/graph.hpp"
#include "network/plan/planned_tensor.hpp"

namespace sightline::nn {

/// A graph whose nodes are parted into waves and groups. Waves run one after the other; a barrier lies
/// between them. The groups of a wave do not depend on each other. A group's nodes have one domain
/// (domain.hpp) and read each other at the same point alone, so a kernel computes all of them for a tile of
/// points. A node that runs alone is a group of its own and is read in later waves only. Views are in no
/// group: their readers read through them.
/// Nodes whose sizes the frame decides, and all that read them, come last, outside of waves.
struct Fusion {
  Graph graph;
  std::vector<PlannedTensor> tensors;  ///< by tensor
  std::vector<int>
      wave;  ///< from 1 on, by node; kNone: of a view, of a node that comes last, or of one that none needs
  std::vector<int> group;      ///< from 0 on, by node; kNone where `wave` is
  std::vector<bool> is_alone;  ///< by node
  int waves = 0;
  int groups = 0;
};

/// Whether a node runs alone: it reads whole operands and makes whole results, as the reference does.
/// @param tensors  by tensor of the graph
using RunsAlone = std::function<bool(const Graph& graph, std::span<const PlannedTensor> tensors, int node)>;

/// Parts a graph into waves and groups. The result's graph gives the same bits, but has another form: a max
/// pool of a max pool reads that one's source, padding with zeros is part of the convolution, convolutions
/// of few outputs are one where they can be (merge_products.hpp), and what is computed for each point of
/// several joined domains (the strides of a head) is computed for each of them.
/// @param runs_alone  null: none does
Fusion fuse(const Graph& graph, const RunsAlone& runs_alone = nullptr);

}  // namespace sightline::nn
