// Operators that order, count and choose. Equal values are taken by rising index.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "detectors/network/broadcast.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

// Rows along an axis: calls `f(first, step, place)`, where `place` counts the rows.
template <typename F>
void rows_along(const Tensor& x, std::size_t axis, const F& f) {
  const std::int64_t step = strides_of(x.shape())[axis], side = x.dim(axis);
  if (step * side == 0) return;
  for (std::int64_t block = 0; block < x.size() / (step * side); ++block) {
    for (std::int64_t i = 0; i < step; ++i) f(block * step * side + i, step, block * step + i);
  }
}

// Whether `a` stands before `b` in falling order; NaN stands first.
bool is_before(float a, float b) {
  return (a != a && b == b) || a > b;
}
bool is_before(std::int64_t a, std::int64_t b) {
  return a > b;
}

std::int64_t top_count(const Call& call) {
  const std::vector<std::int64_t> k = call.wholes(1, "");
  if (call.node.opset < 10 && !call.has(1)) return call.node.integer("k", 0);
  if (k.size() != 1) throw Problem("needs one number of elements");
  return k[0];
}

Types top_type(const Call& call) {
  Shape shape = call.in(0).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), shape.size());
  const std::int64_t count = top_count(call);
  if (count < 0 || count > shape[axis])
    throw Problem("takes " + std::to_string(count) + " of " + std::to_string(shape[axis]) + " elements");
  shape[axis] = count;
  return {{call.in(0).kind(), shape}, {Kind::whole, shape}};
}

void run_top(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), x.rank());
  const bool largest = call.node.integer("largest", 1) != 0;
  const std::int64_t side = x.dim(axis), count = out[0].dim(axis);
  std::vector<std::int64_t> order(static_cast<std::size_t>(side));
  const auto choose = [&](const auto* from, auto* to) {
    rows_along(x, axis, [&](std::int64_t first, std::int64_t step, std::int64_t place) {
      std::iota(order.begin(), order.end(), 0);
      const auto is_earlier = [&](std::int64_t i, std::int64_t k) {
        const auto a = from[first + i * step], b = from[first + k * step];
        const bool before = largest ? is_before(a, b) : is_before(b, a);
        const bool behind = largest ? is_before(b, a) : is_before(a, b);
        return before || (!behind && i < k);
      };
      std::partial_sort(order.begin(), order.begin() + count, order.end(), is_earlier);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t target = (place / step * count + i) * step + place % step;
        to[target] = from[first + order[static_cast<std::size_t>(i)] * step];
        out[1].wholes()[target] = order[static_cast<std::size_t>(i)];
      }
    });
  };
  with_elements(choose, x, out[0]);
}

Types arg_type(const Call& call) {
  Shape shape = call.in(0).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), shape.size());
  if (shape[axis] == 0) throw Problem("has nothing to choose from");
  if (call.node.integer("keepdims", 1) != 0) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return {{Kind::whole, shape}};
}

template <bool largest>
void run_arg(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::size_t axis = Call::axis(call.node.integer("axis", 0), x.rank());
  const bool takes_last = call.node.integer("select_last_index", 0) != 0;  // of equal ones
  const auto choose = [&](const auto* from) {
    rows_along(x, axis, [&](std::int64_t first, std::int64_t step, std::int64_t place) {
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < x.dim(axis); ++i) {
        const auto a = from[first + i * step], b = from[first + best * step];
        const bool is_better = largest ? is_before(a, b) : is_before(b, a);
        const bool is_worse = largest ? is_before(b, a) : is_before(a, b);
        if (is_better || (takes_last && !is_worse)) best = i;
      }
      out[0].wholes()[place] = best;
    });
  };
  with_elements(choose, x);
}

// --- NonMaxSuppression: boxes [batch, N, 4], scores [batch, classes, N]

using Chosen = std::vector<std::array<std::int64_t, 3>>;

struct Corners {
  float y1, x1, y2, x2;
};

Corners corners_of(const float* box, bool by_centre) {
  if (by_centre) return {box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2};
  return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]),
          std::max(box[1], box[3])};
}

float overlap_of(const Corners& a, const Corners& b) {
  const float height = std::max(0.0F, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  const float width = std::max(0.0F, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float both = height * width;
  const float all = (a.y2 - a.y1) * (a.x2 - a.x1) + (b.y2 - b.y1) * (b.x2 - b.x1) - both;
  return all > 0 ? both / all : 0;
}

float single(const Call& call, std::size_t i, float fallback) {
  if (!call.has(i)) return fallback;
  const Tensor& tensor = call.data(i);
  if (tensor.size() < 1) return fallback;
  return tensor.as<float>(0);
}

constexpr std::size_t kMostKept = 10'000;  // of a class: each is compared with all that follow
constexpr std::size_t kMostComparisons = std::size_t{1} << 32;  // of all classes, to end within seconds

void suppress_class(const Call& call, std::int64_t batch, std::int64_t label, Chosen& chosen,
                    std::size_t& comparisons) {
  const Tensor &boxes = call.in(0), &scores = call.in(1);
  const bool by_centre = call.node.integer("center_point_box", 0) != 0;
  const auto most = static_cast<std::size_t>(std::clamp(single(call, 2, 0), 0.0F, 1e9F));
  const float max_overlap = single(call, 3, 0),
              least = single(call, 4, -std::numeric_limits<float>::infinity());
  const std::int64_t count = boxes.dim(1);
  const float* row = scores.reals() + (batch * scores.dim(1) + label) * count;
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < count; ++i) {
    if (row[i] > least) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) { return row[a] > row[b]; });
  std::vector<Corners> kept;
  for (const std::int64_t i : order) {
    if (kept.size() >= most) break;
    comparisons += kept.size();
    if (comparisons > kMostComparisons) throw Problem("compares too many boxes");
    const Corners box = corners_of(boxes.reals() + (batch * count + i) * 4, by_centre);
    if (std::ranges::any_of(kept, [&](const Corners& one) { return overlap_of(one, box) > max_overlap; }))
      continue;
    if (kept.size() == kMostKept) throw Problem("keeps too many boxes");
    kept.push_back(box);
    chosen.push_back({batch, label, i});
  }
}

Chosen suppressed(const Call& call) {
  const Shape &boxes = call.real(0).shape(), &scores = call.real(1).shape();
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || scores[0] != boxes[0] ||
      scores[2] != boxes[1])
    throw Problem("has boxes of " + text_of(boxes) + " and scores of " + text_of(scores));
  call.data(0);
  call.data(1);
  Chosen chosen;
  std::size_t comparisons = 0;
  for (std::int64_t batch = 0; batch < scores[0]; ++batch) {
    for (std::int64_t label = 0; label < scores[1]; ++label)
      suppress_class(call, batch, label, chosen, comparisons);
  }
  return chosen;
}

Types suppression_type(const Call& call) {
  return {{Kind::whole, {static_cast<std::int64_t>(suppressed(call).size()), 3}}};
}
void run_suppression(const Call& call, std::span<Tensor> out) {
  std::int64_t* to = out[0].wholes();
  for (const auto& one : suppressed(call)) to = std::ranges::copy(one, to).out;
}

// --- NonZero

template <typename F>
void for_each_nonzero(const Tensor& x, const F& f) {
  StridedWalk places(x.shape(), std::vector<std::int64_t>(x.rank(), 0));
  for (std::int64_t i = 0; i < x.size(); ++i, places.next()) {
    if (x.as<double>(i) != 0) f(places.place());
  }
}

Types nonzero_type(const Call& call) {
  std::int64_t count = 0;
  for_each_nonzero(call.data(0), [&](const Shape&) { ++count; });
  return {{Kind::whole, {static_cast<std::int64_t>(call.in(0).rank()), count}}};
}
void run_nonzero(const Call& call, std::span<Tensor> out) {
  std::int64_t next = 0;
  for_each_nonzero(call.in(0), [&](const Shape& place) {
    for (std::size_t k = 0; k < place.size(); ++k)
      out[0].wholes()[static_cast<std::int64_t>(k) * out[0].dim(1) + next] = place[k];
    ++next;
  });
}

constexpr Operator kSelections[] = {
    {"ArgMax", 1, 1, 1, arg_type, run_arg<true>},
    {"ArgMin", 1, 1, 1, arg_type, run_arg<false>},
    {"NonMaxSuppression", 2, 5, 1, suppression_type, run_suppression},
    {"NonZero", 1, 1, 1, nonzero_type, run_nonzero},
    {"TopK", 1, 2, 2, top_type, run_top},
};

}  // namespace

std::span<const Operator> selection_operators() {
  return kSelections;
}

}  // namespace sightline::network
