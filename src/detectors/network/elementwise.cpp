// Operators that work element by element, with NumPy's broadcasting.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "detectors/network/broadcast.hpp"
#include "detectors/network/functions.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

Types same_type(const Call& call) {
  return {call.in(0).type()};
}
Types same_real(const Call& call) {
  return {call.real(0).type()};
}

// --- one input

// Runs `f(x)` on all elements.
template <typename F>
void map_reals(const Call& call, std::span<Tensor> out, const F& f) {
  const Tensor& x = call.real(0);
  for (std::int64_t i = 0; i < x.size(); ++i) out[0].reals()[i] = f(x.reals()[i]);
}

template <auto f>
void map_run(const Call& call, std::span<Tensor> out) {
  map_reals(call, out, f);
}

// The same on numbers of both kinds.
template <auto f>
void map_any(const Call& call, std::span<Tensor> out) {
  with_elements([&](const auto* from, auto* to) { std::transform(from, from + out[0].size(), to, f); },
                call.in(0), out[0]);
}

constexpr auto kAbsolute = [](auto x) { return x < 0 ? -x : x == 0 ? decltype(x){0} : x; };
constexpr auto kSign = [](auto x) { return x > 0 ? decltype(x){1} : x < 0 ? decltype(x){-1} : x; };
constexpr auto kNot = [](auto x) { return static_cast<decltype(x)>(x == 0); };

void run_leaky_relu(const Call& call, std::span<Tensor> out) {
  const float slope = call.node.real("alpha", 0.01F);
  map_reals(call, out, [=](float x) { return leaky_relu(x, slope); });
}
void run_elu(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1);
  map_reals(call, out, [=](float x) { return elu(x, alpha); });
}
void run_celu(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1);
  map_reals(call, out, [=](float x) { return celu(x, alpha); });
}
void run_thresholded_relu(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1);
  map_reals(call, out, [=](float x) { return thresholded_relu(x, alpha); });
}
void run_selu(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1.67326319217681884765625F);
  const float gamma = call.node.real("gamma", 1.05070102214813232421875F);
  map_reals(call, out, [=](float x) { return selu(x, alpha, gamma); });
}
void run_hard_sigmoid(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 0.2F), beta = call.node.real("beta", 0.5F);
  map_reals(call, out, [=](float x) { return hard_sigmoid(x, alpha, beta); });
}
Types truth_type(const Call& call) {
  return {{Kind::whole, call.real(0).shape()}};
}
void run_is_nan(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  for (std::int64_t i = 0; i < x.size(); ++i) out[0].wholes()[i] = std::isnan(x.reals()[i]);
}
void run_is_infinite(const Call& call, std::span<Tensor> out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool positive = call.node.integer("detect_positive", 1) != 0;
  const bool negative = call.node.integer("detect_negative", 1) != 0;
  const Tensor& x = call.in(0);
  for (std::int64_t i = 0; i < x.size(); ++i)
    out[0].wholes()[i] = (positive && x.reals()[i] == kInfinity) || (negative && x.reals()[i] == -kInfinity);
}
void run_swish(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1);
  map_reals(call, out, [=](float x) { return swish(x, alpha); });
}
void run_gelu(const Call& call, std::span<Tensor> out) {
  const bool approximate = call.node.text("approximate", "none") == "tanh";
  map_reals(call, out, approximate ? gelu_tanh : gelu);
}

// Limits are inputs from opset 11 on. Where the lower one is above the upper one, the upper one is the
// result.
void run_clip(const Call& call, std::span<Tensor> out) {
  const auto limit = [&]<typename T>(std::size_t i, std::string_view attribute, T fallback) -> T {
    if (call.has(i) && call.data(i).size() == 1) return call.in(i).as<T>(0);
    return call.node.has(attribute) ? static_cast<T>(call.node.real(attribute, 0)) : fallback;
  };
  const auto clip = [&]<typename T>(const T* from, T* to) {
    using Limits = std::numeric_limits<T>;
    const T low = limit(1, "min", Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
    const T high = limit(2, "max", Limits::has_infinity ? Limits::infinity() : Limits::max());
    for (std::int64_t i = 0; i < out[0].size(); ++i) {
      const T raised = from[i] < low ? low : from[i];
      to[i] = raised > high ? high : raised;
    }
  };
  with_elements(clip, call.in(0), out[0]);
}

// --- conversion

// Numbers of ONNX's types.
constexpr std::int64_t kOnnxFloat = 1, kOnnxUint8 = 2, kOnnxInt8 = 3, kOnnxUint16 = 4, kOnnxInt16 = 5,
                       kOnnxInt32 = 6, kOnnxInt64 = 7, kOnnxBool = 9, kOnnxHalf = 10, kOnnxDouble = 11,
                       kOnnxUint32 = 12;

// The type that a node converts to. Whole numbers of a tensor do not tell how many bits they have.
std::int64_t target_type(const Call& call) {
  if (call.node.op != "CastLike") return call.node.integer("to", 0);
  if (call.in(1).kind() != Kind::real)
    throw Problem("converts to the whole numbers of another tensor, which is not supported; use Cast");
  return kOnnxFloat;
}

Types cast_type(const Call& call) {
  const std::int64_t to = target_type(call);
  const bool real = to == kOnnxFloat || to == kOnnxHalf || to == kOnnxDouble;
  if (!real && (to < kOnnxUint8 || to > kOnnxInt64) && to != kOnnxBool && to != kOnnxUint32)
    throw Problem("converts to a type that is not supported (" + std::to_string(to) + ")");
  return {{real ? Kind::real : Kind::whole, call.in(0).shape()}};
}

// The low bits of a whole number that a type has, so that numbers out of its range wrap around.
std::int64_t wrapped(std::int64_t x, std::int64_t type) {
  switch (type) {
    case kOnnxUint8:
      return static_cast<std::uint8_t>(x);
    case kOnnxInt8:
      return static_cast<std::int8_t>(x);
    case kOnnxUint16:
      return static_cast<std::uint16_t>(x);
    case kOnnxInt16:
      return static_cast<std::int16_t>(x);
    case kOnnxUint32:
      return static_cast<std::uint32_t>(x);
    case kOnnxInt32:
      return static_cast<std::int32_t>(x);
    default:
      return x;
  }
}

// Real numbers become whole ones of 32 bits, or of 64 for the types that need them, and then wrap around.
std::int64_t converted(float x, std::int64_t type) {
  const bool is_long = type == kOnnxInt64 || type == kOnnxUint32;
  return wrapped(is_long ? truncated<std::int64_t>(x) : truncated<std::int32_t>(x), type);
}
std::int64_t converted(std::int64_t x, std::int64_t type) {
  return wrapped(x, type);
}

void run_cast(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const std::int64_t type = target_type(call);
  const auto convert = [&](const auto* from) {
    const auto to_kind = [&]<typename To>(To* to) {
      for (std::int64_t i = 0; i < x.size(); ++i) {
        if constexpr (std::is_same_v<To, float>) {
          to[i] = static_cast<float>(from[i]);
        } else {
          to[i] = type == kOnnxBool ? from[i] != 0 : converted(from[i], type);
        }
      }
    };
    with_elements(to_kind, out[0]);
  };
  with_elements(convert, x);
}

// --- two and more inputs

Types broadcast_type(const Call& call) {
  Shape shape = call.in(0).shape();
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    shape = broadcast_shape(shape, call.in(i).shape());
    if (call.in(i).kind() != call.in(0).kind()) throw Problem("mixes real and whole numbers");
  }
  return {{call.in(0).kind(), shape}};
}
Types comparison_type(const Call& call) {
  Types types = broadcast_type(call);
  types[0].kind = Kind::whole;
  return types;
}
Types power_type(const Call& call) {
  return {{call.in(0).kind(), broadcast_shape(call.in(0).shape(), call.in(1).shape())}};
}

// Runs `f(a, b)` on pairs of elements; of more than two inputs, from the first on.
template <typename F>
void fold_any(const Call& call, std::span<Tensor> out, const F& f) {
  if (call.inputs.size() == 1) return copy_all(call, out);
  for (std::size_t k = 1; k < call.inputs.size(); ++k) {
    const Tensor& first = k == 1 ? call.in(0) : out[0];
    BroadcastWalk one(out[0].shape(), first.shape()), other(out[0].shape(), call.in(k).shape());
    const auto combine = [&](const auto* a, const auto* b, auto* y) {
      for (std::int64_t i = 0; i < out[0].size(); ++i, one.next(), other.next())
        y[i] = f(a[one.offset()], b[other.offset()]);
    };
    with_elements(combine, first, call.in(k), out[0]);
  }
}
template <auto f>
void fold_run(const Call& call, std::span<Tensor> out) {
  fold_any(call, out, f);
}

// Whole numbers wrap around; a division by zero gives 0.
template <char op>
void run_arithmetic(const Call& call, std::span<Tensor> out) {
  fold_any(call, out, []<typename T>(T a, T b) -> T {
    if constexpr (std::is_same_v<T, float>) {
      return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
    } else {
      const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
      if (op == '+') return static_cast<T>(x + y);
      if (op == '-') return static_cast<T>(x - y);
      if (op == '*') return static_cast<T>(x * y);
      return b == 0 ? 0 : b == -1 ? static_cast<T>(0 - x) : a / b;
    }
  });
}

Types mean_type(const Call& call) {
  call.real(0);
  return broadcast_type(call);
}
void run_mean(const Call& call, std::span<Tensor> out) {
  run_arithmetic<'+'>(call, out);
  for (std::int64_t i = 0; i < out[0].size(); ++i)
    out[0].reals()[i] /= static_cast<float>(call.inputs.size());
}

constexpr auto kSmaller = [](auto a, auto b) { return a != a || a < b ? a : b; };
constexpr auto kLarger = [](auto a, auto b) { return a != a || a > b ? a : b; };
constexpr auto kSloped = [](auto x, auto slope) { return x < 0 ? slope * x : x; };
constexpr auto kDiffer = [](auto a, auto b) { return (a != 0) != (b != 0); };

void run_modulo(const Call& call, std::span<Tensor> out) {
  const bool as_c = call.node.integer("fmod", 0) != 0;
  fold_any(call, out, [=]<typename T>(T a, T b) -> T {
    if constexpr (std::is_same_v<T, float>) {
      return std::fmod(a, b);
    } else {
      if (b == 0 || b == -1) return 0;
      const T rest = a % b;
      return !as_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
  });
}

// A power of whole numbers, which wraps around; that of 0 with a negative exponent is 0.
std::int64_t whole_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base != 1 && base != -1) return 0;
    exponent = exponent % 2 == 0 ? 0 : 1;
  }
  std::uint64_t product = 1;
  for (auto factor = static_cast<std::uint64_t>(base); exponent > 0; exponent /= 2, factor *= factor)
    product *= exponent % 2 == 0 ? 1 : factor;
  return static_cast<std::int64_t>(product);
}

void run_power(const Call& call, std::span<Tensor> out) {
  const Tensor &a = call.in(0), &b = call.in(1);
  BroadcastWalk base(out[0].shape(), a.shape()), exponent(out[0].shape(), b.shape());
  const bool are_whole = a.kind() == Kind::whole && b.kind() == Kind::whole;
  for (std::int64_t i = 0; i < out[0].size(); ++i, base.next(), exponent.next()) {
    if (are_whole) {
      out[0].wholes()[i] = whole_power(a.wholes()[base.offset()], b.wholes()[exponent.offset()]);
      continue;
    }
    const float y = power(a.as<float>(base.offset()), b.as<float>(exponent.offset()));
    if (out[0].kind() == Kind::real) {
      out[0].reals()[i] = y;
    } else {
      out[0].wholes()[i] = truncated<std::int64_t>(y);
    }
  }
}

// Runs `f(a, b)` on pairs of elements of both kinds, with a whole number as result.
template <auto f>
void compare(const Call& call, std::span<Tensor> out) {
  BroadcastWalk first(out[0].shape(), call.in(0).shape()), second(out[0].shape(), call.in(1).shape());
  const auto run = [&](const auto* a, const auto* b) {
    for (std::int64_t i = 0; i < out[0].size(); ++i, first.next(), second.next())
      out[0].wholes()[i] = f(a[first.offset()], b[second.offset()]);
  };
  with_elements(run, call.in(0), call.in(1));
}

Types where_type(const Call& call) {
  if (call.in(0).kind() != Kind::whole || call.in(1).kind() != call.in(2).kind())
    throw Problem("has inputs of types that do not fit");
  return {{call.in(1).kind(),
           broadcast_shape(broadcast_shape(call.in(0).shape(), call.in(1).shape()), call.in(2).shape())}};
}
void run_where(const Call& call, std::span<Tensor> out) {
  const Shape& shape = out[0].shape();
  BroadcastWalk test(shape, call.in(0).shape()), yes(shape, call.in(1).shape()),
      no(shape, call.in(2).shape());
  const auto choose = [&](const auto* a, const auto* b, auto* y) {
    for (std::int64_t i = 0; i < out[0].size(); ++i, test.next(), yes.next(), no.next())
      y[i] = call.in(0).wholes()[test.offset()] != 0 ? a[yes.offset()] : b[no.offset()];
  };
  with_elements(choose, call.in(1), call.in(2), out[0]);
}

constexpr std::size_t kManyTerms = 64;

constexpr Operator kElementwise[] = {
    {"Abs", 1, 1, 1, same_type, map_any<kAbsolute>},
    {"Add", 2, 2, 1, broadcast_type, run_arithmetic<'+'>},
    {"And", 2, 2, 1, comparison_type, compare<std::logical_and<>{}>},
    {"Cast", 1, 1, 1, cast_type, run_cast},
    {"CastLike", 2, 2, 1, cast_type, run_cast},
    {"Ceil", 1, 1, 1, same_real, map_run<[](float x) { return std::ceil(x); }>},
    {"Celu", 1, 1, 1, same_real, run_celu},
    {"Clip", 1, 3, 1, same_type, run_clip},
    {"Cos", 1, 1, 1, same_real, map_run<cosine>},
    {"Div", 2, 2, 1, broadcast_type, run_arithmetic<'/'>},
    {"Dropout", 1, 3, 1, same_type, copy_all},
    {"Elu", 1, 1, 1, same_real, run_elu},
    {"Equal", 2, 2, 1, comparison_type, compare<std::equal_to<>{}>},
    {"Erf", 1, 1, 1, same_real, map_run<error_function>},
    {"Exp", 1, 1, 1, same_real, map_run<exponential>},
    {"Floor", 1, 1, 1, same_real, map_run<[](float x) { return std::floor(x); }>},
    {"Gelu", 1, 1, 1, same_real, run_gelu},
    {"Greater", 2, 2, 1, comparison_type, compare<std::greater<>{}>},
    {"GreaterOrEqual", 2, 2, 1, comparison_type, compare<std::greater_equal<>{}>},
    {"HardSigmoid", 1, 1, 1, same_real, run_hard_sigmoid},
    {"HardSwish", 1, 1, 1, same_real, map_run<hard_swish>},
    {"Identity", 1, 1, 1, same_type, copy_all},
    {"IsInf", 1, 1, 1, truth_type, run_is_infinite},
    {"IsNaN", 1, 1, 1, truth_type, run_is_nan},
    {"LeakyRelu", 1, 1, 1, same_real, run_leaky_relu},
    {"Less", 2, 2, 1, comparison_type, compare<std::less<>{}>},
    {"LessOrEqual", 2, 2, 1, comparison_type, compare<std::less_equal<>{}>},
    {"Log", 1, 1, 1, same_real, map_run<logarithm>},
    {"Max", 1, kManyTerms, 1, broadcast_type, fold_run<kLarger>},
    {"Mean", 1, kManyTerms, 1, mean_type, run_mean},
    {"Min", 1, kManyTerms, 1, broadcast_type, fold_run<kSmaller>},
    {"Mish", 1, 1, 1, same_real, map_run<mish>},
    {"Mod", 2, 2, 1, broadcast_type, run_modulo},
    {"Mul", 2, 2, 1, broadcast_type, run_arithmetic<'*'>},
    {"Neg", 1, 1, 1, same_type, map_any<[](auto x) { return -x; }>},
    {"Not", 1, 1, 1, same_type, map_any<kNot>},
    {"Or", 2, 2, 1, comparison_type, compare<std::logical_or<>{}>},
    {"PRelu", 2, 2, 1, broadcast_type, fold_run<kSloped>},
    {"Pow", 2, 2, 1, power_type, run_power},
    {"Reciprocal", 1, 1, 1, same_real, map_run<[](float x) { return 1 / x; }>},
    {"Relu", 1, 1, 1, same_real, map_run<relu>},
    {"Round", 1, 1, 1, same_real, map_run<[](float x) { return std::nearbyint(x); }>},
    {"Selu", 1, 1, 1, same_real, run_selu},
    {"Sigmoid", 1, 1, 1, same_real, map_run<sigmoid>},
    {"Sign", 1, 1, 1, same_type, map_any<kSign>},
    {"Sin", 1, 1, 1, same_real, map_run<sine>},
    {"Softplus", 1, 1, 1, same_real, map_run<softplus>},
    {"Softsign", 1, 1, 1, same_real, map_run<softsign>},
    {"Sqrt", 1, 1, 1, same_real, map_run<[](float x) { return std::sqrt(x); }>},
    {"Sub", 2, 2, 1, broadcast_type, run_arithmetic<'-'>},
    {"Sum", 1, kManyTerms, 1, broadcast_type, run_arithmetic<'+'>},
    {"Swish", 1, 1, 1, same_real, run_swish},
    {"Tanh", 1, 1, 1, same_real, map_run<hyperbolic_tangent>},
    {"ThresholdedRelu", 1, 1, 1, same_real, run_thresholded_relu},
    {"Where", 3, 3, 1, where_type, run_where},
    {"Xor", 2, 2, 1, comparison_type, compare<kDiffer>},
};

}  // namespace

std::span<const Operator> elementwise_operators() {
  return kElementwise;
}

}  // namespace sightline::network
