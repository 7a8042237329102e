#include "network/plan/merge_windows.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

bool is_centred_maximum(const WindowFold& pool) {
  const Window& window = pool.window;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (window.step[axis] != 1 || window.tap_step[axis] != 1 ||
        window.kernel[axis] != 2 * window.before[axis] + 1)
      return false;
  }
  return pool.fold == Fold::maximum;
}

bool keeps_sides(const Window& window, const Shape& shape) {
  return std::equal(window.out.begin(), window.out.end(), shape.end() - 2);
}

// A k x k maximum of m x m ones is that of k + m - 1.
bool merge(const Graph& graph, WindowFold& pool, const GraphNode& maker) {
  const auto* const other = std::get_if<WindowFold>(&maker.primitive);
  if (!other || !is_centred_maximum(pool) || !is_centred_maximum(*other)) return false;
  const Shape& shape = graph.shape(maker.inputs[0]);
  if (!keeps_sides(pool.window, shape) || !keeps_sides(other->window, shape)) return false;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    pool.window.kernel[axis] += other->window.kernel[axis] - 1;
    pool.window.before[axis] += other->window.before[axis];
  }
  return true;
}

// Zeros around a map are what a convolution reads there anyway.
bool merge(const Graph& /*graph*/, Convolve& convolve, const GraphNode& maker) {
  const auto* const pad = std::get_if<Pad>(&maker.primitive);
  if (!pad || pad->mode != Padding::constant || pad->value != Scalar(0.0F) || pad->before[0] != 0 ||
      pad->before[1] != 0 || pad->behind[0] != 0 || pad->behind[1] != 0)
    return false;
  for (std::size_t axis = 0; axis < 2; ++axis) convolve.window.before[axis] += pad->before[axis + 2];
  return true;
}

template <typename Reader>
void merge_all(const Graph& graph, Reader& reader, std::vector<int>& inputs) {
  const int maker = graph.tensor(inputs[0]).maker;
  if (maker != kNone && merge(graph, reader, graph.node(maker))) inputs[0] = graph.node(maker).inputs[0];
}

}  // namespace

void merge_windows(const Graph& graph, Primitive& primitive, std::vector<int>& inputs) {
  if (auto* const pool = std::get_if<WindowFold>(&primitive)) merge_all(graph, *pool, inputs);
  if (auto* const convolve = std::get_if<Convolve>(&primitive)) merge_all(graph, *convolve, inputs);
}

}  // namespace sightline::nn
