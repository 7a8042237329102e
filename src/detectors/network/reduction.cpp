// Sums, means and softmax.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "detectors/network/broadcast.hpp"
#include "detectors/network/functions.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

// --- reductions

std::vector<bool> reduced_axes(const Call& call) {
  const std::size_t rank = call.in(0).rank();
  const std::vector<std::int64_t> axes = call.wholes(1, "axes");
  const bool none = axes.empty() && call.node.integer("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(rank, axes.empty() && !none);
  for (const std::int64_t axis : axes) reduced[Call::axis(axis, rank)] = true;
  return reduced;
}

Types reduce_type(const Call& call) {
  const std::vector<bool> reduced = reduced_axes(call);
  const bool keeps = call.node.integer("keepdims", 1) != 0;
  Shape shape;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i] || keeps) shape.push_back(reduced[i] ? 1 : call.in(0).dim(i));
  }
  return {{call.in(0).kind(), shape}};
}

// Of functions that whole numbers do not have.
Types reduce_real_type(const Call& call) {
  call.real(0);
  return reduce_type(call);
}

// The places that are added up, in row-major order, as offsets from the first one.
std::vector<std::int64_t> reduced_offsets(const Tensor& x, const std::vector<bool>& reduced) {
  const std::vector<std::int64_t> strides = strides_of(x.shape());
  Shape shape;
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) continue;
    shape.push_back(x.dim(i));
    steps.push_back(strides[i]);
  }
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(elements_of(shape)));
  StridedWalk walk(shape, steps);
  for (std::int64_t& one : offsets) {
    one = walk.offset();
    walk.next();
  }
  return offsets;
}

// Calls `f(first, offsets)` for each output, where `first` is its first element of the input.
template <typename F>
void for_each_reduced(const Call& call, const F& f) {
  const Tensor& x = call.in(0);
  const std::vector<bool> reduced = reduced_axes(call);
  const std::vector<std::int64_t> offsets = reduced_offsets(x, reduced);
  std::vector<std::int64_t> steps = strides_of(x.shape());
  Shape shape = x.shape();
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) shape[i] = 1;
  }
  const std::int64_t count = elements_of(shape);
  StridedWalk walk(shape, steps);
  for (std::int64_t i = 0; i < count; ++i, walk.next()) f(i, walk.offset(), offsets);
}

enum class Reduction { sum, mean, largest, smallest, product, l1, l2, squares, log_sum, log_sum_exp };

float reduced_float(Reduction kind, const float* first, const std::vector<std::int64_t>& offsets) {
  const auto count = static_cast<std::int64_t>(offsets.size());
  const auto at = [&](std::int64_t i) { return first[offsets[static_cast<std::size_t>(i)]]; };
  const auto extreme = [&](auto is_better) {
    float best = is_better(1.0F, 0.0F) ? -std::numeric_limits<float>::infinity()
                                       : std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < count; ++i) best = best != best || is_better(best, at(i)) ? best : at(i);
    return best;
  };
  switch (kind) {
    case Reduction::sum:
      return tree_sum(count, at);
    case Reduction::mean:
      return tree_sum(count, at) / static_cast<float>(count);
    case Reduction::largest:
      return extreme([](float a, float b) { return a > b; });
    case Reduction::smallest:
      return extreme([](float a, float b) { return a < b; });
    case Reduction::product: {
      float all = 1;
      for (std::int64_t i = 0; i < count; ++i) all *= at(i);
      return all;
    }
    case Reduction::l1:
      return tree_sum(count, [&](std::int64_t i) { return std::fabs(at(i)); });
    case Reduction::l2:
      return std::sqrt(reduced_float(Reduction::squares, first, offsets));
    case Reduction::squares:
      return tree_sum(count, [&](std::int64_t i) { return at(i) * at(i); });
    case Reduction::log_sum:
      return logarithm(tree_sum(count, at));
    case Reduction::log_sum_exp: {
      const float largest = extreme([](float a, float b) { return a > b; });
      return largest +
             logarithm(tree_sum(count, [&](std::int64_t i) { return exponential(at(i) - largest); }));
    }
  }
  return 0;
}

std::int64_t reduced_whole(Reduction kind, const std::int64_t* first,
                           const std::vector<std::int64_t>& offsets) {
  std::uint64_t sum = 0, product = 1, absolute = 0, squares = 0;
  std::int64_t largest = std::numeric_limits<std::int64_t>::min(),
               smallest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t offset : offsets) {
    const std::int64_t one = first[offset];
    const auto bits = static_cast<std::uint64_t>(one);
    sum += bits;
    product *= bits;
    absolute += one < 0 ? 0 - bits : bits;
    squares += bits * bits;
    largest = std::max(largest, one);
    smallest = std::min(smallest, one);
  }
  switch (kind) {
    case Reduction::sum:
      return static_cast<std::int64_t>(sum);
    case Reduction::largest:
      return largest;
    case Reduction::smallest:
      return smallest;
    case Reduction::product:
      return static_cast<std::int64_t>(product);
    case Reduction::l1:
      return static_cast<std::int64_t>(absolute);
    case Reduction::squares:
      return static_cast<std::int64_t>(squares);
    case Reduction::mean:
      return static_cast<std::int64_t>(sum) /
             std::max<std::int64_t>(1, static_cast<std::int64_t>(offsets.size()));
    case Reduction::l2:
    case Reduction::log_sum:
    case Reduction::log_sum_exp:
      break;  // of real numbers alone
  }
  return 0;
}

template <Reduction kind>
void run_reduce(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  for_each_reduced(call, [&](std::int64_t i, std::int64_t first, const std::vector<std::int64_t>& offsets) {
    if (x.kind() == Kind::real) {
      out[0].reals()[i] = reduced_float(kind, x.reals() + first, offsets);
    } else {
      out[0].wholes()[i] = reduced_whole(kind, x.wholes() + first, offsets);
    }
  });
}

// --- along one axis

// Calls `f(from, to, step, count)` for each row along an axis.
template <typename F>
void for_each_row(const Tensor& x, float* out, std::size_t begin, std::size_t end, const F& f) {
  const std::int64_t step = elements_between(x.shape(), end, x.rank()),
                     count = elements_between(x.shape(), begin, end);
  if (step * count == 0) return;
  for (std::int64_t block = 0; block < x.size() / (step * count); ++block) {
    for (std::int64_t i = 0; i < step; ++i) {
      const std::int64_t offset = block * step * count + i;
      f(x.reals() + offset, out + offset, step, count);
    }
  }
}

Types real_type(const Call& call) {
  return {call.real(0).type()};
}

// Axes that softmax works on: one from opset 13 on, all from one on before.
std::pair<std::size_t, std::size_t> softmax_axes(const Call& call) {
  const std::size_t rank = call.in(0).rank();
  const std::size_t axis = Call::axis(call.node.integer("axis", call.node.opset >= 13 ? -1 : 1), rank);
  return {axis, call.node.opset >= 13 ? axis + 1 : rank};
}

Types softmax_type(const Call& call) {
  softmax_axes(call);
  return real_type(call);
}

template <bool as_logarithm>
void run_softmax(const Call& call, std::span<Tensor> out) {
  const auto [begin, end] = softmax_axes(call);
  const auto row = [](const float* from, float* to, std::int64_t step, std::int64_t count) {
    float largest = from[0];
    for (std::int64_t i = 1; i < count; ++i) largest = greater(from[i * step], largest);
    for (std::int64_t i = 0; i < count; ++i) to[i * step] = exponential(from[i * step] - largest);
    const float sum = tree_sum(count, [&](std::int64_t i) { return to[i * step]; });
    const float log_sum = as_logarithm ? logarithm(sum) : 0;
    for (std::int64_t i = 0; i < count; ++i)
      to[i * step] = as_logarithm ? from[i * step] - largest - log_sum : to[i * step] / sum;
  };
  for_each_row(call.in(0), out[0].reals(), begin, end, row);
}

// 1 for the first of the largest numbers, and 0 for the others.
void run_hardmax(const Call& call, std::span<Tensor> out) {
  const auto [begin, end] = softmax_axes(call);
  const auto row = [](const float* from, float* to, std::int64_t step, std::int64_t count) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < count; ++i) best = from[i * step] > from[best * step] ? i : best;
    for (std::int64_t i = 0; i < count; ++i) to[i * step] = i == best ? 1.0F : 0.0F;
  };
  for_each_row(call.in(0), out[0].reals(), begin, end, row);
}

Types cumulative_type(const Call& call) {
  const Tensor& axis = call.data(1);
  if (axis.kind() != Kind::whole || axis.size() != 1) throw Problem("needs one axis");
  Call::axis(axis.wholes()[0], call.in(0).rank());
  return {call.in(0).type()};
}

void run_cumulative(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::size_t axis = Call::axis(call.in(1).wholes()[0], x.rank());
  const std::int64_t step = strides_of(x.shape())[axis], side = x.dim(axis);
  const bool from_end = call.node.integer("reverse", 0) != 0;
  const bool without_own = call.node.integer("exclusive", 0) != 0;
  const auto add = [&]<typename T>(const T* from, T* to) {
    for (std::int64_t k = 0; k < x.size(); ++k) {
      const std::int64_t i = from_end ? x.size() - 1 - k : k, before = from_end ? i + step : i - step;
      const bool is_first = i / step % side == (from_end ? side - 1 : 0);
      const T sum = is_first ? T{0} : to[before];
      to[i] = !without_own ? from[i] + sum : is_first ? sum : from[before] + sum;
    }
  };
  with_elements(add, x, out[0]);
}

constexpr Operator kReductions[] = {
    {"CumSum", 2, 2, 1, cumulative_type, run_cumulative},
    {"Hardmax", 1, 1, 1, softmax_type, run_hardmax},
    {"LogSoftmax", 1, 1, 1, softmax_type, run_softmax<true>},
    {"ReduceL1", 1, 2, 1, reduce_type, run_reduce<Reduction::l1>},
    {"ReduceL2", 1, 2, 1, reduce_real_type, run_reduce<Reduction::l2>},
    {"ReduceLogSum", 1, 2, 1, reduce_real_type, run_reduce<Reduction::log_sum>},
    {"ReduceLogSumExp", 1, 2, 1, reduce_real_type, run_reduce<Reduction::log_sum_exp>},
    {"ReduceMax", 1, 2, 1, reduce_type, run_reduce<Reduction::largest>},
    {"ReduceMean", 1, 2, 1, reduce_type, run_reduce<Reduction::mean>},
    {"ReduceMin", 1, 2, 1, reduce_type, run_reduce<Reduction::smallest>},
    {"ReduceProd", 1, 2, 1, reduce_type, run_reduce<Reduction::product>},
    {"ReduceSum", 1, 2, 1, reduce_type, run_reduce<Reduction::sum>},
    {"ReduceSumSquare", 1, 2, 1, reduce_type, run_reduce<Reduction::squares>},
    {"Softmax", 1, 1, 1, softmax_type, run_softmax<false>},
};

}  // namespace

std::span<const Operator> reduction_operators() {
  return kReductions;
}

}  // namespace sightline::network
