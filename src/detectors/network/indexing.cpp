// Operators that read and write elements by their indices.
#include <algorithm>
#include <type_traits>

#include "detectors/network/broadcast.hpp"
#include "detectors/network/functions.hpp"
#include "detectors/network/grid_sample.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

const Tensor& indices_of(const Call& call, std::size_t i) {
  if (call.in(i).kind() != Kind::whole) throw Problem("needs whole numbers as indices");
  return call.in(i);
}

std::int64_t checked_index(std::int64_t index, std::int64_t side) {
  if (index < -side || index >= side)
    throw Problem("index " + std::to_string(index) + " of a dimension of " + std::to_string(side));
  return index < 0 ? index + side : index;
}

Types gather_type(const Call& call) {
  const Shape &from = call.in(0).shape(), &index = indices_of(call, 1).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), from.size());
  Shape shape(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), index.begin(), index.end());
  shape.insert(shape.end(), from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end());
  return {{call.in(0).kind(), shape}};
}

void run_gather(const Call& call, std::span<Tensor> out) {
  const Tensor &in = call.in(0), &index = call.in(1);
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), in.rank());
  const std::int64_t outer = elements_between(in.shape(), 0, axis), side = in.dim(axis);
  const std::int64_t inner = elements_between(in.shape(), axis + 1, in.rank());
  const auto copy = [&](const auto* from, auto* to) {
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < index.size(); ++i) {
        const std::int64_t at = checked_index(index.wholes()[i], side);
        std::copy_n(from + (o * side + at) * inner, inner, to);
        to += inner;
      }
    }
  };
  with_elements(copy, in, out[0]);
}

Types gather_elements_type(const Call& call) {
  const Shape &from = call.in(0).shape(), &index = indices_of(call, 1).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), from.size());
  if (index.size() != from.size()) throw Problem("has indices that do not fit " + text_of(from));
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i != axis && index[i] > from[i]) throw Problem("has indices that do not fit " + text_of(from));
  }
  return {{call.in(0).kind(), index}};
}

// Offset of a place whose index on one axis is replaced.
std::int64_t offset_at(const Shape& place, const std::vector<std::int64_t>& strides, std::size_t axis,
                       std::int64_t index) {
  std::int64_t offset = index * strides[axis];
  for (std::size_t k = 0; k < place.size(); ++k) offset += k == axis ? 0 : place[k] * strides[k];
  return offset;
}

void run_gather_elements(const Call& call, std::span<Tensor> out) {
  const Tensor &in = call.in(0), &index = call.in(1);
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), in.rank());
  const std::vector<std::int64_t> strides = strides_of(in.shape());
  StridedWalk places(index.shape(), std::vector<std::int64_t>(index.rank(), 0));
  const auto copy = [&](const auto* from, auto* to) {
    for (std::int64_t i = 0; i < index.size(); ++i, places.next())
      to[i] = from[offset_at(places.place(), strides, axis, checked_index(index.wholes()[i], in.dim(axis)))];
  };
  with_elements(copy, in, out[0]);
}

Types scatter_type(const Call& call) {
  indices_of(call, 1);
  if (call.in(2).kind() != call.in(0).kind()) throw Problem("mixes real and whole numbers");
  const std::string how = call.node.text("reduction", "none");
  if (how != "none" && how != "add" && how != "mul" && how != "min" && how != "max")
    throw Problem("has the reduction '" + how + "', which is not supported");
  return {call.in(0).type()};
}

// What becomes of a value that is there and one that comes. Whole numbers wrap around.
template <typename T>
T combined(const std::string& how, T old, T value) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, float, std::uint64_t>;
  if (how == "add") return static_cast<T>(static_cast<Wide>(old) + static_cast<Wide>(value));
  if (how == "mul") return static_cast<T>(static_cast<Wide>(old) * static_cast<Wide>(value));
  if (how == "min") return value < old ? value : old;
  if (how == "max") return value > old ? value : old;
  return value;
}

Types scatter_elements_type(const Call& call) {
  const Shape index = gather_elements_type(call)[0].shape;  // which is checked
  if (call.in(2).shape() != index) throw Problem("has updates that do not fit " + text_of(index));
  return scatter_type(call);
}

void run_scatter_elements(const Call& call, std::span<Tensor> out) {
  const Tensor &in = call.in(0), &index = call.in(1), &updates = call.in(2);
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), in.rank());
  const std::vector<std::int64_t> strides = strides_of(in.shape());
  const std::string how = call.node.text("reduction", "none");
  copy_all(call, out);
  StridedWalk places(index.shape(), std::vector<std::int64_t>(index.rank(), 0));
  const auto copy = [&](const auto* from, auto* to) {
    for (std::int64_t i = 0; i < index.size(); ++i, places.next()) {
      auto& at = to[offset_at(places.place(), strides, axis, checked_index(index.wholes()[i], in.dim(axis)))];
      at = combined(how, at, from[i]);
    }
  };
  with_elements(copy, updates, out[0]);
}

// Of operators ...ND: the last axis of the indices holds places on the axes from `batch` on.
struct NdPlan {
  std::size_t batch = 0, depth = 0;
  std::int64_t slices = 0;  // how many are named
  std::int64_t inner = 0;   // elements of each
};

NdPlan nd_plan(const Call& call) {
  const Shape &from = call.in(0).shape(), &index = indices_of(call, 1).shape();
  NdPlan plan;
  plan.batch =
      static_cast<std::size_t>(std::clamp<std::int64_t>(call.node.integer("batch_dims", 0), 0, kMaxRank));
  if (index.empty() || index.back() < 1 || plan.batch >= index.size() ||
      static_cast<std::size_t>(index.back()) + plan.batch > from.size())
    throw Problem("has indices that do not fit " + text_of(from));
  for (std::size_t i = 0; i < plan.batch; ++i) {
    if (from[i] != index[i]) throw Problem("has indices that do not fit " + text_of(from));
  }
  plan.depth = static_cast<std::size_t>(index.back());
  plan.slices = elements_between(index, 0, index.size() - 1);
  plan.inner = elements_between(from, plan.batch + plan.depth, from.size());
  return plan;
}

// Where slice `i` begins.
std::int64_t nd_offset(const Call& call, const NdPlan& plan, std::int64_t i,
                       const std::vector<std::int64_t>& strides) {
  const Tensor &in = call.in(0), &index = call.in(1);
  std::int64_t offset = 0;
  if (plan.batch > 0) {
    const std::int64_t per_batch =
        plan.slices / std::max<std::int64_t>(1, elements_between(index.shape(), 0, plan.batch));
    offset = i / per_batch * strides[plan.batch - 1];
  }
  for (std::size_t k = 0; k < plan.depth; ++k) {
    const std::int64_t at =
        index.wholes()[i * static_cast<std::int64_t>(plan.depth) + static_cast<std::int64_t>(k)];
    offset += checked_index(at, in.dim(plan.batch + k)) * strides[plan.batch + k];
  }
  return offset;
}

Types gather_nd_type(const Call& call) {
  const NdPlan plan = nd_plan(call);
  const Shape &from = call.in(0).shape(), &index = call.in(1).shape();
  Shape shape(index.begin(), index.end() - 1);
  shape.insert(shape.end(), from.begin() + static_cast<std::ptrdiff_t>(plan.batch + plan.depth), from.end());
  return {{call.in(0).kind(), shape}};
}

void run_gather_nd(const Call& call, std::span<Tensor> out) {
  const NdPlan plan = nd_plan(call);
  const std::vector<std::int64_t> strides = strides_of(call.in(0).shape());
  const auto copy = [&](const auto* from, auto* to) {
    for (std::int64_t i = 0; i < plan.slices; ++i)
      std::copy_n(from + nd_offset(call, plan, i, strides), plan.inner, to + i * plan.inner);
  };
  with_elements(copy, call.in(0), out[0]);
}

Types scatter_nd_type(const Call& call) {
  const Shape updates = gather_nd_type(call)[0].shape;  // of what they replace
  if (call.in(2).shape() != updates) throw Problem("has updates that do not fit " + text_of(updates));
  return scatter_type(call);
}

void run_scatter_nd(const Call& call, std::span<Tensor> out) {
  const NdPlan plan = nd_plan(call);
  const Tensor &in = call.in(0), &updates = call.in(2);
  const std::vector<std::int64_t> strides = strides_of(in.shape());
  const std::string how = call.node.text("reduction", "none");
  copy_all(call, out);
  const auto copy = [&](const auto* from, auto* to) {
    for (std::int64_t i = 0; i < plan.slices; ++i) {
      auto* const at = to + nd_offset(call, plan, i, strides);
      for (std::int64_t k = 0; k < plan.inner; ++k) at[k] = combined(how, at[k], from[i * plan.inner + k]);
    }
  };
  with_elements(copy, updates, out[0]);
}

// --- matrices and rows by index

// A row of `depth` elements for each index: the second value at the index, and the first elsewhere.
Types one_hot_type(const Call& call) {
  const Tensor& depth = call.data(1);
  if (depth.size() != 1 || call.in(2).shape() != Shape{2}) throw Problem("needs one depth and two values");
  Shape shape = call.in(0).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth.as<std::int64_t>(0));
  return {{call.in(2).kind(), shape}};
}
void run_one_hot(const Call& call, std::span<Tensor> out) {
  const Tensor& index = call.in(0);
  const Shape& shape = out[0].shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), shape.size());
  const std::int64_t depth = shape[axis], inner = elements_between(shape, axis + 1, shape.size());
  const auto fill = [&](const auto* values, auto* to) {
    std::fill_n(to, out[0].size(), values[0]);
    for (std::int64_t i = 0; i < index.size(); ++i) {
      const auto given = index.as<std::int64_t>(i), at = given < 0 ? given + depth : given;
      if (at >= 0 && at < depth) to[(i / inner * depth + at) * inner + i % inner] = values[1];
    }
  };
  with_elements(fill, call.in(2), out[0]);
}

// The upper or lower triangle of matrices, from a diagonal on that may be moved.
Types triangle_type(const Call& call) {
  if (call.in(0).rank() < 2) throw Problem("has an input of " + text_of(call.in(0).shape()));
  if (call.has(1) && elements_of(call.in(1).shape()) != 1) throw Problem("needs one diagonal");
  return {call.in(0).type()};
}
void run_triangle(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const bool upper = call.node.integer("upper", 1) != 0;
  const std::int64_t diagonal = call.has(1) ? call.in(1).as<std::int64_t>(0) : 0;
  const std::int64_t columns = x.shape().back(), rows = x.dim(x.rank() - 2);
  const auto keep = [&]<typename T>(const T* from, T* to) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const std::int64_t right = i % columns - i / columns % rows;  // of the first diagonal
      to[i] = (upper ? right >= diagonal : right <= diagonal) ? from[i] : T{0};
    }
  };
  with_elements(keep, x, out[0]);
}

// --- bilinear samples at places that the network computes

Types grid_sample_type(const Call& call) {
  const Shape &x = call.real(0).shape(), &grid = call.real(1).shape();
  if (x.size() != 4 || elements_of(x) == 0 || grid.size() != 4 || grid[3] != 2 || grid[0] != x[0])
    throw Problem("has a grid that does not fit " + text_of(x));
  const std::string mode = call.node.text("mode", "bilinear");
  const std::string padding = call.node.text("padding_mode", "zeros");
  if (mode != "bilinear" && mode != "linear" && mode != "nearest")
    throw Problem("has the mode '" + mode + "', which is not supported");
  if (padding != "zeros" && padding != "border")
    throw Problem("has the padding_mode '" + padding + "', which is not supported");
  return {{Kind::real, {x[0], x[1], grid[1], grid[2]}}};
}

void run_grid_sample(const Call& call, std::span<Tensor> out) {
  const Tensor &x = call.in(0), &grid = call.in(1);
  const std::int64_t plane = x.dim(2) * x.dim(3), places = grid.dim(1) * grid.dim(2), channels = x.dim(1);
  const Sampler sampler(call);
  for (std::int64_t n = 0; n < x.dim(0); ++n) {
    for (std::int64_t i = 0; i < places; ++i) {
      const nn::Sample sample = sampler.at(grid.reals() + (n * places + i) * 2);
      const float* from = x.reals() + n * channels * plane;
      float* to = out[0].reals() + n * channels * places + i;
      const auto value = [&](std::size_t k) { return sample.offset[k] < 0 ? 0.0F : from[sample.offset[k]]; };
      for (std::int64_t c = 0; c < channels; ++c, from += plane, to += places) {
        float y = sampler.is_nearest() ? value(0) : sample.weight[0] * value(0);
        for (std::size_t k = 1; k < 4 && !sampler.is_nearest(); ++k)
          y = multiply_add(sample.weight[k], value(k), y);
        *to = y;
      }
    }
  }
}

constexpr Operator kIndexOperators[] = {
    {"Gather", 2, 2, 1, gather_type, run_gather},
    {"GatherElements", 2, 2, 1, gather_elements_type, run_gather_elements},
    {"GatherND", 2, 2, 1, gather_nd_type, run_gather_nd},
    {"GridSample", 2, 2, 1, grid_sample_type, run_grid_sample},
    {"OneHot", 3, 3, 1, one_hot_type, run_one_hot},
    {"Scatter", 3, 3, 1, scatter_elements_type, run_scatter_elements},
    {"ScatterElements", 3, 3, 1, scatter_elements_type, run_scatter_elements},
    {"ScatterND", 3, 3, 1, scatter_nd_type, run_scatter_nd},
    {"Trilu", 1, 2, 1, triangle_type, run_triangle},
};

}  // namespace

std::span<const Operator> index_operators() {
  return kIndexOperators;
}

}  // namespace sightline::network
