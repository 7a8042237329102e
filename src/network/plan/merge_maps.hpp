#pragma once
/// Maps of maps as one.

#include "network/graph.hpp"

namespace sightline::nn {

/// Puts the node that makes an operand of a Map into it: both are Maps, and the maker has one result. The
/// reader's expression computes both, and reads what the maker reads. All bits stay.
void merge_map(GraphNode& reader, int operand_tensor, const GraphNode& maker);

}  // namespace sightline::nn
