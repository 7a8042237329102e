#pragma once
/// Networks built of the blocks that detectors consist of, for tests of plans. All constants
/// are 0.5: their values do not matter.

#include <string>
#include <utility>
#include <vector>

#include "network/graph.hpp"

namespace sightline::nn {

/// Blocks are called with the numbers of tensors and return that of their result.
class NetworkBuilder {
 public:
  Graph graph;

  int picture(std::int64_t side) { return graph.add_input("picture", {DataType::f32, {1, 3, side, side}}); }
  int constant(Shape shape) {
    Tensor halves(DataType::f32, std::move(shape));
    std::ranges::fill(halves.as<float>(), 0.5F);
    return graph.add_constant("constant", std::move(halves));
  }
  int add(Primitive primitive, std::vector<int> inputs) {
    return graph.add_single("node " + std::to_string(graph.nodes().size()), std::move(primitive),
                            std::move(inputs));
  }
  int map(Function function, std::vector<int> operands, std::initializer_list<Scalar> constants = {}) {
    return add(
        Map{Expression::of(function, std::vector<DataType>(operands.size(), DataType::f32), constants)},
        operands);
  }
  int sum(int a, int b) { return map(Function::add, {a, b}); }
  int silu(int x) { return map(Function::swish, {x}, {1.0F}); }
  int concat(std::vector<int> parts, std::size_t axis = 1) { return add(Concat{axis}, std::move(parts)); }
  std::int64_t channels(int x) const { return graph.shape(x)[1]; }

  /// @param groups  0: depthwise
  int convolve(int x, std::int64_t outputs, std::int64_t kernel, std::int64_t step = 1,
               std::int64_t groups = 1) {
    const Shape& from = graph.shape(x);
    groups = groups == 0 ? from[1] : groups;
    const std::int64_t before = kernel / 2;
    Window window{{kernel, kernel}, {step, step}, {1, 1}, {before, before}, {0, 0}};
    for (std::size_t axis = 0; axis < 2; ++axis)
      window.out[axis] = (from[axis + 2] + 2 * before - kernel) / step + 1;
    const int weights = constant({outputs, from[1] / groups, kernel, kernel});
    return add(Convolve{window, groups}, {x, weights, constant({outputs})});
  }
  /// With its activation.
  int layer(int x, std::int64_t outputs, std::int64_t kernel, std::int64_t step = 1,
            std::int64_t groups = 1) {
    return silu(convolve(x, outputs, kernel, step, groups));
  }
  int max_pool(int x, std::int64_t kernel) {
    const Shape& from = graph.shape(x);
    return add(WindowFold{Fold::maximum,
                          {{kernel, kernel}, {1, 1}, {1, 1}, {kernel / 2, kernel / 2}, {from[2], from[3]}}},
               {x});
  }
  int upsample(int x) {
    const Shape from = graph.shape(x);
    const int apart = add(Reshape{{from[0], from[1], from[2], 1, from[3], 1}}, {x});
    const int repeated = add(Expand{{from[0], from[1], from[2], 2, from[3], 2}}, {apart});
    return add(Reshape{{from[0], from[1], 2 * from[2], 2 * from[3]}}, {repeated});
  }
  /// Elements [first, first + count) of an axis.
  int slice(int x, std::size_t axis, std::int64_t first, std::int64_t count) {
    Slice part{Shape(graph.shape(x).size(), 0), Shape(graph.shape(x).size(), 1), graph.shape(x)};
    part.first[axis] = first;
    part.shape[axis] = count;
    return add(part, {x});
  }
  /// The softmax along an axis, by the nodes of an import.
  int softmax(int x, std::size_t axis) {
    Expression power({DataType::f32, DataType::f32});
    power.add_result(power.call(Function::exponential,
                                {power.call(Function::subtract, {power.operand(0), power.operand(1)})}));
    const int powers = add(Map{power}, {x, add(Reduce{Fold::maximum, {axis}}, {x})});
    return map(Function::divide, {powers, add(Reduce{Fold::sum, {axis}}, {powers})});
  }
  /// [N, C, H, W] as [N, C, H * W].
  int flattened(int x) {
    const Shape& from = graph.shape(x);
    return add(Reshape{{from[0], from[1], from[2] * from[3]}}, {x});
  }
};

}  // namespace sightline::nn
