#pragma once
/// Fusion: which nodes one kernel computes together, and in which order kernels can run.

#include <vector>

#include "network/graph.hpp"
#include "network/plan/planned_tensor.hpp"

namespace sightline::nn {

/// A graph whose nodes are parted into waves and groups. Waves run one after the other; a barrier lies
/// between them. The groups of a wave do not depend on each other. A group's nodes have one domain
/// (domain.hpp) and read each other at the same point alone, so a kernel computes all of them for a tile of
/// points. Views are in no group: their readers read through them. Nodes whose sizes the frame decides, and
/// all that read them, come last, outside of waves.
struct Fusion {
  Graph graph;
  std::vector<PlannedTensor> tensors;  ///< by tensor
  std::vector<int>
      wave;  ///< from 1 on, by node; kNone: of a view, of a node that comes last, or of one that none needs
  std::vector<int> group;  ///< from 0 on, by node; kNone where `wave` is
  int waves = 0;
  int groups = 0;
};

/// Parts a graph into waves and groups. The result's graph gives the same bits, but has another form: a max
/// pool of a max pool reads that one's source, padding with zeros is part of the convolution, and what is
/// computed for each point of several joined domains (the strides of a head) is computed for each of them.
Fusion fuse(const Graph& graph);

}  // namespace sightline::nn
