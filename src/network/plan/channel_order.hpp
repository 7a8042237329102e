#pragma once
/// Orders of what lies within a point, chosen for the folds that read it.

#include <vector>

#include "network/plan/group_steps.hpp"

namespace sightline::nn {

/// Sets Layout::outermost of tensors that folds read: a fold of few elements then has elements of many folds
/// in each vector, and a fold of many elements reads rows.
void choose_channel_orders(Fusion& fusion, const std::vector<StepGroup>& groups);

}  // namespace sightline::nn
