#include "network/view.hpp"

#include <algorithm>
#include <deque>

#include "network/strided.hpp"

namespace sightline::nn {

FactoredAxes factored(const Shape& shape, const Shape& strides) {
  FactoredAxes axes;
  for (std::size_t i = 0; i < shape.size(); ++i)
    axes.push_back(shape[i] == 1 ? FactoredAxis{} : FactoredAxis{{shape[i], strides[i]}});
  return axes;
}

std::int64_t side_of(const FactoredAxis& axis) {
  std::int64_t side = 1;
  for (const Factor& one : axis) side *= one.size;
  return side;
}

namespace {

bool are_one(const Factor& outer, const Factor& inner) {
  return outer.stride == inner.size * inner.stride;
}

// Takes factors of `side` places from the front of a list.
std::optional<FactoredAxis> take(std::deque<Factor>& factors, std::int64_t side) {
  FactoredAxis axis;
  while (side > 1) {
    if (factors.empty()) return {};
    Factor& head = factors.front();
    if (side % head.size == 0) {
      side /= head.size;
      axis.push_back(head);
      factors.pop_front();
    } else if (head.size % side == 0) {
      head.size /= side;
      axis.push_back({side, head.stride * head.size});
      side = 1;
    } else {
      if (factors.size() < 2 || !are_one(head, factors[1])) return {};
      factors[1].size *= head.size;
      factors.pop_front();
    }
  }
  return axis;
}

}  // namespace

FactoredAxis normalised(const FactoredAxis& axis) {
  FactoredAxis normal;
  for (const Factor& one : axis) {
    if (one.size == 1) continue;
    if (!normal.empty() && are_one(normal.back(), one)) {
      normal.back() = {normal.back().size * one.size, one.stride};
    } else {
      normal.push_back(one);
    }
  }
  return normal;
}

std::optional<FactoredAxes> reshaped(const FactoredAxes& axes, const Shape& shape) {
  std::deque<Factor> factors;
  for (const FactoredAxis& axis : axes) factors.insert(factors.end(), axis.begin(), axis.end());
  const bool is_empty = std::ranges::any_of(factors, [](const Factor& factor) { return factor.size < 1; });
  if (is_empty || std::ranges::any_of(shape, [](std::int64_t side) { return side < 1; })) return {};
  FactoredAxes result;
  for (const std::int64_t side : shape) {
    std::optional<FactoredAxis> axis = take(factors, side);
    if (!axis) return {};
    result.push_back(std::move(*axis));
  }
  return result;
}

FactoredAxes transposed(const FactoredAxes& axes, const Axes& order) {
  FactoredAxes result;
  for (const std::size_t axis : order) result.push_back(axes[axis]);
  return result;
}

FactoredAxes expanded(const FactoredAxes& axes, const Shape& shape) {
  FactoredAxes result(shape.size() - axes.size());
  result.insert(result.end(), axes.begin(), axes.end());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1 && side_of(result[i]) == 1) result[i] = {{shape[i], 0}};
  }
  return result;
}

std::optional<SlicedAxis> sliced(const FactoredAxis& axis, std::int64_t first, std::int64_t step,
                                 std::int64_t side) {
  const FactoredAxis whole = normalised(axis);
  if (first == 0 && step == 1 && side == side_of(whole)) return SlicedAxis{axis, 0};
  if (side == 1) {  // a place, whatever the factors
    std::int64_t offset = 0, at = first;
    for (auto factor = whole.rbegin(); factor != whole.rend(); ++factor) {
      offset += at % factor->size * factor->stride;
      at /= factor->size;
    }
    return SlicedAxis{{}, offset};
  }
  if (whole.size() == 1) {
    const Factor& only = whole.front();
    return SlicedAxis{{{side, only.stride * step}}, first * only.stride};
  }
  // Whole inner blocks of a neighbouring part.
  const FactoredAxis inner(whole.begin() + 1, whole.end());
  const std::int64_t block = side_of(inner);
  if (whole.empty() || step != 1 || first % block != 0 || side % block != 0) return {};
  FactoredAxis part{{side / block, whole[0].stride}};
  part.insert(part.end(), inner.begin(), inner.end());
  return SlicedAxis{part, first / block * whole[0].stride};
}

View View::of(int tensor, const Shape& shape) {
  return {0, {{tensor, 0, factored(shape, strides_of(shape))}}};
}

// --- primitives

namespace {

std::int64_t places_of_run(const View& view, const Run& run) {
  return side_of(run.axes[view.axis]);
}

Shape sides_of(const FactoredAxes& axes) {
  Shape sides;
  for (const FactoredAxis& axis : axes) sides.push_back(side_of(axis));
  return sides;
}

std::optional<View> view_of_reshape(const View& x, const Shape& shape) {
  if (x.runs.size() == 1) {
    const auto axes = reshaped(x.runs[0].axes, shape);
    if (!axes) return {};
    return View{0, {{x.runs[0].tensor, x.runs[0].offset, *axes}}};
  }
  // The runs' axis becomes the first one with as many places in front of it.
  const Shape from = sides_of(x.runs[0].axes);
  const std::int64_t before = elements_between(from, 0, x.axis);
  const std::int64_t inner = elements_between(from, x.axis + 1, from.size());
  View result;
  for (std::int64_t passed = 1; result.axis < shape.size(); passed *= shape[result.axis++]) {
    if (passed == before && shape[result.axis] > 1) break;
  }
  if (result.axis == shape.size() || std::ranges::find(shape, 0) != shape.end()) return {};
  const std::int64_t new_inner = elements_between(shape, result.axis + 1, shape.size());
  for (const Run& run : x.runs) {
    const std::int64_t elements = places_of_run(x, run) * inner;
    if (elements % new_inner != 0) return {};
    Shape part = shape;
    part[result.axis] = elements / new_inner;
    const auto axes = reshaped(run.axes, part);
    if (!axes) return {};
    result.runs.push_back({run.tensor, run.offset, *axes});
  }
  return result;
}

View view_of_transpose(const View& x, const Axes& order) {
  View result{static_cast<std::size_t>(std::ranges::find(order, x.axis) - order.begin()), {}};
  if (x.runs.size() == 1) result.axis = 0;
  for (const Run& run : x.runs) result.runs.push_back({run.tensor, run.offset, transposed(run.axes, order)});
  return result;
}

// The part of an axis's places that lies in [begin, begin + count), as first place in it and number.
struct Part {
  std::int64_t first, side;
};
Part part_of(std::int64_t first, std::int64_t step, std::int64_t side, std::int64_t begin,
             std::int64_t count) {
  const std::int64_t skipped = first >= begin ? 0 : (begin - first + step - 1) / step;
  const std::int64_t at = first + skipped * step - begin;
  const std::int64_t fits = at >= count ? 0 : (count - at + step - 1) / step;
  return {at, std::clamp<std::int64_t>(side - skipped, 0, fits)};
}

std::optional<View> view_of_slice(const View& x, const Slice& slice, const Shape& shape) {
  View result{x.axis, {}};
  std::int64_t begin = 0;
  if (x.runs.size() > 1 && slice.step[x.axis] < 0) return {};
  for (const Run& run : x.runs) {
    const std::int64_t count = x.runs.size() > 1 ? places_of_run(x, run) : 0;
    Run part{run.tensor, run.offset, {}};
    bool is_empty = false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      Part places{slice.first[i], shape[i]};
      if (x.runs.size() > 1 && i == x.axis)
        places = part_of(places.first, slice.step[i], places.side, begin, count);
      is_empty = is_empty || places.side < 1;
      if (is_empty) break;
      const auto axis = sliced(run.axes[i], places.first, slice.step[i], places.side);
      if (!axis) return {};
      part.axes.push_back(axis->axis);
      part.offset += axis->offset;
    }
    begin += count;
    if (!is_empty) result.runs.push_back(std::move(part));
  }
  if (result.runs.size() < 2) result.axis = 0;
  return result.runs.empty() ? std::nullopt : std::optional(result);
}

View view_of_expand(const View& x, const Shape& shape) {
  View result{x.runs.size() == 1 ? 0 : x.axis + shape.size() - x.runs[0].axes.size(), {}};
  for (const Run& run : x.runs) {
    Shape part = shape;
    if (x.runs.size() > 1) part[result.axis] = places_of_run(x, run);
    result.runs.push_back({run.tensor, run.offset, expanded(run.axes, part)});
  }
  return result;
}

constexpr std::size_t kMostRuns = 256;  // joins of joins would have any number

std::optional<View> view_of_concat(std::span<const View* const> operands, std::size_t axis) {
  View result{axis, {}};
  for (const View* const operand : operands) {
    if (operand->runs.size() > 1 && operand->axis != axis) return {};
    for (const Run& run : operand->runs) {
      if (side_of(run.axes[axis]) > 0) result.runs.push_back(run);
    }
  }
  if (result.runs.size() < 2) result.axis = 0;
  return result.runs.empty() || result.runs.size() > kMostRuns ? std::nullopt : std::optional(result);
}

}  // namespace

std::optional<View> view_of(const Primitive& primitive, std::span<const View* const> operands,
                            const Shape& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return {};
  if (std::holds_alternative<Reshape>(primitive)) return view_of_reshape(*operands[0], shape);
  if (const auto* const one = std::get_if<Transpose>(&primitive))
    return view_of_transpose(*operands[0], one->order);
  if (const auto* const one = std::get_if<Slice>(&primitive)) return view_of_slice(*operands[0], *one, shape);
  if (std::holds_alternative<Expand>(primitive)) return view_of_expand(*operands[0], shape);
  if (const auto* const one = std::get_if<Concat>(&primitive)) return view_of_concat(operands, one->axis);
  return {};
}

}  // namespace sightline::nn
