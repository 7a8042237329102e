#pragma once
/// Drawings of fused graphs, for people.

#include <string>

#include "network/plan/fuse.hpp"

namespace sightline::nn {

/// A drawing as SVG: a box for each group with its nodes in order and the tensors that it stores, a row for
/// each wave from top to bottom, and an arrow from a group to each that reads one of its tensors. Groups of
/// one node that runs alone are grey; nodes that come last are the row below the waves.
std::string drawing_of(const Fusion& fusion);

}  // namespace sightline::nn
