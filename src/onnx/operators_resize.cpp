// Resize and Upsample.
#include <algorithm>
#include <cmath>

#include "onnx/operators.hpp"

namespace sightline::nn {
namespace {

struct Resizing {
  Shape from, shape;
  std::vector<float> scales;
  bool linear = false, cubic = false;
  bool smooths = false;  // before it shrinks
  std::string coordinates = "asymmetric", rounding = "simple";

  bool keeps(std::size_t axis) const { return shape[axis] == from[axis] && scales[axis] == 1; }
};

void check_scale(float scale) {
  if (!(scale > 0 && scale < 65536)) throw Problem("has a scale out of range");
}

void take_scales(const Tensor& scales, const Axes& axes, Resizing& plan) {
  if (scales.data() != DataType::f32 || scales.size() != static_cast<std::int64_t>(axes.size()))
    throw Problem("has scales that do not fit " + text_of(plan.shape));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const float scale = plan.scales[axes[i]] = scales.as<float>()[i];
    check_scale(scale);
    std::int64_t& side = plan.shape[axes[i]];
    side = static_cast<std::int64_t>(std::floor(static_cast<float>(side) * scale));
  }
}

// Sizes, or the nearest ones of the same aspect ratio that are nowhere larger, or smaller.
void take_sizes(const Lowering& c, const Axes& axes, Resizing& plan) {
  const std::vector<std::int64_t> sizes = c.integers(3, "");
  if (sizes.size() != axes.size()) throw Problem("has sizes that do not fit " + text_of(plan.from));
  std::vector<float> scales;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    scales.push_back(static_cast<float>(sizes[i]) /
                     static_cast<float>(std::max<std::int64_t>(1, plan.from[axes[i]])));
    check_scale(scales[i]);
    plan.shape[axes[i]] = sizes[i];
    plan.scales[axes[i]] = scales[i];
  }
  const std::string policy =
      c.choice("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  if (policy == "stretch" || axes.empty()) return;
  const float scale = policy == "not_larger" ? std::ranges::min(scales) : std::ranges::max(scales);
  for (const std::size_t axis : axes) {
    plan.scales[axis] = scale;
    plan.shape[axis] = static_cast<std::int64_t>(std::round(scale * static_cast<float>(plan.from[axis])));
  }
}

// Opset 10 and Upsample have scales as the second input; Resize has them as the third, sizes as the fourth.
Resizing resizing_of(const Lowering& c) {
  Resizing plan;
  plan.from = plan.shape = c.known_shape(c.in(0));
  plan.scales.assign(plan.from.size(), 1.0F);
  const std::string mode = c.choice("mode", "nearest", {"nearest", "linear", "cubic"});
  plan.linear = mode == "linear";
  plan.cubic = mode == "cubic";
  plan.smooths = mode != "nearest" && c.is_set("antialias");
  const bool old = c.node.op == "Upsample" || c.opset() < 11;
  if (!old) {
    plan.coordinates = c.choice("coordinate_transformation_mode", "half_pixel",
                                {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric",
                                 "align_corners", "tf_half_pixel_for_nn"});
    plan.rounding = c.choice("nearest_mode", "round_prefer_floor",
                             {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  }
  // Scales and sizes are those of all axes unless the attribute says which.
  Axes axes;
  for (const std::int64_t axis : c.node.integers("axes"))
    axes.push_back(Lowering::axis(axis, plan.from.size()));
  if (axes.empty()) axes = Lowering::axes_from(0, plan.from.size());
  if (!old && c.has(3) && elements_of(c.known_shape(c.in(3))) > 0) {
    take_sizes(c, axes, plan);
  } else {
    take_scales(c.known(old ? 1 : 2), axes, plan);
  }
  if (elements_of(plan.from) == 0 || elements_of(plan.shape) == 0) throw Problem("has an empty picture");
  return plan;
}

// The place in the input of a place in the output, in single precision as in other engines: 3 / 0.6 is 5.
float source_place(const Resizing& plan, std::size_t axis, std::int64_t at) {
  const float scale = plan.scales[axis];
  const auto x = static_cast<float>(at), in = static_cast<float>(plan.from[axis]),
             out = static_cast<float>(plan.shape[axis]);
  if (scale == 1) return x;
  if (plan.coordinates == "asymmetric") return x / scale;
  if (plan.coordinates == "align_corners") return out > 1 ? x * (in - 1) / (out - 1) : 0;
  if (plan.coordinates == "tf_half_pixel_for_nn") return (x + 0.5F) / scale;
  if (plan.coordinates == "pytorch_half_pixel" && out <= 1) return 0;
  // Symmetric: what a fraction of a pixel cuts off is shared by both ends.
  const float offset = plan.coordinates == "half_pixel_symmetric" ? in / 2 * (1 - out / (scale * in)) : 0;
  return offset + (x + 0.5F) / scale - 0.5F;
}

float nearest_place(float x, float scale, const std::string& rounding) {
  if (rounding == "simple") return scale < 1 ? std::ceil(x) : std::floor(x);
  if (rounding == "floor") return std::floor(x);
  if (rounding == "ceil") return std::ceil(x);
  if (rounding == "round_prefer_ceil") return std::round(x);
  return std::ceil(x - 0.5F);  // round_prefer_floor
}

std::vector<std::int64_t> nearest_places(const Resizing& plan, std::size_t axis) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < plan.shape[axis]; ++i) {
    const float place = nearest_place(source_place(plan, axis, i), plan.scales[axis], plan.rounding);
    places.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(place), 0, plan.from[axis] - 1));
  }
  return places;
}

Taps taps_of(const Resizing& plan, std::size_t axis) {
  Taps taps;
  const std::int64_t last = plan.from[axis] - 1;
  for (std::int64_t i = 0; i < plan.shape[axis]; ++i) {
    const float place = std::clamp(source_place(plan, axis, i), 0.0F, static_cast<float>(last));
    const auto at = static_cast<std::int64_t>(place);
    taps.first.push_back(static_cast<std::int32_t>(at));
    taps.second.push_back(static_cast<std::int32_t>(std::min(at + 1, last)));
    taps.weight.push_back(place - static_cast<float>(at));
  }
  return taps;
}

// Keys' cubic function.
double cubic_weight(double distance, double a) {
  const double t = std::fabs(distance);
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? a * (((t - 5) * t + 8) * t - 4) : 0;
}

// Weights of each place of an axis (rows) in each place of the result (columns).
Tensor weights_of(const Lowering& c, const Resizing& plan, std::size_t axis) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const std::int64_t from = plan.from[axis], to = plan.shape[axis];
  if (elements_of({from, to}) > kMost) throw Problem("would need a constant of " + text_of(Shape{from, to}));
  Tensor weights(DataType::f32, {from, to});
  const auto at = [&](std::int64_t row, std::int64_t column) -> float& {
    return weights.as<float>()[static_cast<std::size_t>(row * to + column)];
  };
  std::ranges::fill(weights.as<float>(), 0.0F);
  if (plan.linear && !plan.smooths) {
    const Taps taps = taps_of(plan, axis);
    for (std::int64_t i = 0; i < to; ++i) {
      const auto k = static_cast<std::size_t>(i);
      at(taps.first[k], i) += 1 - taps.weight[k];
      at(taps.second[k], i) += taps.weight[k];
    }
    return weights;
  }
  const double a = c.real("cubic_coeff_a", -0.75F);
  const bool excludes_outside = c.is_set("exclude_outside");
  const double shrink = plan.smooths ? std::min(plan.scales[axis], 1.0F) : 1,
               radius = (plan.cubic ? 2 : 1) / shrink;
  std::vector<double> column(static_cast<std::size_t>(from));
  for (std::int64_t i = 0; i < to; ++i) {
    const double place = source_place(plan, axis, i);
    std::ranges::fill(column, 0.0);
    double sum = 0;
    for (auto k = static_cast<std::int64_t>(std::floor(place - radius)) + 1;
         static_cast<double>(k) < place + radius; ++k) {
      if (excludes_outside && (k < 0 || k >= from)) continue;
      const double distance = (static_cast<double>(k) - place) * shrink;
      const double weight = plan.cubic ? cubic_weight(distance, a) : 1 - std::fabs(distance);
      column[static_cast<std::size_t>(std::clamp<std::int64_t>(k, 0, from - 1))] += weight;
      sum += weight;
    }
    for (std::int64_t k = 0; k < from; ++k)
      at(k, i) = static_cast<float>(column[static_cast<std::size_t>(k)] / sum);
  }
  return weights;
}

// Each place of an axis by a whole factor times.
int repeated(Lowering& c, int x, std::size_t axis, std::int64_t factor) {
  Shape shape = c.shape(x);
  const auto behind = shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
  Shape split = shape, wide;
  split.insert(split.begin() + (behind - shape.begin()), 1);
  wide = split;
  wide[axis + 1] = factor;
  shape[axis] *= factor;
  return c.reshape(c.expand(c.reshape(x, split), wide), shape);
}

int resize_nearest(Lowering& c, int x, const Resizing& plan, std::size_t axis) {
  const std::vector<std::int64_t> places = nearest_places(plan, axis);
  const std::int64_t factor = plan.shape[axis] / plan.from[axis];
  bool repeats = factor > 1 && plan.shape[axis] % plan.from[axis] == 0 && plan.from.size() < kMaxRank;
  for (std::size_t i = 0; i < places.size(); ++i)
    repeats = repeats && places[i] == static_cast<std::int64_t>(i) / factor;
  return repeats ? repeated(c, x, axis, factor) : c.add(Gather{By::index, axis, 0}, {x, c.vector(places)});
}

// Rows and columns alone are mixed by Resample; other axes, and more than two taps, by matrices of weights.
Made resize(Lowering& c) {
  const Resizing plan = resizing_of(c);
  const std::size_t rank = plan.from.size();
  const bool is_picture = rank == 4 && plan.keeps(0) && plan.keeps(1);
  if (is_picture && plan.linear && !plan.smooths)
    return c.add(Resample{taps_of(plan, 2), taps_of(plan, 3)}, {c.in(0)});
  int x = c.in(0);
  for (std::size_t axis = rank; axis-- > 0;) {
    if (plan.keeps(axis)) continue;
    if (!plan.linear && !plan.cubic) {
      x = resize_nearest(c, x, plan, axis);
    } else {
      const int last = c.swap_axes(x, axis, rank - 1);
      const int matrix = rank == 1 ? c.reshape(last, {1, plan.from[0]}) : last;
      const int made = c.add(Product(), {matrix, c.constant(weights_of(c, plan, axis))});
      x = c.swap_axes(rank == 1 ? c.reshape(made, {plan.shape[0]}) : made, axis, rank - 1);
    }
  }
  return x;
}

constexpr OnnxOperator kResizes[] = {
    {"Resize", 1, 4, resize},
    {"Upsample", 1, 2, resize},
};

}  // namespace

std::span<const OnnxOperator> resize_operators() {
  return kResizes;
}

}  // namespace sightline::nn
