#include "network/cpu/tile_kernels.hpp"

#include <algorithm>

#include "network/cpu/epilogue.hpp"
#include "network/plan/planned_node.hpp"

namespace sightline::nn {
namespace {

/// Whether a node has a kernel, by its primitive.
struct KernelChoice : PlannedNode {
  bool is_real() const {
    const auto is_usable = [&](int tensor) {
      return graph.type(tensor).data == DataType::f32 && !planned(tensor).is_last &&
             elements_of(graph.shape(tensor)) > 0;
    };
    const bool has_indices = std::holds_alternative<Gather>(node.primitive);
    return has_fused_multiply_add() && is_usable(node.inputs[0]) &&
           (has_indices || std::ranges::all_of(node.inputs, is_usable)) &&
           std::ranges::all_of(node.outputs,
                               [&](int output) { return is_usable(output) || !is_needed(output); });
  }
  bool is_needed(int tensor) const {
    return !readers_of(graph)[static_cast<std::size_t>(tensor)].empty() || graph.is_output(tensor);
  }

  bool operator()(const Map&) const { return true; }
  bool operator()(const Convolve& one) const { return has_constants() && (is_map() || is_pointwise(one)); }
  bool operator()(const Product&) const {
    return is_point_product() || (node.inputs.size() == 2 && can_multiply_by_tiles(layout(), shape()));
  }
  // Whether a convolution of 1x1 reads each point alone.
  bool is_pointwise(const Convolve& one) const {
    return reads_one_point(one.window, graph.shape(node.inputs[0])) && reads_at_points();
  }
  bool operator()(const Gather& one) const {
    return !planned(node.inputs[1]).is_last && elements_of(graph.shape(node.inputs[1])) > 0 &&
           !reads_at_points() && can_gather_by_tiles(one, layout(), shape());
  }
  bool operator()(const TopK& one) const {
    return node.inputs.size() == 1 && !is_needed(node.outputs[1]) && reads_at_points() &&
           can_take_by_tiles(one);
  }
  bool operator()(const GridSample&) const { return can_sample_by_tiles(layout()); }
  bool operator()(const WindowFold&) const { return is_map(); }
  bool operator()(const Resample&) const { return is_map(); }
  bool operator()(const Pad& one) const {
    const auto keeps = [&](std::size_t axis) { return one.before[axis] == 0 && one.behind[axis] == 0; };
    return is_map() && keeps(0) && keeps(1);
  }
  bool operator()(const Reduce& one) const {
    return reads_at_points() || (one.fold != Fold::product && is_map() && one.axes == Axes{2, 3} &&
                                 shape()[0] == 1 && graph.shape(node.inputs[0]).size() == 4);
  }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

/// Makes a node's kernel.
struct KernelMaker {
  KernelContext& context;
  const GraphNode& node;
  const SumFinish& finish;

  KernelChoice choice() const { return {{context.graph, context.stored.planned(), node}}; }

  std::unique_ptr<TileKernel> operator()(const Map& one) const { return make_map_tile(context, node, one); }
  std::unique_ptr<TileKernel> operator()(const Convolve& one) const {
    if (choice().is_pointwise(one)) return make_point_product(context, node, finish);
    return make_window_convolve(context, node, one, finish);
  }
  std::unique_ptr<TileKernel> operator()(const Product&) const {
    return choice().is_point_product() ? make_point_product(context, node, finish)
                                       : make_pair_product(context, node, finish);
  }
  std::unique_ptr<TileKernel> operator()(const Gather& one) const { return make_gather(context, node, one); }
  std::unique_ptr<TileKernel> operator()(const TopK& one) const { return make_top_k(context, node, one); }
  std::unique_ptr<TileKernel> operator()(const GridSample& one) const {
    return make_grid_sample(context, node, one);
  }
  std::unique_ptr<TileKernel> operator()(const WindowFold& one) const {
    return make_window_fold(context, node, one);
  }
  std::unique_ptr<TileKernel> operator()(const Resample& one) const {
    return make_resample(context, node, one);
  }
  std::unique_ptr<TileKernel> operator()(const Pad& one) const { return make_pad(context, node, one); }
  std::unique_ptr<TileKernel> operator()(const Reduce& one) const {
    return choice().reads_at_points() ? make_point_reduce(context, node, one)
                                      : make_map_reduce(context, node, one);
  }
  template <typename Other>
  std::unique_ptr<TileKernel> operator()(const Other&) const {
    return nullptr;
  }
};

}  // namespace

bool has_tile_kernel(const Graph& graph, std::span<const PlannedTensor> tensors, int node) {
  const KernelChoice choice{{graph, tensors, graph.node(node)}};
  return choice.is_real() && std::visit(choice, choice.node.primitive);
}

std::unique_ptr<TileKernel> make_tile_kernel(KernelContext& context, const GraphNode& node,
                                             const SumFinish& finish) {
  return std::visit(KernelMaker{context, node, finish}, node.primitive);
}

std::int64_t zero_ends_of(const Graph& graph, const GraphNode& node) {
  const auto* const convolve = std::get_if<Convolve>(&node.primitive);
  if (!convolve) return 0;
  const Window& window = convolve->window;
  const std::int64_t width = graph.shape(node.inputs[0])[3];
  std::int64_t most = 0;
  for (const std::int64_t tap : {std::int64_t{0}, window.kernel[1] - 1}) {
    most = std::max(most, -window.position(1, 0, tap));
    most = std::max(most, window.position(1, window.out[1] - 1, tap) - (width - 1));
  }
  return most;
}

AlignedBuffer<float> packed_start(const Tensor* start, std::int64_t first, std::int64_t outputs) {
  AlignedBuffer<float> packed;
  packed.resize(static_cast<std::size_t>((outputs + kLanes - 1) / kLanes * kLanes));
  std::fill_n(packed.data(), packed.size(), 0.0F);
  if (start) std::copy_n(start->as<float>().begin() + first, outputs, packed.data());
  return packed;
}

}  // namespace sightline::nn
