#include "network/opencl/device_kernels.hpp"

#include <algorithm>

#include "network/opencl/expression_source.hpp"
#include "network/plan/planned_node.hpp"

namespace sightline::nn {
namespace {

/// Which kernels there are, by node.
struct DeviceKernels : PlannedNode {
  // Whether there is a kernel for tiles of a group.
  bool has_tiles() const { return are_usable({DataType::f32}) && std::visit(*this, node.primitive); }
  // Whether there is one for whole tensors.
  bool has_whole() const {
    return are_usable({DataType::f32, DataType::i64}) &&
           std::visit([&](const auto& one) { return runs_whole(one); }, node.primitive);
  }
  bool are_usable(std::initializer_list<DataType> types) const {
    const auto is_usable = [&](int tensor) {
      return std::ranges::find(types, graph.type(tensor).data) != types.end() && !planned(tensor).is_last &&
             elements_of(graph.shape(tensor)) > 0;
    };
    return std::ranges::all_of(node.inputs, is_usable) && std::ranges::all_of(node.outputs, is_usable) &&
           std::ranges::none_of(node.inputs, [&](int input) { return is_mixed(input); });
  }
  bool is_real(int tensor) const { return graph.type(tensor).data == DataType::f32; }
  // Whether a view shows constants and other tensors.
  bool is_mixed(int tensor) const { return !planned(tensor).sources.empty() && shows_constant(tensor); }
  bool shows_constant(int tensor) const {
    const int maker = graph.tensor(tensor).maker;
    if (maker == kNone) return graph.constant(tensor) != nullptr;
    if (!is_view(graph.node(maker).primitive)) return false;
    return std::ranges::any_of(graph.node(maker).inputs, [&](int input) { return shows_constant(input); });
  }
  bool is_map() const { return map_width(layout(), shape()) > 0; }

  bool runs_whole(const Pad&) const { return is_real(node.inputs[0]) && !graph.constant(node.inputs[0]); }
  bool runs_whole(const Product&) const { return true; }
  bool runs_whole(const GridSample&) const { return true; }
  bool runs_whole(const TopK& one) const {
    constexpr std::int64_t kMostCompared = 16384;
    return node.inputs.size() == 1 && is_real(node.inputs[0]) &&
           graph.shape(node.inputs[0])[one.axis] <= kMostCompared;
  }
  // Indices must be in range: devices cannot refuse them.
  bool runs_whole(const Gather& one) const {
    return one.by != By::tuple && is_real(node.inputs[0]) &&
           ranks(node.inputs[1], graph.shape(node.inputs[0])[one.axis]);
  }
  template <typename Other>
  bool runs_whole(const Other&) const {
    return false;
  }
  // Whether a tensor shows places of an axis of at most some side that a TopK has found.
  bool ranks(int tensor, std::int64_t side) const {
    const int maker = graph.tensor(tensor).maker;
    if (maker == kNone) return false;
    const GraphNode& from = graph.node(maker);
    if (const auto* const top = std::get_if<TopK>(&from.primitive))
      return tensor == from.outputs[1] && graph.shape(from.inputs[0])[top->axis] <= side;
    return is_view(from.primitive) &&
           std::ranges::all_of(from.inputs, [&](int input) { return ranks(input, side); });
  }

  bool operator()(const Map& one) const { return has_text(one.expression); }
  bool operator()(const Convolve& one) const {
    return has_constants() &&
           (is_map() || (reads_one_point(one.window, graph.shape(node.inputs[0])) && reads_at_points()));
  }
  bool operator()(const Product&) const { return is_point_product(); }
  bool operator()(const WindowFold& one) const { return is_map() && one.fold != Fold::product; }
  bool operator()(const Resample&) const { return is_map(); }
  bool operator()(const Reduce& one) const {
    if (one.fold == Fold::product) return false;
    return reads_at_points() ||
           (is_map() && one.axes == Axes{2, 3} && graph.shape(node.inputs[0]).size() == 4);
  }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

}  // namespace

bool has_device_tiles(const Graph& graph, std::span<const PlannedTensor> tensors, int node) {
  return DeviceKernels{{graph, tensors, graph.node(node)}}.has_tiles();
}

bool has_device_whole(const Graph& graph, std::span<const PlannedTensor> tensors, int node) {
  return DeviceKernels{{graph, tensors, graph.node(node)}}.has_whole();
}

std::int64_t map_width(const Layout& layout, const Shape& shape) {
  return is_map_layout(layout, shape) && shape[0] == 1 ? shape[3] : 0;
}

}  // namespace sightline::nn
