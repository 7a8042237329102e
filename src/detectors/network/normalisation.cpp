// Normalisations.
#include <algorithm>
#include <cmath>
#include <vector>

#include "detectors/network/broadcast.hpp"
#include "detectors/network/functions.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

Types batch_norm_type(const Call& call) {
  const Shape& x = call.real(0).shape();
  for (std::size_t i = 1; i < 5; ++i) {
    if (x.size() < 2 || call.real(i).shape() != Shape{x[1]}) throw Problem("has parameters that do not fit");
  }
  if (call.node.integer("training_mode", 0) != 0) throw Problem("is exported for training");
  return {call.in(0).type()};
}

void run_batch_norm(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const float epsilon = call.node.real("epsilon", 1e-5F);
  const std::int64_t plane = elements_between(x.shape(), 2, x.rank());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t c = i / plane % x.dim(1);
    const float scale = call.in(1).reals()[c] / std::sqrt(call.in(4).reals()[c] + epsilon);
    out[0].reals()[i] = multiply_add(x.reals()[i] - call.in(3).reals()[c], scale, call.in(2).reals()[c]);
  }
}

// Makes the mean of a row 0 and its variance 1. Returns both.
struct Moments {
  float mean, scale;
};
Moments moments_of(const float* row, std::int64_t count, float epsilon) {
  const auto number = static_cast<float>(count);
  const float mean = tree_sum(count, [&](std::int64_t i) { return row[i]; }) / number;
  const float variance = tree_sum(count,
                                  [&](std::int64_t i) {
                                    const float d = row[i] - mean;
                                    return d * d;
                                  }) /
                         number;
  return {mean, 1.0F / std::sqrt(variance + epsilon)};
}

Types layer_norm_type(const Call& call) {
  const Shape& x = call.real(0).shape();
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), x.size());
  const Shape inner(x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.has(i) && broadcast_shape(call.real(i).shape(), inner) != inner)
      throw Problem("has parameters that do not fit");
  }
  Shape outer = x;
  std::fill(outer.begin() + static_cast<std::ptrdiff_t>(axis), outer.end(), 1);
  return {call.in(0).type(), {Kind::real, outer}, {Kind::real, outer}};
}

void run_layer_norm(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), x.rank());
  const Shape inner(x.shape().begin() + static_cast<std::ptrdiff_t>(axis), x.shape().end());
  const std::int64_t count = elements_of(inner);
  for (std::int64_t r = 0; count > 0 && r < x.size() / count; ++r) {
    const float* row = x.reals() + r * count;
    const Moments m = moments_of(row, count, call.node.real("epsilon", 1e-5F));
    out[1].reals()[r] = m.mean;
    out[2].reals()[r] = m.scale;
    BroadcastWalk scale(inner, call.in(1).shape());
    BroadcastWalk bias(inner, call.has(2) ? call.in(2).shape() : Shape{});
    for (std::int64_t i = 0; i < count; ++i, scale.next(), bias.next()) {
      const float y = (row[i] - m.mean) * m.scale * call.in(1).reals()[scale.offset()];
      out[0].reals()[r * count + i] = call.has(2) ? y + call.in(2).reals()[bias.offset()] : y;
    }
  }
}

// Without a mean: the mean of squares becomes 1.
Types rms_norm_type(const Call& call) {
  return {layer_norm_type(call).front()};
}

void run_rms_norm(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), x.rank());
  const Shape inner(x.shape().begin() + static_cast<std::ptrdiff_t>(axis), x.shape().end());
  const std::int64_t count = elements_of(inner);
  for (std::int64_t r = 0; count > 0 && r < x.size() / count; ++r) {
    const float* row = x.reals() + r * count;
    const float squares = tree_sum(count, [&](std::int64_t i) { return row[i] * row[i]; });
    const float root = std::sqrt(squares / static_cast<float>(count) + call.node.real("epsilon", 1e-5F));
    BroadcastWalk scale(inner, call.in(1).shape());
    for (std::int64_t i = 0; i < count; ++i, scale.next())
      out[0].reals()[r * count + i] = row[i] / root * call.in(1).reals()[scale.offset()];
  }
}

// The square sum of channels beside each one (AlexNet's normalisation).
Types local_norm_type(const Call& call) {
  const Shape& x = call.real(0).shape();
  const std::int64_t size = call.node.integer("size", 0);
  if (x.size() < 3 || size < 1 || size > kMaxElements)
    throw Problem("normalises " + text_of(x) + " over " + std::to_string(size) + " channels");
  return {call.in(0).type()};
}

void run_local_norm(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::int64_t size = call.node.integer("size", 1), channels = x.dim(1);
  const std::int64_t plane = elements_between(x.shape(), 2, x.rank());
  const float alpha = call.node.real("alpha", 1e-4F) / static_cast<float>(size);
  const float beta = call.node.real("beta", 0.75F), bias = call.node.real("bias", 1);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t channel = i / plane % channels;
    const std::int64_t first = std::max<std::int64_t>(0, channel - (size - 1) / 2);
    const std::int64_t last = std::min(channels - 1, channel + size / 2);
    const float* from = x.reals() + i + (first - channel) * plane;
    const float sum =
        tree_sum(last - first + 1, [&](std::int64_t k) { return from[k * plane] * from[k * plane]; });
    out[0].reals()[i] = x.reals()[i] / power(multiply_add(alpha, sum, bias), beta);
  }
}

// Groups of channels: one each for InstanceNormalization.
std::int64_t norm_groups(const Call& call) {
  return call.node.op == "InstanceNormalization" ? call.in(0).dim(1) : call.node.integer("num_groups", 0);
}

Types group_norm_type(const Call& call) {
  const Shape& x = call.real(0).shape();
  if (x.size() < 3) throw Problem("has an input of " + text_of(x));
  const std::int64_t groups = norm_groups(call);
  // Opset 18 has parameters by group, and 21 by channel.
  const bool fits = groups > 0 && x[1] % groups == 0 && call.real(1).shape() == call.real(2).shape() &&
                    (call.in(1).shape() == Shape{x[1]} || call.in(1).shape() == Shape{groups});
  if (!fits) throw Problem("has parameters that do not fit");
  return {call.in(0).type()};
}

void run_group_norm(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::int64_t groups = norm_groups(call), channels = x.dim(1);
  const std::int64_t count = x.size() / std::max<std::int64_t>(1, x.dim(0) * groups);
  const std::int64_t plane = count / std::max<std::int64_t>(1, channels / groups);
  const std::int64_t per_parameter = channels / std::max<std::int64_t>(1, call.in(1).dim(0));
  for (std::int64_t r = 0; count > 0 && r < x.size() / count; ++r) {
    const float* row = x.reals() + r * count;
    const Moments m = moments_of(row, count, call.node.real("epsilon", 1e-5F));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t channel = (r * count + i) / plane % channels;
      const std::int64_t p = channel / per_parameter;
      out[0].reals()[r * count + i] =
          multiply_add((row[i] - m.mean) * m.scale, call.in(1).reals()[p], call.in(2).reals()[p]);
    }
  }
}

constexpr Operator kNormalisations[] = {
    {"BatchNormalization", 5, 5, 1, batch_norm_type, run_batch_norm},
    {"GroupNormalization", 3, 3, 1, group_norm_type, run_group_norm},
    {"InstanceNormalization", 3, 3, 1, group_norm_type, run_group_norm},
    {"LRN", 1, 1, 1, local_norm_type, run_local_norm},
    {"LayerNormalization", 2, 3, 3, layer_norm_type, run_layer_norm},
    {"RMSNormalization", 2, 2, 1, rms_norm_type, run_rms_norm},
};

}  // namespace

std::span<const Operator> normalisation_operators() {
  return kNormalisations;
}

}  // namespace sightline::network
