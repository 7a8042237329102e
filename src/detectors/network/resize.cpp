// Pictures of other sizes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "detectors/network/functions.hpp"
#include "detectors/network/lowering.hpp"
#include "detectors/network/window.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

struct ResizePlan {
  Shape shape;
  std::vector<float> scales;
  bool linear = false, cubic = false;
  bool smooths = false;  // before it shrinks
  std::string coordinates, rounding;
};

// An attribute's value. Throws Problem unless it is one of `known`.
std::string choice(const Call& call, std::string_view attribute, std::string_view fallback,
                   std::initializer_list<std::string_view> known) {
  std::string value = call.node.text(attribute, fallback);
  if (std::ranges::find(known, value) == known.end())
    throw Problem("has the " + std::string(attribute) + " '" + value + "', which is not supported");
  return value;
}

// Axes that scales and sizes are listed for: all unless the attribute says which.
std::vector<std::size_t> resized_axes(const Call& call) {
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : call.node.integers("axes"))
    axes.push_back(Call::axis(axis, call.in(0).rank()));
  const bool lists_none = axes.empty();
  for (std::size_t i = 0; i < call.in(0).rank() && lists_none; ++i) axes.push_back(i);
  return axes;
}

void check_scale(float scale) {
  if (!(scale > 0 && scale < 65536)) throw Problem("has a scale out of range");
}

void take_scales(const Tensor& scales, const std::vector<std::size_t>& axes, ResizePlan& plan) {
  if (scales.kind() != Kind::real || scales.size() != static_cast<std::int64_t>(axes.size()))
    throw Problem("has scales that do not fit " + text_of(plan.shape));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const float scale = scales.reals()[i];
    check_scale(scale);
    std::int64_t& side = plan.shape[axes[i]];
    plan.scales[axes[i]] = scale;
    side = static_cast<std::int64_t>(std::floor(static_cast<float>(side) * scale));
  }
}

// Sizes, or the nearest ones of the same aspect ratio that are nowhere larger, or smaller.
void take_sizes(const Call& call, const std::vector<std::size_t>& axes, ResizePlan& plan) {
  const Shape from = plan.shape, sizes = call.wholes(3, "");
  if (sizes.size() != axes.size()) throw Problem("has sizes that do not fit " + text_of(from));
  std::vector<float> scales;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    scales.push_back(static_cast<float>(sizes[i]) /
                     static_cast<float>(std::max<std::int64_t>(1, from[axes[i]])));
    check_scale(scales[i]);
    plan.shape[axes[i]] = sizes[i];
    plan.scales[axes[i]] = scales[i];
  }
  const std::string policy =
      choice(call, "keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  if (policy == "stretch" || axes.empty()) return;
  const float scale = policy == "not_larger" ? std::ranges::min(scales) : std::ranges::max(scales);
  for (const std::size_t axis : axes) {
    plan.scales[axis] = scale;
    plan.shape[axis] = static_cast<std::int64_t>(std::round(scale * static_cast<float>(from[axis])));
  }
}

// Opset 10 and Upsample have scales as the second input; Resize has them as the third, sizes as the fourth.
ResizePlan resize_plan(const Call& call) {
  const Shape& from = call.real(0).shape();
  ResizePlan plan;
  plan.shape = from;
  plan.scales.assign(from.size(), 1.0F);
  plan.coordinates = "asymmetric";
  plan.rounding = "simple";
  const std::string mode = choice(call, "mode", "nearest", {"nearest", "linear", "cubic"});
  plan.linear = mode == "linear";
  plan.cubic = mode == "cubic";
  plan.smooths = (plan.linear || plan.cubic) && call.node.integer("antialias", 0) != 0;
  const bool old = call.node.op == "Upsample" || call.node.opset < 11;
  if (!old) {
    plan.coordinates = choice(call, "coordinate_transformation_mode", "half_pixel",
                              {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric",
                               "align_corners", "tf_half_pixel_for_nn"});
    plan.rounding = choice(call, "nearest_mode", "round_prefer_floor",
                           {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  }
  const std::vector<std::size_t> axes = resized_axes(call);
  if (!old && call.has(3) && elements_of(call.in(3).shape()) > 0) {
    take_sizes(call, axes, plan);
  } else {
    take_scales(call.data(old ? 1 : 2), axes, plan);
  }
  if (elements_of(from) == 0 || elements_of(plan.shape) == 0) throw Problem("has an empty picture");
  return plan;
}

// Whether rows and columns of pictures alone are resized, by two places at most. A scale that keeps the
// number of channels would still mix them.
bool resizes_pictures(const Call& call, const ResizePlan& plan) {
  const Shape& from = call.in(0).shape();
  return from.size() == 4 && plan.shape[0] == from[0] && plan.shape[1] == from[1] && plan.scales[0] == 1 &&
         plan.scales[1] == 1 && !plan.cubic && !plan.smooths;
}

ResizePlan picture_plan(const Call& call) {
  ResizePlan plan = resize_plan(call);
  if (!resizes_pictures(call, plan))
    throw Problem("resizes " + text_of(call.in(0).shape()) + " to " + text_of(plan.shape) +
                  ", not only rows and columns of a picture, or not by nearest or linear places, which is "
                  "supported only for sizes that are known when the network is loaded");
  return plan;
}

Types resize_type(const Call& call) {
  return {{Kind::real, picture_plan(call).shape}};
}

// The place in the input of a place in the output, in single precision as in other engines: 3 / 0.6 is 5.
float source_place(std::int64_t at, std::int64_t from, std::int64_t to, float scale,
                   const std::string& coordinates) {
  const auto x = static_cast<float>(at), in = static_cast<float>(from), out = static_cast<float>(to);
  if (coordinates == "asymmetric") return x / scale;
  if (coordinates == "align_corners") return to > 1 ? x * (in - 1) / (out - 1) : 0;
  if (coordinates == "tf_half_pixel_for_nn") return (x + 0.5F) / scale;
  if (coordinates == "pytorch_half_pixel" && to <= 1) return 0;
  // Symmetric: what a fraction of a pixel cuts off is shared by both ends.
  const float offset = coordinates == "half_pixel_symmetric" ? in / 2 * (1 - out / (scale * in)) : 0;
  return offset + (x + 0.5F) / scale - 0.5F;
}

std::int64_t nearest_place(float x, float scale, const std::string& rounding) {
  if (rounding == "simple") return static_cast<std::int64_t>(scale < 1 ? std::ceil(x) : std::floor(x));
  if (rounding == "floor") return static_cast<std::int64_t>(std::floor(x));
  if (rounding == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  if (rounding == "round_prefer_ceil") return static_cast<std::int64_t>(std::round(x));
  return static_cast<std::int64_t>(std::ceil(x - 0.5F));  // round_prefer_floor
}

ResizeAxis axis_of(const Call& call, const ResizePlan& plan, std::size_t axis) {
  const std::int64_t from = call.in(0).dim(axis), to = plan.shape[axis];
  const float scale = plan.scales[axis];
  ResizeAxis result;
  for (std::int64_t i = 0; i < to; ++i) {
    const float x = scale == 1 ? static_cast<float>(i) : source_place(i, from, to, scale, plan.coordinates);
    if (!plan.linear) {
      const std::int64_t at = std::clamp<std::int64_t>(nearest_place(x, scale, plan.rounding), 0, from - 1);
      result.first.push_back(static_cast<std::int32_t>(at));
      result.second.push_back(static_cast<std::int32_t>(at));
      result.weight.push_back(0);
      continue;
    }
    const float place = std::clamp(x, 0.0F, static_cast<float>(from - 1));
    const auto at = static_cast<std::int64_t>(place);
    result.first.push_back(static_cast<std::int32_t>(at));
    result.second.push_back(static_cast<std::int32_t>(std::min(at + 1, from - 1)));
    result.weight.push_back(place - static_cast<float>(at));
  }
  return result;
}

// Linear: mixes of columns are mixed by rows, each as a + (b - a) w with one rounding of the product's sum.
void run_resize(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const ResizePlan plan = picture_plan(call);
  const ResizeAxis rows = axis_of(call, plan, 2), columns = axis_of(call, plan, 3);
  const auto mix = [](float a, float b, float w) { return multiply_add(b - a, w, a); };
  float* to = out[0].reals();
  for (std::int64_t p = 0; p < x.dim(0) * x.dim(1); ++p) {
    const float* plane = x.reals() + p * x.dim(2) * x.dim(3);
    for (std::size_t r = 0; r < rows.first.size(); ++r) {
      const float *upper = plane + rows.first[r] * x.dim(3), *lower = plane + rows.second[r] * x.dim(3);
      for (std::size_t c = 0; c < columns.first.size(); ++c) {
        const std::int64_t left = columns.first[c], right = columns.second[c];
        if (!plan.linear) {
          *to++ = upper[left];
          continue;
        }
        const float w = columns.weight[c];
        *to++ = mix(mix(upper[left], upper[right], w), mix(lower[left], lower[right], w), rows.weight[r]);
      }
    }
  }
}

// --- other kinds: each axis is multiplied by a matrix of weights

// Keys' cubic function.
double cubic_weight(double distance, double a) {
  const double t = std::fabs(distance);
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? a * (((t - 5) * t + 8) * t - 4) : 0;
}

// Weights of each place of an axis (rows) in each place of the result (columns).
Tensor axis_weights(const Call& call, const ResizePlan& plan, std::size_t axis) {
  const std::int64_t from = call.in(0).dim(axis), to = plan.shape[axis];
  Tensor weights = constant_of({from, to});
  std::fill_n(weights.reals(), weights.size(), 0.0F);
  if (!plan.cubic && !plan.smooths) {
    const ResizeAxis mix = axis_of(call, plan, axis);
    for (std::int64_t i = 0; i < to; ++i) {
      const auto k = static_cast<std::size_t>(i);
      weights.reals()[mix.first[k] * to + i] += 1 - mix.weight[k];
      weights.reals()[mix.second[k] * to + i] += mix.weight[k];
    }
    return weights;
  }
  const double a = call.node.real("cubic_coeff_a", -0.75F);
  const bool excludes_outside = call.node.integer("exclude_outside", 0) != 0;
  const float scale = plan.scales[axis];
  const double shrink = plan.smooths ? std::min(scale, 1.0F) : 1, radius = (plan.cubic ? 2 : 1) / shrink;
  std::vector<double> column(static_cast<std::size_t>(from));
  for (std::int64_t i = 0; i < to; ++i) {
    const double place =
        scale == 1 ? static_cast<double>(i) : source_place(i, from, to, scale, plan.coordinates);
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
      weights.reals()[k * to + i] = static_cast<float>(column[static_cast<std::size_t>(k)] / sum);
  }
  return weights;
}

std::optional<Graph> lower_resize(const Call& call) {
  const ResizePlan plan = resize_plan(call);
  if (resizes_pictures(call, plan)) return {};
  const Shape& from = call.in(0).shape();
  Lowering body(call);
  int x = body.input(0);
  for (std::size_t axis = from.size(); axis-- > 0;) {
    if (plan.shape[axis] == from[axis] && plan.scales[axis] == 1) continue;
    if (!plan.linear && !plan.cubic) {
      const ResizeAxis places = axis_of(call, plan, axis);
      x = body.add("Gather", {x, body.wholes({places.first.begin(), places.first.end()})},
                   {{"axis", static_cast<std::int64_t>(axis)}});
      continue;
    }
    std::vector<std::int64_t> order(from.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[axis], order.back());
    const bool is_last = axis + 1 == from.size();
    if (!is_last) x = body.add("Transpose", {x}, {{"perm", order}});
    x = body.add("MatMul", {x, body.constant(axis_weights(call, plan, axis))});
    if (!is_last) x = body.add("Transpose", {x}, {{"perm", order}});
  }
  return body.done(x);
}

constexpr Operator kResizing[] = {
    {"Resize", 1, 4, 1, resize_type, run_resize, lower_resize},
    {"Upsample", 1, 2, 1, resize_type, run_resize, lower_resize},
};

}  // namespace

ResizeAxis resize_axis(const Call& call, std::size_t axis) {
  return axis_of(call, picture_plan(call), axis);
}

std::span<const Operator> resize_operators() {
  return kResizing;
}

}  // namespace sightline::network
