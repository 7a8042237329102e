#include "network/plan/planned_node.hpp"

#include <algorithm>

#include "network/strided.hpp"

namespace sightline::nn {
namespace {

// Whether a tensor has elements on its last axes alone.
bool has_last_axes(const Shape& shape, std::size_t axes, std::int64_t last) {
  return shape.size() >= axes && shape.back() == last && elements_between(shape, 0, shape.size() - axes) == 1;
}

}  // namespace

bool PlannedNode::reads_at_points(std::size_t operand) const {
  const auto followed = followed_axes(node.primitive, types_of(graph, node.inputs), operand, shape());
  return access_of(followed, planned(node.inputs[operand]).layout, layout()) == Access::point;
}

bool PlannedNode::has_constants() const {
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](int input) { return graph.constant(input) != nullptr; });
}

bool PlannedNode::is_point_product() const {
  const auto fits = [&](std::size_t input, std::size_t axes) {
    return has_last_axes(graph.shape(node.inputs[input]), axes, shape().back());
  };
  return has_constants() && reads_at_points() && fits(1, 2) && (node.inputs.size() < 3 || fits(2, 1));
}

}  // namespace sightline::nn
