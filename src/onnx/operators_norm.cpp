// Normalisations.
#include <algorithm>

#include "onnx/operators.hpp"

namespace sightline::nn {
namespace {

// The mean along axes, and what makes the variance 1.
struct Moments {
  int mean, scale;
};
Moments moments_of(Lowering& c, int x, const Axes& axes) {
  const float epsilon = c.real("epsilon", 1e-5F);
  const int mean = c.mean(x, axes);
  const int squares = c.map([](const Term& a, const Term& b) { return (a - b) * (a - b); }, x, mean);
  const auto inverse = [=](const Term& variance) {
    return 1 / Term::call(Function::square_root, {variance + epsilon});
  };
  return {mean, c.map(inverse, c.mean(squares, axes))};
}
int with_moments(Lowering& c, int x, const Moments& moments) {
  return c.map([](const Term& a, const Term& mean, const Term& scale) { return (a - mean) * scale; }, x,
               moments.mean, moments.scale);
}
int multiply_add(Lowering& c, int x, int scale, int bias) {
  return c.map(Function::multiply_add, {x, scale, bias});
}

// A result with parameters that must not make it larger.
int with_shape_of(Lowering& c, int made, int x) {
  if (c.shape(made) != c.shape(x)) throw Problem("has parameters that do not fit");
  return made;
}

Made normalise_batch(Lowering& c) {
  const int x = c.in(0);
  const Shape shape = c.shape(x);
  if (c.is_set("training_mode")) throw Problem("is exported for training");
  const auto by_channel = [&](std::size_t i) {
    if (shape.size() < 2 || c.shape(c.in(i)) != Shape{shape[1]})
      throw Problem("has parameters that do not fit");
    return c.along(c.in(i), 1, shape.size());
  };
  const float epsilon = c.real("epsilon", 1e-5F);
  const auto factor = [=](const Term& scale, const Term& variance) {
    return scale / Term::call(Function::square_root, {variance + epsilon});
  };
  const auto moved = [](const Term& a, const Term& mean, const Term& scale, const Term& bias) {
    return Term::call(Function::multiply_add, {a - mean, scale, bias});
  };
  return c.map(moved, x, by_channel(3), c.map(factor, by_channel(1), by_channel(4)), by_channel(2));
}

Axes normalised_axes(const Lowering& c) {
  return Lowering::axes_from(c.axis(-1), c.rank(c.in(0)));
}

Made normalise_layer(Lowering& c) {
  const int x = c.in(0);
  const Moments moments = moments_of(c, x, normalised_axes(c));
  int made = c.map(Function::multiply, {with_moments(c, x, moments), c.in(1)});
  if (c.has(2)) made = c.map(Function::add, {made, c.in(2)});
  return std::vector{with_shape_of(c, made, x), moments.mean, moments.scale};
}

// Without a mean: the mean of squares becomes 1.
Made normalise_squares(Lowering& c) {
  const int x = c.in(0);
  const int squares = c.map([](const Term& a) { return a * a; }, x);
  const float epsilon = c.real("epsilon", 1e-5F);
  const auto part = [=](const Term& a, const Term& mean, const Term& scale) {
    return a / Term::call(Function::square_root, {mean + epsilon}) * scale;
  };
  return with_shape_of(c, c.map(part, x, c.mean(squares, normalised_axes(c)), c.in(1)), x);
}

// Parameters are by group (GroupNormalization of opset 18) or by channel.
Made normalise_groups(Lowering& c, std::int64_t groups) {
  const int x = c.in(0);
  const Shape shape = c.known_shape(x), parameters = c.shape(c.in(1));
  if (shape.size() < 3) throw Problem("has an input of " + text_of(shape));
  const bool fits = groups > 0 && shape[1] % groups == 0 && c.shape(c.in(2)) == parameters &&
                    (parameters == Shape{shape[1]} || parameters == Shape{groups});
  if (!fits) throw Problem("has parameters that do not fit");
  const std::int64_t all = elements_of(shape);
  if (all == 0) return x;
  const int grouped = c.reshape(x, {shape[0], groups, all / (shape[0] * groups)});
  const int made = with_moments(c, grouped, moments_of(c, grouped, {2}));
  const int parts = c.reshape(made, {shape[0], parameters[0], all / (shape[0] * parameters[0])});
  return c.reshape(multiply_add(c, parts, c.along(c.in(1), 1, 3), c.along(c.in(2), 1, 3)), shape);
}

// The square sum of channels beside each one (AlexNet's normalisation). The channels of each window begin
// with the first one that is there; what is missing behind is 0.
Made normalise_channels(Lowering& c) {
  const int x = c.in(0);
  const Shape shape = c.known_shape(x);
  const std::int64_t size = c.node.integer("size", 0);
  if (shape.size() < 3 || shape.size() >= kMaxRank || size < 1 || size > kMaxElements)
    throw Problem("normalises " + text_of(shape) + " over " + std::to_string(size) + " channels");
  const std::int64_t channels = shape[1], most = std::min(size, channels);
  Tensor places(DataType::i64, {channels, most});
  auto next = places.as<std::int64_t>().begin();
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const std::int64_t first = std::max<std::int64_t>(0, channel - (size - 1) / 2);
    for (std::int64_t i = 0; i < most; ++i)
      *next++ = first + i <= channel + size / 2 ? std::min(first + i, channels) : channels;
  }
  Pad zero{Shape(shape.size(), 0), Shape(shape.size(), 0), Padding::constant, 0.0F};
  zero.behind[1] = 1;
  const int squares = c.add(zero, {c.map([](const Term& a) { return a * a; }, x)});
  const int windows = c.add(Gather{By::index, 1, 0}, {squares, c.constant(std::move(places))});
  const int sums = c.reshape(c.reduce(Fold::sum, windows, {2}), shape);
  const float alpha = c.real("alpha", 1e-4F) / static_cast<float>(size);
  const float beta = c.real("beta", 0.75F), bias = c.real("bias", 1);
  const auto part = [=](const Term& a, const Term& sum) {
    return a / Term::call(Function::power, {Term::call(Function::multiply_add, {alpha, sum, bias}), beta});
  };
  return c.map(part, x, sums);
}

constexpr OnnxOperator kNorms[] = {
    {"BatchNormalization", 5, 5, normalise_batch, 5},
    {"GroupNormalization", 3, 3,
     [](Lowering& c) { return normalise_groups(c, c.node.integer("num_groups", 0)); }},
    {"InstanceNormalization", 3, 3,
     [](Lowering& c) { return normalise_groups(c, c.rank(c.in(0)) > 1 ? c.shape(c.in(0))[1] : 0); }},
    {"LRN", 1, 1, normalise_channels},
    {"LayerNormalization", 2, 3, normalise_layer, 3},
    {"RMSNormalization", 2, 2, normalise_squares},
};

}  // namespace

std::span<const OnnxOperator> norm_operators() {
  return kNorms;
}

}  // namespace sightline::nn
