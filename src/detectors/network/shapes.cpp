// Operators that move elements and make shapes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "detectors/network/broadcast.hpp"
#include "detectors/network/window.hpp"

namespace sightline::network {

std::vector<std::int64_t> pads_of(const Call& call) {
  const std::size_t rank = call.in(0).rank();
  const std::vector<std::int64_t> given = call.wholes(1, "pads");
  const std::vector<std::int64_t> axes = call.has(3) ? call.wholes(3, "axes") : std::vector<std::int64_t>();
  const std::size_t count = call.has(3) ? axes.size() : rank;
  if (given.size() != 2 * count) throw Problem("has pads that do not fit");
  std::vector<std::int64_t> pads(2 * rank, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = call.has(3) ? Call::axis(axes[i], rank) : i;
    if (std::max(std::abs(given[i] >> 1), std::abs(given[count + i] >> 1)) > kMaxElements)
      throw Problem("has pads that are too large");
    pads[axis] = given[i];
    pads[rank + axis] = given[count + i];
  }
  return pads;
}

namespace {

using Types = std::vector<TensorType>;

// std::copy_n, which is a call, for long runs alone.
template <typename T>
void copy_run(const T* from, std::int64_t count, T* to) {
  if (count >= 16) {
    std::copy_n(from, count, to);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

// Copies rows that are so far apart. Short ones are copied without a loop.
template <typename T>
void copy_rows(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t rows,
               std::int64_t count) {
  const auto copy = [&](auto length) {
    for (std::int64_t row = 0; row < rows; ++row, from += from_step, to += to_step)
      copy_run(from, length, to);
  };
  if (count == 1) return copy(std::integral_constant<std::int64_t, 1>());
  if (count == 2) return copy(std::integral_constant<std::int64_t, 2>());
  if (count == 4) return copy(std::integral_constant<std::int64_t, 4>());
  copy(count);
}

// Fills `out` from places of `in` that are so far apart along each axis of a shape.
void copy_strided(const Tensor& in, Tensor& out, Shape shape, std::vector<std::int64_t> steps,
                  std::int64_t start = 0) {
  // Trailing axes that lie behind one another are one.
  for (std::size_t last = shape.size(); last-- > 1 && steps[last - 1] == shape[last] * steps[last];) {
    shape[last - 1] *= shape[last];
    steps[last - 1] = steps[last];
    shape.pop_back();
    steps.pop_back();
  }
  // Takes the last axis away: its length and step.
  const auto take_axis = [&] {
    const std::pair axis{shape.back(), steps.back()};
    shape.pop_back();
    steps.pop_back();
    return axis;
  };
  const std::int64_t count = !shape.empty() && steps.back() == 1 ? take_axis().first : 1;
  const auto [rows, apart] = shape.empty() ? std::pair<std::int64_t, std::int64_t>{1, 0} : take_axis();
  StridedWalk walk(std::move(shape), std::move(steps), start);
  const auto copy = [&, rows = rows, apart = apart](const auto* from, auto* to) {
    for (std::int64_t i = 0; i < out.size(); i += rows * count, walk.next())
      copy_rows(from + walk.offset(), apart, to + i, count, rows, count);
  };
  with_elements(copy, in, out);
}

// --- other shapes of the same elements

Types reshape_type(const Call& call) {
  const Shape& from = call.in(0).shape();
  Shape shape = call.wholes(1, "shape");
  const bool keeps_zero = call.node.integer("allowzero", 0) != 0;
  std::int64_t known = 1, open = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !keeps_zero) {
      if (i >= from.size()) throw Problem("keeps dimension " + std::to_string(i) + ", which is not there");
      shape[i] = from[i];
    }
    if (shape[i] == -1 && open < 0) {
      open = static_cast<std::int64_t>(i);
    } else if (shape[i] < 0 || shape[i] > kMaxElements || (known *= shape[i]) > kMaxElements) {
      throw Problem("has the shape " + text_of(shape));
    }
  }
  const std::int64_t count = elements_of(from);
  if (open >= 0) shape[static_cast<std::size_t>(open)] = known > 0 ? count / known : 0;
  if (elements_of(shape) != count)
    throw Problem("cannot give " + text_of(from) + " the shape " + text_of(shape));
  return {{call.in(0).kind(), shape}};
}

Types flatten_type(const Call& call) {
  const Shape& from = call.in(0).shape();
  const std::int64_t number = call.node.integer("axis", 1);
  const std::size_t axis =
      number == static_cast<std::int64_t>(from.size()) ? from.size() : Call::axis(number, from.size());
  return {{call.in(0).kind(), {elements_between(from, 0, axis), elements_between(from, axis, from.size())}}};
}

Types squeeze_type(const Call& call) {
  const Shape& from = call.in(0).shape();
  std::vector<bool> drops(from.size(), false);
  const bool all = !call.has(1) && !call.node.has("axes");
  for (const std::int64_t axis : call.wholes(1, "axes")) drops[Call::axis(axis, from.size())] = true;
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (drops[i] && from[i] != 1) throw Problem("drops a dimension of " + std::to_string(from[i]));
    if (!(drops[i] || (all && from[i] == 1))) shape.push_back(from[i]);
  }
  return {{call.in(0).kind(), shape}};
}

Types unsqueeze_type(const Call& call) {
  const Shape& from = call.in(0).shape();
  const std::vector<std::int64_t> axes = call.wholes(1, "axes");
  const std::size_t rank = from.size() + axes.size();
  if (rank > kMaxRank) throw Problem("makes too many dimensions");
  Shape shape(rank, 0);
  for (const std::int64_t axis : axes) {
    std::int64_t& side = shape[Call::axis(axis, rank)];
    if (side == 1) throw Problem("adds a dimension twice");
    side = 1;
  }
  std::size_t next = 0;
  for (std::int64_t& side : shape) {
    if (side == 0) side = from[next++];
  }
  return {{call.in(0).kind(), shape}};
}

// --- parts, joined and repeated

Types concat_type(const Call& call) {
  Shape shape = call.in(0).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", 1), shape.size());
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const Tensor& next = call.in(i);
    Shape other = next.shape();
    if (next.kind() != call.in(0).kind() || other.size() != shape.size())
      throw Problem("joins tensors that do not fit");
    shape[axis] += other[axis];
    other[axis] = shape[axis];
    if (other != shape)
      throw Problem("joins tensors that do not fit: " + text_of(call.in(0).shape()) + " and " +
                    text_of(next.shape()));
  }
  return {{call.in(0).kind(), shape}};
}

void run_concat(const Call& call, std::span<Tensor> out) {
  const Shape& shape = out[0].shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", 1), shape.size());
  const std::int64_t whole = elements_between(shape, axis, shape.size());
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& from = call.in(i);
    const std::int64_t part = elements_between(from.shape(), axis, from.shape().size());
    const auto copy = [&](const auto* source, auto* target) {
      if (part > 0) copy_rows(source, part, target + offset, whole, from.size() / part, part);
    };
    with_elements(copy, from, out[0]);
    offset += part;
  }
}

Types split_type(const Call& call) {
  const Shape& from = call.in(0).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), from.size());
  std::vector<std::int64_t> sizes = call.wholes(1, "split");
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(call.node.outputs.size());
    const std::int64_t step = (from[axis] + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<std::int64_t>(from[axis] - i * step, 0, step));
  }
  Types types;
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > from[axis]) throw Problem("has a part of " + std::to_string(size));
    sum += size;
    types.push_back({call.in(0).kind(), from});
    types.back().shape[axis] = size;
  }
  if (sum != from[axis] || sizes.size() != call.node.outputs.size())
    throw Problem("has parts that do not fit " + text_of(from));
  return types;
}

void run_split(const Call& call, std::span<Tensor> out) {
  const Tensor& from = call.in(0);
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), from.rank());
  const std::int64_t whole = elements_between(from.shape(), axis, from.shape().size());
  std::int64_t offset = 0;
  for (Tensor& target : out) {
    const std::int64_t part = elements_between(target.shape(), axis, target.shape().size());
    const auto copy = [&](const auto* source, auto* to) {
      if (part > 0) copy_rows(source + offset, whole, to, part, target.size() / part, part);
    };
    with_elements(copy, from, target);
    offset += part;
  }
}

void slice_axis(SlicePlan& plan, std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t side = plan.shape[axis];
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) throw Problem("has the step 0");
  const auto from_end = [&](std::int64_t at) {
    return at < 0 ? std::max(at, -side - 1) + side : std::min(at, side);
  };
  start = from_end(start);
  end = from_end(end);
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, side);
    end = std::clamp<std::int64_t>(end, start, side);
    plan.shape[axis] = (end - start + std::min(step, side + 1) - 1) / std::min(step, side + 1);
  } else {
    start = std::clamp<std::int64_t>(start, -1, side - 1);
    end = std::clamp<std::int64_t>(end, -1, start);
    const std::int64_t back = std::min(-step, side + 1);
    plan.shape[axis] = (start - end + back - 1) / back;
  }
  plan.first[axis] = plan.shape[axis] > 0 ? start : 0;
  plan.step[axis] = std::clamp(step, -side - 1, side + 1);
}

Types slice_type(const Call& call) {
  return {{call.in(0).kind(), slice_plan(call).shape}};
}

void run_slice(const Call& call, std::span<Tensor> out) {
  const SlicePlan plan = slice_plan(call);
  std::vector<std::int64_t> steps = strides_of(call.in(0).shape());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    start += plan.first[i] * steps[i];
    steps[i] *= plan.step[i];
  }
  copy_strided(call.in(0), out[0], plan.shape, steps, start);
}

std::vector<std::size_t> permutation_of(const Call& call) {
  const std::size_t rank = call.in(0).rank();
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  if (!call.node.has("perm")) return order;
  const std::vector<std::int64_t> given = call.node.integers("perm");
  std::vector<bool> seen(rank, false);
  if (given.size() != rank) throw Problem("has an order of axes that does not fit");
  for (std::size_t i = 0; i < rank; ++i) {
    order[i] = Call::axis(given[i], rank);
    if (seen[order[i]]) throw Problem("names an axis twice");
    seen[order[i]] = true;
  }
  return order;
}

Types transpose_type(const Call& call) {
  Shape shape;
  for (const std::size_t axis : permutation_of(call)) shape.push_back(call.in(0).dim(axis));
  return {{call.in(0).kind(), shape}};
}

void run_transpose(const Call& call, std::span<Tensor> out) {
  const std::vector<std::int64_t> strides = strides_of(call.in(0).shape());
  std::vector<std::int64_t> steps;
  for (const std::size_t axis : permutation_of(call)) steps.push_back(strides[axis]);
  copy_strided(call.in(0), out[0], out[0].shape(), steps);
}

Types expand_type(const Call& call) {
  return {{call.in(0).kind(), broadcast_shape(call.in(0).shape(), call.wholes(1, "shape"))}};
}
void run_expand(const Call& call, std::span<Tensor> out) {
  copy_strided(call.in(0), out[0], out[0].shape(), broadcast_steps(out[0].shape(), call.in(0).shape()));
}

Types tile_type(const Call& call) {
  Shape shape = call.in(0).shape();
  const std::vector<std::int64_t> repeats = call.wholes(1, "repeats");
  if (repeats.size() != shape.size()) throw Problem("has repeats that do not fit");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 0 || repeats[i] > kMaxElements) throw Problem("repeats too often");
    shape[i] *= repeats[i];
  }
  return {{call.in(0).kind(), shape}};
}
void run_tile(const Call& call, std::span<Tensor> out) {
  const Tensor& in = call.in(0);
  const std::vector<std::int64_t> strides = strides_of(in.shape());
  StridedWalk places(out[0].shape(), std::vector<std::int64_t>(in.rank(), 0));
  const auto copy = [&](const auto* from, auto* to) {
    for (std::int64_t i = 0; i < out[0].size(); ++i, places.next()) {
      std::int64_t offset = 0;
      for (std::size_t k = 0; k < in.rank(); ++k) offset += places.place()[k] % in.dim(k) * strides[k];
      to[i] = from[offset];
    }
  };
  with_elements(copy, in, out[0]);
}

// --- padding

Types pad_type(const Call& call) {
  Shape shape = call.in(0).shape();
  const std::vector<std::int64_t> pads = pads_of(call);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] += pads[i] + pads[shape.size() + i];
    if (shape[i] < 0) throw Problem("cuts more than there is");
  }
  const std::string mode = call.node.text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    throw Problem("has the mode '" + mode + "', which is not supported");
  return {{call.in(0).kind(), shape}};
}

// The source of a place on an axis; -1 in the padding.
std::int64_t padded_source(std::int64_t at, std::int64_t side, const std::string& mode) {
  if (at >= 0 && at < side) return at;
  if (mode == "constant" || side == 0) return -1;
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, side - 1);
  if (mode == "wrap") return (at % side + side) % side;
  if (side == 1) return 0;
  const std::int64_t period = 2 * (side - 1);
  const std::int64_t folded = ((at % period) + period) % period;
  return folded < side ? folded : period - folded;
}

void run_pad(const Call& call, std::span<Tensor> out) {
  const Tensor& in = call.in(0);
  const std::vector<std::int64_t> pads = pads_of(call), strides = strides_of(in.shape());
  const std::string mode = call.node.text("mode", "constant");
  const float value = call.node.real("value", 0);
  StridedWalk places(out[0].shape(), std::vector<std::int64_t>(in.rank(), 0));
  const auto run = [&]<typename T>(const T* from, T* to) {
    const bool is_given = call.has(2) && call.data(2).size() > 0;
    const T fill = is_given ? call.in(2).as<T>(0) : static_cast<T>(value);
    if (mode == "constant" && std::ranges::min(pads) >= 0) {
      std::fill_n(to, out[0].size(), fill);
      std::int64_t start = 0;
      const std::vector<std::int64_t> steps = strides_of(out[0].shape());
      for (std::size_t k = 0; k < in.rank(); ++k) start += pads[k] * steps[k];
      const std::int64_t count = in.rank() > 0 ? in.shape().back() : 1;
      Shape rows = in.shape();
      if (!rows.empty()) rows.back() = 1;
      StridedWalk walk(rows, steps, start);
      for (std::int64_t i = 0; i < in.size(); i += count, walk.next())
        std::copy_n(from + i, count, to + walk.offset());
      return;
    }
    for (std::int64_t i = 0; i < out[0].size(); ++i, places.next()) {
      std::int64_t offset = 0;
      for (std::size_t k = 0; k < in.rank() && offset >= 0; ++k) {
        const std::int64_t source = padded_source(places.place()[k] - pads[k], in.dim(k), mode);
        offset = source < 0 ? -1 : offset + source * strides[k];
      }
      to[i] = offset < 0 ? fill : from[offset];
    }
  };
  with_elements(run, in, out[0]);
}

// --- blocks and channels

// The attribute blocksize. Its square must divide the channels (`by_channel`), or itself the height and
// width.
std::int64_t block_side(const Call& call, bool by_channel) {
  const Shape& from = call.in(0).shape();
  const std::int64_t block = call.node.integer("blocksize", 0);
  if (from.size() != 4 || block < 1 || block > 64 ||
      (by_channel ? from[1] % (block * block) != 0 : from[2] % block != 0 || from[3] % block != 0))
    throw Problem("has a block size that does not fit " + text_of(from));
  return block;
}

Types depth_to_space_type(const Call& call) {
  const Shape& from = call.in(0).shape();
  const std::int64_t block = block_side(call, true);
  return {{call.in(0).kind(), {from[0], from[1] / (block * block), from[2] * block, from[3] * block}}};
}
Types space_to_depth_type(const Call& call) {
  const Shape& from = call.in(0).shape();
  const std::int64_t block = block_side(call, false);
  return {{call.in(0).kind(), {from[0], from[1] * block * block, from[2] / block, from[3] / block}}};
}

// Both are a transposition of six axes.
void run_depth_to_space(const Call& call, std::span<Tensor> out) {
  const std::int64_t b = call.node.integer("blocksize", 1);
  const Shape& from = call.in(0).shape();
  const std::int64_t channels = from[1] / (b * b), plane = from[2] * from[3];
  const bool by_column = call.node.text("mode", "DCR") == "CRD";
  const std::int64_t row_step = by_column ? b * plane : b * channels * plane;
  const std::int64_t column_step = by_column ? plane : channels * plane;
  const std::int64_t channel_step = by_column ? b * b * plane : plane;
  copy_strided(call.in(0), out[0], {from[0], channels, from[2], b, from[3], b},
               {from[1] * plane, channel_step, from[3], row_step, 1, column_step});
}
void run_space_to_depth(const Call& call, std::span<Tensor> out) {
  const std::int64_t b = call.node.integer("blocksize", 1);
  const Shape& from = call.in(0).shape();
  const std::int64_t plane = from[2] * from[3];
  copy_strided(call.in(0), out[0], {from[0], b, b, from[1], from[2] / b, from[3] / b},
               {from[1] * plane, from[3], 1, plane, b * from[3], b});
}

// --- shapes as values, and constants

Types shape_type(const Call& call) {
  const auto rank = static_cast<std::int64_t>(call.in(0).rank());
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = place(call.node.integer("start", 0));
  return {{Kind::whole, {std::max<std::int64_t>(0, place(call.node.integer("end", rank)) - start)}}};
}
void run_shape(const Call& call, std::span<Tensor> out) {
  const auto rank = static_cast<std::int64_t>(call.in(0).rank());
  const std::int64_t given = call.node.integer("start", 0);
  const std::int64_t start = std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  std::copy_n(call.in(0).shape().begin() + start, out[0].size(), out[0].wholes());
}

Types size_type(const Call& /*call*/) {
  return {{Kind::whole, {}}};
}
void run_size(const Call& call, std::span<Tensor> out) {
  *out[0].wholes() = elements_of(call.in(0).shape());
}

Types constant_of_shape_type(const Call& call) {
  const SharedTensor value = call.node.tensor("value");
  if (value && value->size() < 1) throw Problem("has no value");
  return {{value ? value->kind() : Kind::real, call.wholes(0, "")}};
}
void run_constant_of_shape(const Call& call, std::span<Tensor> out) {
  const SharedTensor value = call.node.tensor("value");
  if (out[0].kind() == Kind::real) {
    std::fill_n(out[0].reals(), out[0].size(), value ? value->reals()[0] : 0.0F);
  } else {
    std::fill_n(out[0].wholes(), out[0].size(), value->wholes()[0]);
  }
}

Types constant_type(const Call& call) {
  const Node& node = call.node;
  if (const SharedTensor value = node.tensor("value")) return {value->type()};
  const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  if (node.has("value_float")) return {{Kind::real, {}}};
  if (node.has("value_int")) return {{Kind::whole, {}}};
  if (node.has("value_ints")) return {{Kind::whole, {count(node.integers("value_ints").size())}}};
  if (node.has("value_floats"))
    return {{Kind::real,
             {count(std::get<std::vector<float>>(node.attributes.find("value_floats")->second).size())}}};
  throw Problem("has no value that is supported");
}
void run_constant(const Call& call, std::span<Tensor> out) {
  const Node& node = call.node;
  if (const SharedTensor value = node.tensor("value")) {
    copy_all({node, {value.get()}}, out);
  } else if (node.has("value_float")) {
    *out[0].reals() = node.real("value_float", 0);
  } else if (node.has("value_int")) {
    *out[0].wholes() = node.integer("value_int", 0);
  } else if (node.has("value_ints")) {
    std::ranges::copy(node.integers("value_ints"), out[0].wholes());
  } else {
    std::ranges::copy(std::get<std::vector<float>>(node.attributes.find("value_floats")->second),
                      out[0].reals());
  }
}

double number_of(const Tensor& tensor) {
  if (tensor.size() != 1) throw Problem("needs single numbers");
  return tensor.as<double>(0);
}
Types range_type(const Call& call) {
  if (call.in(2).kind() != call.in(0).kind()) throw Problem("mixes real and whole numbers");
  const double start = number_of(call.data(0)), limit = number_of(call.data(1));
  const double step = number_of(call.data(2));
  const double count = std::ceil((limit - start) / step);
  if (!(std::abs(count) <= static_cast<double>(kMaxElements))) throw Problem("makes too many numbers");
  return {{call.in(0).kind(), {std::max<std::int64_t>(0, static_cast<std::int64_t>(count))}}};
}
void run_range(const Call& call, std::span<Tensor> out) {
  const auto count = [&](const auto* start, const auto* step, auto* to) {
    for (std::int64_t i = 0; i < out[0].size(); ++i)
      to[i] = *start + static_cast<std::remove_reference_t<decltype(*to)>>(i) * *step;
  };
  with_elements(count, call.in(0), call.in(2), out[0]);
}

constexpr std::size_t kManyParts = 1024;

constexpr Operator kShapeOperators[] = {
    {"Concat", 1, kManyParts, 1, concat_type, run_concat},
    {"Constant", 0, 0, 1, constant_type, run_constant},
    {"ConstantOfShape", 1, 1, 1, constant_of_shape_type, run_constant_of_shape},
    {"DepthToSpace", 1, 1, 1, depth_to_space_type, run_depth_to_space},
    {"Expand", 2, 2, 1, expand_type, run_expand},
    {"Flatten", 1, 1, 1, flatten_type, copy_all},
    {"Pad", 1, 4, 1, pad_type, run_pad},
    {"Range", 3, 3, 1, range_type, run_range},
    {"Reshape", 1, 2, 1, reshape_type, copy_all},
    {"Shape", 1, 1, 1, shape_type, run_shape},
    {"Size", 1, 1, 1, size_type, run_size},
    {"Slice", 1, 5, 1, slice_type, run_slice},
    {"SpaceToDepth", 1, 1, 1, space_to_depth_type, run_space_to_depth},
    {"Split", 1, 2, kManyParts, split_type, run_split},
    {"Squeeze", 1, 2, 1, squeeze_type, copy_all},
    {"Tile", 2, 2, 1, tile_type, run_tile},
    {"Transpose", 1, 1, 1, transpose_type, run_transpose},
    {"Unsqueeze", 1, 2, 1, unsqueeze_type, copy_all},
};

}  // namespace

SlicePlan slice_plan(const Call& call) {
  const Shape& from = call.in(0).shape();
  SlicePlan plan{from, std::vector<std::int64_t>(from.size(), 0), std::vector<std::int64_t>(from.size(), 1)};
  const std::vector<std::int64_t> starts = call.wholes(1, "starts"), ends = call.wholes(2, "ends");
  std::vector<std::int64_t> axes = call.wholes(3, "axes"), steps = call.wholes(4, "steps");
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    throw Problem("has lists of different lengths");
  for (std::size_t i = 0; i < starts.size(); ++i)
    slice_axis(plan, Call::axis(axes[i], from.size()), starts[i], ends[i], steps[i]);
  return plan;
}

std::span<const Operator> shape_operators() {
  return kShapeOperators;
}

}  // namespace sightline::network
