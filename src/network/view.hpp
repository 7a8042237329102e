#pragma once
/// Views: other indices of the elements of stored tensors, so that reshape, transpose, slice, expand and
/// concat need no memory.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// Part of an axis: `size` places that lie `stride` apart.
struct Factor {
  std::int64_t size = 1;
  std::int64_t stride = 0;
  friend bool operator==(const Factor&, const Factor&) = default;
};
/// Factors of an axis, outermost first: the axis of a channel shuffle has two. {}: one place.
using FactoredAxis = std::vector<Factor>;
using FactoredAxes = std::vector<FactoredAxis>;

/// One factor an axis.
FactoredAxes factored(const Shape& shape, const Shape& strides);
std::int64_t side_of(const FactoredAxis& axis);
/// With as few factors as possible: equal axes have equal normal forms.
FactoredAxis normalised(const FactoredAxis& axis);

// The axes of a view of some axes. Nothing if strides cannot express it.
std::optional<FactoredAxes> reshaped(const FactoredAxes& axes, const Shape& shape);
FactoredAxes transposed(const FactoredAxes& axes, const Axes& order);
FactoredAxes expanded(const FactoredAxes& axes, const Shape& shape);
struct SlicedAxis {
  FactoredAxis axis;
  std::int64_t offset = 0;  ///< of its first place
};
std::optional<SlicedAxis> sliced(const FactoredAxis& axis, std::int64_t first, std::int64_t step,
                                 std::int64_t side);

/// Elements of one stored tensor, with strides in elements.
struct Run {
  int tensor = 0;
  std::int64_t offset = 0;
  FactoredAxes axes;
  friend bool operator==(const Run&, const Run&) = default;
};

/// A tensor as runs of stored ones, one behind the other along an axis.
struct View {
  std::size_t axis = 0;  ///< 0 where there is one run
  std::vector<Run> runs;
  friend bool operator==(const View&, const View&) = default;

  /// A stored tensor, in row-major order.
  static View of(int tensor, const Shape& shape);
};

/// The output of a primitive as a view of what its first operands are views of. Nothing for primitives that
/// compute, and where a copy is needed.
/// @param shape  of the output, which is known
std::optional<View> view_of(const Primitive& primitive, std::span<const View* const> operands,
                            const Shape& shape);

}  // namespace sightline::nn
