#pragma once
/// Windows that convolutions and pooling slide over a picture.

#include <array>

#include "detectors/network/operators.hpp"

namespace sightline::network {

/// Sizes of both axes, rows first.
using Pair = std::array<std::int64_t, 2>;

struct WindowPlan {
  Pair kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  Pair before{0, 0}, behind{0, 0};  ///< padding
  Pair out{0, 0};

  bool operator==(const WindowPlan&) const = default;
};

/// The window of a convolution or pooling over pictures of so many rows and columns, by the node's attributes
/// kernel_shape, strides, dilations, pads, auto_pad and ceil_mode. Throws Problem.
/// @param kernel  size that the weights have; {0, 0}: the attribute says it
WindowPlan window_plan(const Node& node, Pair sides, Pair kernel);

/// Places of an average that count, by row and by column of the output.
struct WindowCounts {
  std::vector<float> rows, columns;
};
/// @param with_padding  whether padding counts, up to the padded picture's end
WindowCounts average_counts(const WindowPlan& plan, Pair sides, bool with_padding);

/// Elements before and behind a tensor on each axis, by a Pad node's inputs or attributes: first all before.
/// Throws Problem, and NotKnownYet.
std::vector<std::int64_t> pads_of(const Call& call);

/// Geometry of a Conv node. Throws Problem.
struct ConvolutionPlan {
  std::int64_t batch = 1, inputs = 0, outputs = 0, groups = 1;
  Pair in{0, 0};
  WindowPlan window;
};
ConvolutionPlan convolution_plan(const Call& call);
/// The same of a ConvTranspose node, where `out` is what the network's picture grows to.
ConvolutionPlan transposed_plan(const Call& call);

/// How one axis of a Resize node is resized: each place of the output is a mix of two places of the input.
struct ResizeAxis {
  std::vector<std::int32_t> first, second;
  std::vector<float> weight;  ///< of the second
};
/// @param axis  2: rows, 3: columns
ResizeAxis resize_axis(const Call& call, std::size_t axis);

/// Part that a Slice node takes: the sides of the part, and on each axis where it begins and its step.
struct SlicePlan {
  Shape shape;
  std::vector<std::int64_t> first, step;
};
SlicePlan slice_plan(const Call& call);

}  // namespace sightline::network
