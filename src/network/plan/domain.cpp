#include "network/plan/domain.hpp"

#include <algorithm>

#include "network/strided.hpp"

namespace sightline::nn {
namespace {

std::vector<int> all_axes(std::size_t rank, int how) {
  return std::vector<int>(rank, how);
}

// Axes that lie the same way, counted from the last one.
std::vector<int> right_aligned(std::size_t rank, const Shape& output) {
  std::vector<int> followed;
  for (std::size_t i = 0; i < rank; ++i) followed.push_back(static_cast<int>(i + output.size() - rank));
  return followed;
}

// All axes but one.
std::vector<int> all_but(std::size_t rank, std::size_t axis, const Shape& output) {
  std::vector<int> followed = right_aligned(rank, output);
  followed[axis] = kWhole;
  return followed;
}

/// followed_axes by primitive.
struct Followed {
  InputTypes inputs;
  std::size_t operand;
  const Shape& output;

  const Shape& shape() const { return inputs[operand].shape; }
  std::size_t rank() const { return shape().size(); }

  std::vector<int> operator()(const Map&) const { return right_aligned(rank(), output); }
  std::vector<int> operator()(const Expand&) const { return right_aligned(rank(), output); }
  std::vector<int> operator()(const Reduce& one) const {
    std::vector<int> followed = right_aligned(rank(), output);
    for (const std::size_t axis : one.axes) followed[axis] = kWhole;
    return followed;
  }
  std::vector<int> operator()(const ArgReduce& one) const { return all_but(rank(), one.axis, output); }
  std::vector<int> operator()(const Scan& one) const { return all_but(rank(), one.axis, output); }
  std::vector<int> operator()(const TopK& one) const {
    return operand == 0 ? all_but(rank(), one.axis, output) : all_axes(rank(), kWhole);
  }
  std::vector<int> operator()(const WindowFold&) const { return windowed(); }
  std::vector<int> operator()(const Resample&) const { return windowed(); }
  std::vector<int> operator()(const Convolve& one) const {
    if (operand > 0) return all_axes(rank(), kWhole);
    std::vector<int> followed =
        reads_one_point(one.window, shape()) ? right_aligned(rank(), output) : windowed();
    followed[1] = kWhole;
    return followed;
  }
  std::vector<int> operator()(const Product&) const {
    std::vector<int> followed = right_aligned(rank(), output);
    if (operand == 0) followed[rank() - 1] = kWhole;
    if (operand == 1) followed[rank() - 2] = kWhole;
    return followed;
  }
  std::vector<int> operator()(const GridSample&) const {
    if (operand == 0) return {0, 1, kWhole, kWhole};
    return {0, 2, 3, kWhole};
  }
  // Axes with as many places as before and in front of them.
  std::vector<int> operator()(const Reshape&) const {
    std::vector<int> followed = all_axes(rank(), kWhole);
    if (operand > 0 || !is_known(shape()) || !is_known(output)) return followed;
    for (std::size_t i = 0; i < rank(); ++i) {
      for (std::size_t k = 0; k < output.size(); ++k) {
        if (shape()[i] == output[k] && elements_between(shape(), 0, i) == elements_between(output, 0, k))
          followed[i] = static_cast<int>(k);
      }
    }
    return followed;
  }
  std::vector<int> operator()(const Transpose& one) const {
    std::vector<int> followed;
    for (std::size_t i = 0; i < rank(); ++i)
      followed.push_back(static_cast<int>(std::ranges::find(one.order, i) - one.order.begin()));
    return followed;
  }
  std::vector<int> operator()(const Slice& one) const {
    std::vector<int> followed = right_aligned(rank(), output);
    for (std::size_t i = 0; i < rank() && operand == 0; ++i) {
      if (one.step[i] != 1 || shape()[i] != output[i]) followed[i] = kWindow;
    }
    return operand == 0 ? followed : all_axes(rank(), kWhole);
  }
  std::vector<int> operator()(const Concat& one) const {
    std::vector<int> followed = right_aligned(rank(), output);
    followed[one.axis] = kWindow;
    return followed;
  }
  std::vector<int> operator()(const Pad& one) const {
    std::vector<int> followed = right_aligned(rank(), output);
    for (std::size_t i = 0; i < rank(); ++i) {
      if (one.before[i] != 0 || one.behind[i] != 0) followed[i] = kWindow;
    }
    return followed;
  }
  std::vector<int> operator()(const Gather& one) const {
    if (one.by == By::element)
      return operand == 0 ? all_but(rank(), one.axis, output) : right_aligned(rank(), output);
    std::vector<int> followed = all_axes(rank(), kWhole);
    if (one.by == By::tuple) return followed;
    const std::size_t added = inputs[1].shape.size();
    for (std::size_t i = 0; i < rank(); ++i) {
      if (operand == 1) followed[i] = static_cast<int>(one.axis + i);
      if (operand == 0 && i != one.axis) followed[i] = static_cast<int>(i < one.axis ? i : i + added - 1);
    }
    return followed;
  }
  // Scatter, Suppress, NonZero, and sources.
  template <typename Other>
  std::vector<int> operator()(const Other&) const {
    return all_axes(rank(), kWhole);
  }

 private:
  // Neighbours on the last two axes.
  std::vector<int> windowed() const {
    std::vector<int> followed = right_aligned(rank(), output);
    followed[rank() - 1] = followed[rank() - 2] = kWindow;
    return followed;
  }
};

}  // namespace

bool reads_one_point(const Window& window, const Shape& map) {
  constexpr Pair kOne{1, 1}, kZero{0, 0};
  return window.kernel == kOne && window.step == kOne && window.before == kZero &&
         std::equal(window.out.begin(), window.out.end(), map.end() - 2);
}

Layout Layout::of(const Shape& shape) {
  const bool is_map = shape.size() == 4;
  Layout layout{1, FactoredAxes(shape.size()), false};
  for (std::size_t i = shape.size(); i-- > 0;) {
    const bool is_within = is_map ? i == 1 : i + 1 == shape.size();
    if (shape[i] != 1) layout.axes[i] = {{shape[i], is_within ? 0 : layout.points}};
    if (!is_within) layout.points *= shape[i];
  }
  return layout;
}

Layout Layout::of_elements(const Shape& shape) {
  return {elements_of(shape), factored(shape, strides_of(shape)), false};
}

bool Layout::has_points(std::size_t axis) const {
  return std::ranges::any_of(axes[axis], [](const Factor& one) { return one.stride != 0; });
}

bool Layout::is_complete() const {
  std::int64_t count = 1;
  for (const FactoredAxis& axis : axes) {
    for (const Factor& one : axis) count *= one.stride == 0 ? 1 : one.size;
  }
  return count == points;
}

bool is_map_layout(const Layout& layout, const Shape& shape) {
  const Layout usual = Layout::of(shape);
  return shape.size() == 4 && layout.points == usual.points &&
         std::ranges::equal(layout.axes, usual.axes, {}, normalised, normalised);
}

std::vector<int> followed_axes(const Primitive& primitive, InputTypes inputs, std::size_t operand,
                               const Shape& output) {
  return std::visit(Followed{inputs, operand, output}, primitive);
}

Access access_of(const std::vector<int>& followed, const Layout& operand, const Layout& output) {
  Access access = operand.points != output.points || !operand.is_complete() ? Access::whole
                  : operand.repeats                                         ? Access::window
                                                                            : Access::point;
  for (std::size_t i = 0; i < followed.size(); ++i) {
    // Windows read rows of stored maps, also where these have one place.
    if (followed[i] == kWindow) access = std::max(access, Access::window);
    if (!operand.has_points(i)) continue;
    const bool is_same =
        followed[i] >= 0 &&
        normalised(operand.axes[i]) == normalised(output.axes[static_cast<std::size_t>(followed[i])]);
    if (!is_same) access = std::max(access, followed[i] == kWindow ? Access::window : Access::whole);
  }
  return access;
}

std::optional<Layout> inherited(const std::vector<int>& followed, const Layout& operand,
                                const Shape& output) {
  if (operand.repeats || !operand.is_complete()) return {};
  Layout layout{operand.points, factored(output, Shape(output.size(), 0)), false};
  for (std::size_t i = 0; i < followed.size(); ++i) {
    if (!operand.has_points(i)) continue;
    if (followed[i] < 0) return {};
    layout.axes[static_cast<std::size_t>(followed[i])] = operand.axes[i];
  }
  return layout;
}

}  // namespace sightline::nn
