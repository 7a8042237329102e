#pragma once
/// The tile kernels by kind of node; make_tile_kernel (tile.hpp) chooses.

#include "network/cpu/tile.hpp"

namespace sightline::nn {

std::unique_ptr<TileKernel> make_map_tile(KernelContext& context, const GraphNode& node, const Map& map);
/// A convolution of 1x1 or a product with a constant right side, within a point.
std::unique_ptr<TileKernel> make_point_product(KernelContext& context, const GraphNode& node,
                                               const SumFinish& finish);
/// A product of two computed tensors; whether there is a kernel for an output.
std::unique_ptr<TileKernel> make_pair_product(KernelContext& context, const GraphNode& node,
                                              const SumFinish& finish);
bool can_multiply_by_tiles(const Layout& output, const Shape& shape);
std::unique_ptr<TileKernel> make_window_convolve(KernelContext& context, const GraphNode& node,
                                                 const Convolve& convolve, const SumFinish& finish);
std::unique_ptr<TileKernel> make_window_fold(KernelContext& context, const GraphNode& node,
                                             const WindowFold& fold);
std::unique_ptr<TileKernel> make_resample(KernelContext& context, const GraphNode& node,
                                          const Resample& resample);
/// A kernel that pads the rows and columns of a map.
std::unique_ptr<TileKernel> make_pad(KernelContext& context, const GraphNode& node, const Pad& pad);
/// A kernel of GridSample, and whether there is one for an output.
std::unique_ptr<TileKernel> make_grid_sample(KernelContext& context, const GraphNode& node,
                                             const GridSample& how);
bool can_sample_by_tiles(const Layout& output);
/// A kernel of Gather, and whether there is one for an output.
std::unique_ptr<TileKernel> make_gather(KernelContext& context, const GraphNode& node, const Gather& gather);
bool can_gather_by_tiles(const Gather& gather, const Layout& output, const Shape& shape);
/// Values without their places; whether there is a kernel.
std::unique_ptr<TileKernel> make_top_k(KernelContext& context, const GraphNode& node, const TopK& top);
bool can_take_by_tiles(const TopK& top);
/// A fold within each point.
std::unique_ptr<TileKernel> make_point_reduce(KernelContext& context, const GraphNode& node,
                                              const Reduce& reduce);
/// exp(x - largest) / sum over `count` channels that lie side by side; whether there is a kernel for an axis.
std::unique_ptr<TileKernel> make_softmax(KernelContext& context, int x, int y, std::int64_t count);
bool can_normalise_by_tiles(const Layout& layout, const Shape& shape, std::size_t axis);
/// A fold of each channel over all points of a map.
std::unique_ptr<TileKernel> make_map_reduce(KernelContext& context, const GraphNode& node,
                                            const Reduce& reduce);

/// Weights [outputs, depth] of a constant as [ceil(outputs / 16)][depth][16] from `first` on, for
/// ConvolutionRow. `at(output, depth)` gives the number of an element.
template <typename At>
AlignedBuffer<float> packed_weights(const Tensor& weights, std::int64_t outputs, std::int64_t depth,
                                    const At& at) {
  AlignedBuffer<float> packed;
  packed.resize(static_cast<std::size_t>((outputs + kLanes - 1) / kLanes * kLanes * depth));
  std::fill_n(packed.data(), packed.size(), 0.0F);
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t k = 0; k < depth; ++k)
      packed.data()[(o / kLanes * depth + k) * kLanes + o % kLanes] =
          weights.as<float>()[static_cast<std::size_t>(at(o, k))];
  }
  return packed;
}
/// Values of a constant from `first` on, filled up with zeros to whole blocks; null: zeros alone.
AlignedBuffer<float> packed_start(const Tensor* start, std::int64_t first, std::int64_t outputs);

}  // namespace sightline::nn
