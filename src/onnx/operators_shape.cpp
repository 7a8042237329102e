// Operators that move elements, make shapes, and choose elements.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "network/primitives/indices.hpp"
#include "onnx/operators.hpp"

namespace sightline::nn {
namespace {

constexpr std::size_t kManyParts = 1024;

// --- other shapes of the same elements

// Elements of the axes [begin, end) together.
std::int64_t joined_side(const Shape& shape, std::size_t begin, std::size_t end) {
  const Shape part(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                   shape.begin() + static_cast<std::ptrdiff_t>(end));
  return is_known(part) ? elements_of(part) : kUnknown;
}

// Sizes that only a frame decides: 0 is the input's side, and -1 what is left.
int resolved_sizes(Lowering& c, int x, int sizes, bool keeps_zero) {
  const int own = c.sizes(x), count = c.reduce(Fold::product, own, {0});
  const std::int64_t rank = c.length(sizes), own_rank = c.shape(own)[0];
  if (!keeps_zero) {
    const int cut = c.slice(own, 0, 0, std::min(rank, own_rank));
    const Pad padded{{0}, {std::max<std::int64_t>(0, rank - own_rank)}, Padding::constant, std::int64_t{0}};
    const auto kept = [](const Term& size, const Term& side) { return Term::select(size == 0, side, size); };
    sizes = c.map(kept, sizes, c.add(padded, {cut}));
  }
  // The product of all is less than 0 where one of them is -1.
  const auto left = [](const Term& size, const Term& all, const Term& product) {
    return Term::select(size < 0, all / (0 - product), size);
  };
  return c.map(left, sizes, count, c.reduce(Fold::product, sizes, {0}));
}

Made reshape(Lowering& c) {
  const int x = c.in(0);
  const bool keeps_zero = c.is_set("allowzero");
  if (c.has(1) && !c.constant(c.in(1))) {
    const int sizes = resolved_sizes(c, x, c.cast(c.in(1), DataType::i64), keeps_zero);
    return c.add(Reshape{Shape(static_cast<std::size_t>(c.shape(sizes)[0]), kUnknown)}, {x, sizes});
  }
  const Shape from = c.shape(x);
  Shape shape = c.integers(1, "shape");
  Shape rest = from;  // without sides that are kept
  std::int64_t made = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && !open) {
      open = i;
    } else if (shape[i] == 0 && !keeps_zero) {
      if (i >= from.size()) throw Problem("keeps dimension " + std::to_string(i) + ", which is not there");
      shape[i] = from[i];
      rest[i] = 1;
    } else if (shape[i] < 0 || shape[i] > kMaxElements || (made *= shape[i]) > kMaxElements) {
      throw Problem("has the shape " + text_of(shape));
    }
  }
  if (open && is_known(rest)) shape[*open] = made == 0 ? 0 : elements_of(rest) / made;
  return c.reshape(x, shape);
}

Made flatten(Lowering& c) {
  const Shape from = c.shape(c.in(0));
  const auto rank = static_cast<std::int64_t>(from.size()), number = c.node.integer("axis", 1);
  const std::size_t axis = number == rank ? from.size() : Lowering::axis(number, from.size());
  return c.reshape(c.in(0), {joined_side(from, 0, axis), joined_side(from, axis, from.size())});
}

Made squeeze(Lowering& c) {
  const Shape from = c.shape(c.in(0));
  const bool all = !c.has(1) && !c.node.has("axes");
  std::set<std::size_t> dropped;
  for (const std::int64_t axis : c.integers(1, "axes")) dropped.insert(Lowering::axis(axis, from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (all && from[i] == 1) dropped.insert(i);
    if (dropped.contains(i) && from[i] != 1 && from[i] != kUnknown)
      throw Problem("drops a dimension of " + std::to_string(from[i]));
  }
  return c.without(c.in(0), {dropped.begin(), dropped.end()});
}

Made unsqueeze(Lowering& c) {
  const Shape from = c.shape(c.in(0));
  const std::vector<std::int64_t> axes = c.integers(1, "axes");
  const std::size_t rank = from.size() + axes.size();
  if (rank > kMaxRank) throw Problem("makes too many dimensions");
  std::vector<bool> is_new(rank, false);
  for (const std::int64_t axis : axes) {
    if (is_new[Lowering::axis(axis, rank)]) throw Problem("adds a dimension twice");
    is_new[Lowering::axis(axis, rank)] = true;
  }
  Shape shape;
  auto next = from.begin();
  for (const bool one : is_new) shape.push_back(one ? 1 : *next++);
  return c.reshape(c.in(0), shape);
}

Made transpose(Lowering& c) {
  const std::size_t rank = c.rank(c.in(0));
  Axes order;
  for (const std::int64_t axis : c.node.integers("perm")) order.push_back(Lowering::axis(axis, rank));
  for (std::size_t i = 0; i < rank && !c.node.has("perm"); ++i) order.push_back(rank - 1 - i);
  return c.transpose(c.in(0), order);
}

Made depth_to_space(Lowering& c) {
  const Shape x = c.known_shape(c.in(0));
  const std::int64_t b = c.node.integer("blocksize", 0);
  if (x.size() != 4 || b < 1 || b > 64 || x[1] % (b * b) != 0)
    throw Problem("has a block size that does not fit " + text_of(x));
  const std::int64_t channels = x[1] / (b * b);
  const bool channels_first = c.node.text("mode", "DCR") == "CRD";
  const Shape split =
      channels_first ? Shape{x[0], channels, b, b, x[2], x[3]} : Shape{x[0], b, b, channels, x[2], x[3]};
  const Axes order = channels_first ? Axes{0, 1, 4, 2, 5, 3} : Axes{0, 3, 4, 1, 5, 2};
  const Shape shape{x[0], channels, x[2] * b, x[3] * b};
  return c.reshape(c.transpose(c.reshape(c.in(0), split), order), shape);
}

Made space_to_depth(Lowering& c) {
  const Shape x = c.known_shape(c.in(0));
  const std::int64_t b = c.node.integer("blocksize", 0);
  if (x.size() != 4 || b < 1 || b > 64 || x[2] % b != 0 || x[3] % b != 0)
    throw Problem("has a block size that does not fit " + text_of(x));
  const Shape shape{x[0], x[1] * b * b, x[2] / b, x[3] / b};
  const int split = c.reshape(c.in(0), {x[0], x[1], x[2] / b, b, x[3] / b, b});
  return c.reshape(c.transpose(split, {0, 3, 5, 1, 2, 4}), shape);
}

// --- parts and copies

Made split(Lowering& c) {
  const int x = c.in(0);
  const std::size_t axis = c.axis(0), parts = c.node.outputs.size();
  std::vector<std::int64_t> sizes = c.integers(1, "split");
  const std::int64_t side = c.shape(x)[axis];
  if (sizes.empty()) {
    const auto count = static_cast<std::int64_t>(parts), step = (c.known_shape(x)[axis] + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      sizes.push_back(std::clamp<std::int64_t>(side - i * step, 0, step));
  }
  std::vector<int> made;
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > kMaxElements) throw Problem("has a part of " + std::to_string(size));
    made.push_back(c.slice(x, axis, first, size));
    first += size;
  }
  if ((side != kUnknown && first != side) || sizes.size() != parts)
    throw Problem("has parts that do not fit " + text_of(c.shape(x)));
  return made;
}

// The first place and the number of places of a slice along an axis, as scalars.
std::vector<int> part_of_axis(Lowering& c, int side, int start, int end, std::int64_t step) {
  if (step == 0) throw Problem("has the step 0");
  const auto clamped = [](const Term& x, const Term& low, const Term& high) {
    return Term::call(Function::minimum, {Term::call(Function::maximum, {x, low}), high});
  };
  const auto part = [&](const std::vector<Term>& x) {
    const auto from_end = [&](const Term& at) { return Term::select(at < 0, at + x[0], at); };
    const bool forwards = step > 0;
    const Term first = forwards ? clamped(from_end(x[1]), 0, x[0]) : clamped(from_end(x[1]), -1, x[0] - 1);
    const Term last = forwards ? clamped(from_end(x[2]), first, x[0]) : clamped(from_end(x[2]), -1, first);
    const Term length = forwards ? last - first : first - last;
    return std::vector{first, (length + (std::abs(step) - 1)) / std::abs(step)};
  };
  return c.map_all({side, start, end}, part);
}

Made slice(Lowering& c) {
  const int x = c.in(0), sides = c.sizes(x);
  const std::size_t rank = c.rank(x);
  const auto list = [&](std::size_t i, std::string_view attribute) {
    return c.cast(c.has(i) ? c.in(i) : c.vector(c.node.integers(attribute)), DataType::i64);
  };
  const int starts = list(1, "starts"), ends = list(2, "ends");
  std::vector<std::int64_t> axes = c.integers(3, "axes"), steps = c.integers(4, "steps");
  const auto count = static_cast<std::size_t>(c.length(starts));
  if (axes.empty()) {
    axes.resize(count);
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(count, 1);
  if (c.known_shape(ends) != c.shape(starts) || axes.size() != count || steps.size() != count)
    throw Problem("has lists of different lengths");
  Slice part{Shape(rank, 0), Shape(rank, 1), c.shape(x)};
  std::vector<int> firsts(rank, c.scalar(std::int64_t{0})), counts;
  for (std::size_t axis = 0; axis < rank; ++axis)
    counts.push_back(c.element(sides, static_cast<std::int64_t>(axis)));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = Lowering::axis(axes[i], rank);
    const auto at = static_cast<std::int64_t>(i);
    part.step[axis] = std::clamp(steps[i], -kMaxElements, kMaxElements);
    const std::vector<int> made =
        part_of_axis(c, counts[axis], c.element(starts, at), c.element(ends, at), part.step[axis]);
    firsts[axis] = made[0];
    counts[axis] = made[1];
  }
  const auto value = [&](int scalar) {
    return c.constant(scalar) ? c.constant(scalar)->as<std::int64_t>()[0] : kUnknown;
  };
  std::vector<int> places;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    part.first[axis] = value(firsts[axis]);
    part.shape[axis] = value(counts[axis]);
  }
  if (is_known(part.shape) && is_known(part.first)) return c.add(part, {x});
  for (const std::vector<int>* const all : {&firsts, &counts}) {
    for (const int scalar : *all) places.push_back(c.reshape(scalar, {1}));
  }
  return c.add(part, {x, c.reshape(c.concat(places, 0), {2, static_cast<std::int64_t>(rank)})});
}

// Sizes that the file gives.
Shape given_sizes(Lowering& c, std::size_t i) {
  const Shape sides = c.integers(i, "");
  if (std::ranges::any_of(sides, [](std::int64_t side) { return side < 0; }))
    throw Problem("has the sizes " + text_of(sides));
  return sides;
}

Made expand(Lowering& c) {
  const int sizes = c.in(1);
  if (c.constant(sizes)) return c.expand(c.in(0), given_sizes(c, 1));
  return c.add(Expand{Shape(static_cast<std::size_t>(c.length(sizes)), kUnknown)}, {c.in(0), sizes});
}

// Each axis that is repeated gets one in front of it, which is expanded.
Made tile(Lowering& c) {
  int x = c.in(0);
  Shape shape = c.known_shape(x);
  const std::vector<std::int64_t> repeats = c.integers(1, "");
  if (repeats.size() != shape.size()) throw Problem("has repeats that do not fit");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (repeats[axis] < 0 || repeats[axis] > kMaxElements) throw Problem("repeats too often");
    if (repeats[axis] == 1) continue;
    const std::int64_t outer = joined_side(shape, 0, axis), inner = joined_side(shape, axis, shape.size());
    x = c.expand(c.reshape(x, {outer, 1, inner}), {outer, repeats[axis], inner});
    shape[axis] *= repeats[axis];
    x = c.reshape(x, shape);
  }
  return x;
}

// Elements are added first; then what a negative number says is cut off.
Made pad(Lowering& c) {
  const int x = c.in(0);
  const std::size_t rank = c.rank(x);
  const std::vector<std::int64_t> given = c.integers(1, "pads");
  std::vector<std::int64_t> axes = c.has(3) ? c.integers(3, "") : std::vector<std::int64_t>(rank);
  if (!c.has(3)) std::iota(axes.begin(), axes.end(), 0);
  if (given.size() != 2 * axes.size()) throw Problem("has pads that do not fit");
  const std::string mode = c.choice("mode", "constant", {"constant", "edge", "reflect", "wrap"});
  Pad pad{Shape(rank, 0), Shape(rank, 0), Padding::constant, {}};
  if (mode != "constant")
    pad.mode = mode == "edge" ? Padding::edge : mode == "wrap" ? Padding::wrap : Padding::reflect;
  pad.value = with_type(c.data(x), [&]<typename T>() -> Scalar {
    if (!c.has(2) || elements_of(c.known_shape(c.in(2))) == 0) return static_cast<T>(c.real("value", 0));
    c.known(2);
    return c.constant(c.cast(c.element(c.in(2)), c.data(x)))->as<T>()[0];
  });
  Shape cut_before(rank, 0), cut_behind(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = Lowering::axis(axes[i], rank);
    const std::int64_t before = given[i], behind = given[axes.size() + i];
    if (std::max(std::abs(before >> 1), std::abs(behind >> 1)) > kMaxElements)
      throw Problem("has pads that are too large");
    pad.before[axis] = std::max<std::int64_t>(0, before);
    pad.behind[axis] = std::max<std::int64_t>(0, behind);
    cut_before[axis] = std::max<std::int64_t>(0, -before);
    cut_behind[axis] = std::max<std::int64_t>(0, -behind);
  }
  int made = c.add(pad, {x});
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (cut_before[axis] + cut_behind[axis] == 0) continue;
    const std::int64_t side = c.known_shape(made)[axis] - cut_before[axis] - cut_behind[axis];
    if (side < 0) throw Problem("cuts more than there is");
    made = c.slice(made, axis, cut_before[axis], side);
  }
  return made;
}

// --- shapes as values, and constants

Made shape(Lowering& c) {
  const auto rank = static_cast<std::int64_t>(c.rank(c.in(0)));
  const auto place = [&](std::string_view attribute, std::int64_t fallback) {
    const std::int64_t at = c.node.integer(attribute, fallback);
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t first = place("start", 0);
  return c.slice(c.sizes(c.in(0)), 0, first, std::max<std::int64_t>(0, place("end", rank) - first));
}

Made size(Lowering& c) {
  return c.element(c.reduce(Fold::product, c.sizes(c.in(0)), {0}));
}

Made constant(Lowering& c) {
  const OnnxNode& node = c.node;
  if (const SharedTensor value = node.tensor("value")) return c.constant(value);
  if (node.has("value_float")) return c.scalar(c.real("value_float", 0));
  if (node.has("value_int")) return c.scalar(node.integer("value_int", 0));
  if (node.has("value_ints")) return c.vector(node.integers("value_ints"));
  if (node.has("value_floats")) return c.constant(Tensor::vector(node.reals("value_floats")));
  throw Problem("has no value that is supported");
}

Made constant_of_shape(Lowering& c) {
  const SharedTensor value = c.node.tensor("value");
  if (value && value->size() != 1) throw Problem("has no value");
  const int one = value ? c.element(c.constant(value)) : c.scalar(0.0F), sizes = c.in(0);
  if (c.constant(sizes)) return c.expand(one, given_sizes(c, 0));
  return c.add(Expand{Shape(static_cast<std::size_t>(c.length(sizes)), kUnknown)}, {one, sizes});
}

// Numbers from the start on before the limit, as i64.
Term count_of_range(const Term& start, const Term& limit, const Term& step) {
  const Term length = limit - start;
  if (start.type() == DataType::f32)
    return Term::call(Function::ceiling, {length / step}).cast(DataType::i64);
  return ((length + step - Term::call(Function::sign, {step})) / step).cast(DataType::i64);
}

Made range(Lowering& c) {
  const int start = c.element(c.in(0)), limit = c.element(c.in(1)), step = c.element(c.in(2));
  const auto counted = [](const Term& from, const Term& to, const Term& by) {
    return Term::call(Function::maximum, {count_of_range(from, to, by), 0});
  };
  const int count = c.map(counted, start, limit, step);
  Iota iota{std::int64_t{0}, std::int64_t{1}, kUnknown};
  if (const Tensor* const known = c.constant(count)) iota.count = known->as<std::int64_t>()[0];
  if (iota.count > kMaxElements) throw Problem("makes too many numbers");
  const int places = c.add(iota, iota.count == kUnknown ? std::vector{count} : std::vector<int>());
  const auto at = [](const Term& from, const Term& place, const Term& by) {
    return from + place.cast(from.type()) * by;
  };
  return c.map(at, start, places, step);
}

// --- elements by index

// What constant indices that rise or fall evenly take is a slice.
std::optional<int> evenly_gathered(Lowering& c, int x, std::size_t axis, int indices) {
  const Tensor* const values = c.constant(indices);
  const std::int64_t side = c.shape(x)[axis];
  if (!values || values->rank() > 1 || values->size() == 0 || side == kUnknown ||
      std::ranges::count(c.shape(x), kUnknown) > 1)
    return {};
  std::vector<std::int64_t> places = values->integers();
  for (std::int64_t& place : places) place = checked_index(place, side);
  const std::int64_t step = places.size() > 1 ? places[1] - places[0] : 1;
  const auto is_uneven = [&](std::int64_t a, std::int64_t b) { return b - a != step; };
  if (step == 0 || std::ranges::adjacent_find(places, is_uneven) != places.end()) return {};
  const int made = c.slice(x, axis, places[0], values->size(), step);
  return values->rank() == 1 ? made : c.without(made, {axis});
}

Made gather(Lowering& c) {
  const std::size_t axis = c.axis(0);
  const std::optional<int> made = evenly_gathered(c, c.in(0), axis, c.in(1));
  return made ? *made : c.add(Gather{By::index, axis, 0}, {c.in(0), c.in(1)});
}

Made gather_nd(Lowering& c) {
  const std::int64_t batch = std::clamp<std::int64_t>(c.node.integer("batch_dims", 0), 0, kMaxRank);
  return c.add(Gather{By::tuple, 0, static_cast<std::size_t>(batch)}, {c.in(0), c.in(1)});
}

Made scatter(Lowering& c, Scatter how) {
  const std::string name = c.choice("reduction", "none", {"none", "add", "mul", "min", "max"});
  how.combine = name == "add"   ? Combine::add
                : name == "mul" ? Combine::multiply
                : name == "min" ? Combine::minimum
                : name == "max" ? Combine::maximum
                                : Combine::replace;
  return c.add(how, c.inputs());
}
Made scatter_elements(Lowering& c) {
  return scatter(c, {By::element, c.axis(0), {}});
}
Made scatter_nd(Lowering& c) {
  return scatter(c, {By::tuple, 0, {}});
}

// Whether an index, or the same from behind, is the place on a new axis.
Made one_hot(Lowering& c) {
  const Tensor& given = c.known(1);
  if (given.size() != 1 || c.known_shape(c.in(2)) != Shape{2})
    throw Problem("needs one depth and two values");
  const std::int64_t depth = c.constant(c.cast(c.element(c.in(1)), DataType::i64))->as<std::int64_t>()[0];
  Shape shape = c.shape(c.in(0));
  const std::size_t axis = Lowering::axis(c.node.integer("axis", -1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  const int index = c.reshape(c.cast(c.in(0), DataType::i64), shape);
  const int places = c.places(depth, axis, shape.size());
  const auto chosen = [=](const Term& i, const Term& place, const Term& off, const Term& on) {
    return Term::select(Term::select(i < 0, i + depth, i) == place, on, off);
  };
  return c.map(chosen, index, places, c.element(c.in(2), 0), c.element(c.in(2), 1));
}

Made triangle(Lowering& c) {
  const int x = c.in(0);
  const Shape shape = c.known_shape(x);
  if (shape.size() < 2) throw Problem("has an input of " + text_of(shape));
  const bool upper = c.is_set("upper", true);
  const auto places = [&](std::size_t axis) { return c.places(shape[axis], axis, shape.size()); };
  const auto kept = [=](const Term& one, const Term& row, const Term& column, const Term& diagonal) {
    const Term right = column - row;
    return Term::select(upper ? diagonal <= right : right <= diagonal, one, Term(0));
  };
  const int diagonal = c.has(1) ? c.element(c.in(1)) : c.scalar(std::int64_t{0});
  return c.map(kept, x, places(shape.size() - 2), places(shape.size() - 1), diagonal);
}

// --- order and choice

Made top(Lowering& c) {
  const std::size_t axis = c.axis(-1);
  TopK top{axis, kUnknown, c.is_set("largest", true)};
  const bool is_attribute = !c.has(1);
  if (!is_attribute && !c.constant(c.in(1))) return c.add_all(top, {c.in(0), c.element(c.in(1))});
  const std::vector<std::int64_t> counts =
      is_attribute ? std::vector{c.node.integer("k", 0)} : c.integers(1, "");
  if (counts.size() != 1) throw Problem("needs one number of elements");
  top.count = counts[0];
  if (top.count < 0) throw Problem("takes " + std::to_string(top.count) + " elements");
  return c.add_all(top, {c.in(0)});
}

template <bool largest>
Made arg_reduce(Lowering& c) {
  const std::size_t axis = c.axis(0);
  const int made = c.add(ArgReduce{largest, axis, c.is_set("select_last_index")}, {c.in(0)});
  return c.is_set("keepdims", true) ? made : c.without(made, {axis});
}

Made suppress(Lowering& c) {
  const int most = c.has(2) ? c.element(c.in(2)) : c.scalar(std::int64_t{0});
  const int overlap = c.has(3) ? c.element(c.in(3)) : c.scalar(0.0F);
  const int least = c.has(4) ? c.element(c.in(4)) : c.scalar(-std::numeric_limits<float>::infinity());
  return c.add(Suppress{c.is_set("center_point_box")}, {c.in(0), c.in(1), most, overlap, least});
}

constexpr OnnxOperator kShapes[] = {
    {"ArgMax", 1, 1, arg_reduce<true>},
    {"ArgMin", 1, 1, arg_reduce<false>},
    {"Concat", 1, kManyParts, [](Lowering& c) -> Made { return c.concat(c.inputs(), c.axis(1)); }},
    {"Constant", 0, 0, constant},
    {"ConstantOfShape", 1, 1, constant_of_shape},
    {"DepthToSpace", 1, 1, depth_to_space},
    {"Expand", 2, 2, expand},
    {"Flatten", 1, 1, flatten},
    {"Gather", 2, 2, gather},
    {"GatherElements", 2, 2,
     [](Lowering& c) -> Made {
       return c.add(Gather{By::element, c.axis(0), 0}, {c.in(0), c.in(1)});
     }},
    {"GatherND", 2, 2, gather_nd},
    {"NonMaxSuppression", 2, 5, suppress},
    {"NonZero", 1, 1, [](Lowering& c) -> Made { return c.add(NonZero(), {c.in(0)}); }},
    {"OneHot", 3, 3, one_hot},
    {"Pad", 1, 4, pad},
    {"Range", 3, 3, range},
    {"Reshape", 1, 2, reshape},
    {"Scatter", 3, 3, scatter_elements},
    {"ScatterElements", 3, 3, scatter_elements},
    {"ScatterND", 3, 3, scatter_nd},
    {"Shape", 1, 1, shape},
    {"Size", 1, 1, size},
    {"Slice", 1, 5, slice},
    {"SpaceToDepth", 1, 1, space_to_depth},
    {"Split", 1, 2, split, kManyParts},
    {"Squeeze", 1, 2, squeeze},
    {"Tile", 2, 2, tile},
    {"TopK", 1, 2, top, 2},
    {"Transpose", 1, 1, transpose},
    {"Trilu", 1, 2, triangle},
    {"Unsqueeze", 1, 2, unsqueeze},
};

}  // namespace

std::span<const OnnxOperator> shape_operators() {
  return kShapes;
}

}  // namespace sightline::nn
