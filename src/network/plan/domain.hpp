#pragma once
/// Domains: the points of a tensor (pixels, tokens), and what lies within a point (channels, features).
///
/// A kernel computes a tile of points of several nodes at once. It can where each of them reads, for each of
/// its points, only what the others made for the same point. Domains of equal numbers of points are the same.

#include <cstdint>
#include <optional>
#include <vector>

#include "network/primitives/primitive.hpp"
#include "network/view.hpp"

namespace sightline::nn {

/// How the points of a domain lie in a tensor.
struct Layout {
  std::int64_t points = 1;  ///< of the domain, in row-major order
  FactoredAxes axes;        ///< strides are points; 0: within a point
  bool repeats = false;     ///< whether one point has several places of an axis, as upsampled maps have
  /// The axis whose places come first within a point. Nothing: they come in the order of the axes.
  std::optional<std::size_t> outermost = {};

  /// N, H and W of maps [N, C, H, W], all but the last axis of others.
  static Layout of(const Shape& shape);
  /// Each element of a tensor is a point.
  static Layout of_elements(const Shape& shape);
  bool has_points(std::size_t axis) const;
  /// Whether the tensor has all points of the domain.
  bool is_complete() const;
};

/// Whether a tensor is a batch of maps whose points are the pixels.
bool is_map_layout(const Layout& layout, const Shape& shape);

/// Whether a window reads the place of the map [..., H, W] that it computes, alone, and computes all of them.
bool reads_one_point(const Window& window, const Shape& map);

/// Where a node reads an operand's axis for a place of its output.
inline constexpr int kWindow = -1;  ///< at neighbours of this place
inline constexpr int kWhole = -2;   ///< at all places

/// The output's axis by each axis of an operand: place i is read for place i of it alone. kWindow and kWhole
/// for others.
std::vector<int> followed_axes(const Primitive& primitive, InputTypes inputs, std::size_t operand,
                               const Shape& output);

enum class Access : std::uint8_t { point, window, whole };

/// Access to an operand of a node whose output has a layout.
/// @param followed  by followed_axes
Access access_of(const std::vector<int>& followed, const Layout& operand, const Layout& output);

/// The layout that an output has with the operand's domain. Nothing if the operand's points are not all
/// followed, or repeat: an upsampled map is read in the domain of its pixels.
std::optional<Layout> inherited(const std::vector<int>& followed, const Layout& operand, const Shape& output);

}  // namespace sightline::nn
