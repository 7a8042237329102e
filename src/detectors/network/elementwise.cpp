// Operators that work element by element, with NumPy's broadcasting.
#include <algorithm>
#include <cmath>
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

template <float (*f)(float)>
void map_run(const Call& call, std::span<Tensor> out) {
  map_reals(call, out, f);
}

// For numbers of both kinds.
template <typename F>
void map_any(const Call& call, std::span<Tensor> out, const F& f) {
  const Tensor& x = call.in(0);
  if (x.kind() == Kind::real) return map_reals(call, out, f);
  for (std::int64_t i = 0; i < x.size(); ++i) out[0].wholes()[i] = f(x.wholes()[i]);
}

float relu(float x) {
  return x < 0 ? 0 : x;
}
float square_root(float x) {
  return std::sqrt(x);
}
float one_over(float x) {
  return 1 / x;
}
float rounded_down(float x) {
  return std::floor(x);
}
float rounded_up(float x) {
  return std::ceil(x);
}
float rounded(float x) {
  return std::nearbyint(x);
}
// log(1 + e^x)
float softplus(float x) {
  return relu(x) + logarithm(1.0F + exponential(-std::fabs(x)));
}
float softsign(float x) {
  return x / (1.0F + std::fabs(x));
}
float mish(float x) {
  return x * hyperbolic_tangent(softplus(x));
}
float hard_sigmoid_of(float x, float alpha, float beta) {
  const float y = multiply_add(alpha, x, beta);
  return y < 0 ? 0 : (y > 1 ? 1 : y);
}
float hard_swish(float x) {
  return x * hard_sigmoid_of(x, 1.0F / 6, 0.5F);
}

void run_negate(const Call& call, std::span<Tensor> out) {
  map_any(call, out, [](auto x) { return -x; });
}
void run_absolute(const Call& call, std::span<Tensor> out) {
  map_any(call, out, [](auto x) { return x < 0 ? -x : x == 0 ? decltype(x){0} : x; });
}
void run_sign(const Call& call, std::span<Tensor> out) {
  map_any(call, out, [](auto x) -> decltype(x) {
    using T = decltype(x);
    return x > 0 ? T{1} : x < 0 ? T{-1} : x;
  });
}
void run_not(const Call& call, std::span<Tensor> out) {
  map_any(call, out, [](auto x) { return static_cast<decltype(x)>(x == 0); });
}
void run_leaky_relu(const Call& call, std::span<Tensor> out) {
  const float slope = call.node.real("alpha", 0.01F);
  map_reals(call, out, [=](float x) { return x < 0 ? slope * x : x; });
}
void run_elu(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1);
  map_reals(call, out, [=](float x) { return x < 0 ? alpha * (exponential(x) - 1) : x; });
}
void run_selu(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1.67326319217681884765625F);
  const float gamma = call.node.real("gamma", 1.05070102214813232421875F);
  map_reals(call, out, [=](float x) { return gamma * (x > 0 ? x : alpha * (exponential(x) - 1)); });
}
void run_hard_sigmoid(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 0.2F), beta = call.node.real("beta", 0.5F);
  map_reals(call, out, [=](float x) { return hard_sigmoid_of(x, alpha, beta); });
}
Types truth_type(const Call& call) {
  return {{Kind::whole, call.real(0).shape()}};
}
void run_is_nan(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  for (std::int64_t i = 0; i < x.size(); ++i) out[0].wholes()[i] = std::isnan(x.reals()[i]);
}
void run_swish(const Call& call, std::span<Tensor> out) {
  const float alpha = call.node.real("alpha", 1);
  map_reals(call, out, [=](float x) { return x * sigmoid(alpha * x); });
}
void run_gelu(const Call& call, std::span<Tensor> out) {
  const bool approximate = call.node.text("approximate", "none") == "tanh";
  map_reals(call, out, [=](float x) {
    constexpr float kRootHalf = 0.707106781F, kRootTwoOverPi = 0.797884561F;
    const float inner = approximate
                            ? hyperbolic_tangent(kRootTwoOverPi * multiply_add(0.044715F * x, x * x, x))
                            : error_function(x * kRootHalf);
    return 0.5F * x * (1.0F + inner);
  });
}

// Limits are inputs from opset 11 on.
void run_clip(const Call& call, std::span<Tensor> out) {
  const auto limit = [&]<typename T>(std::size_t i, std::string_view attribute, T fallback) -> T {
    if (call.has(i) && call.data(i).size() == 1)
      return call.in(i).kind() == Kind::real ? static_cast<T>(call.in(i).reals()[0])
                                             : static_cast<T>(call.in(i).wholes()[0]);
    return call.node.has(attribute) ? static_cast<T>(call.node.real(attribute, 0)) : fallback;
  };
  const auto clip = [&]<typename T>(T) {
    const T low = limit(1, "min", std::numeric_limits<T>::lowest());
    const T high = limit(2, "max", std::numeric_limits<T>::max());
    return [=](T x) { return x < low ? low : x > high ? high : x; };
  };
  // Without a limit, infinity stays.
  if (call.in(0).kind() == Kind::real) {
    const bool low = call.has(1) || call.node.has("min"), high = call.has(2) || call.node.has("max");
    const float smallest = low ? limit(1, "min", 0.0F) : -std::numeric_limits<float>::infinity();
    const float largest = high ? limit(2, "max", 0.0F) : std::numeric_limits<float>::infinity();
    map_reals(call, out, [=](float x) { return x < smallest ? smallest : x > largest ? largest : x; });
  } else {
    const auto f = clip(std::int64_t{});
    const Tensor& x = call.in(0);
    for (std::int64_t i = 0; i < x.size(); ++i) out[0].wholes()[i] = f(x.wholes()[i]);
  }
}

void run_copy(const Call& call, std::span<Tensor> out) {
  map_any(call, out, [](auto x) { return x; });
}

// --- conversion

constexpr std::int64_t kOnnxFloat = 1, kOnnxBool = 9, kOnnxHalf = 10, kOnnxDouble = 11;

Types cast_type(const Call& call) {
  const std::int64_t to = call.node.integer("to", 0);
  const bool real = to == kOnnxFloat || to == kOnnxHalf || to == kOnnxDouble;
  if (!real && (to < 2 || to > kOnnxBool || to == 8))
    throw Problem("converts to a type that is not supported (" + std::to_string(to) + ")");
  return {{real ? Kind::real : Kind::whole, call.in(0).shape()}};
}

// Reals become whole numbers by dropping their fraction; those out of range become the nearest, NaN becomes
// 0.
std::int64_t whole_of(float x) {
  constexpr float kLimit = 9223371487098961920.0F;
  if (x != x) return 0;
  return static_cast<std::int64_t>(std::clamp(x, -kLimit, kLimit));
}

void run_cast(const Call& call, std::span<Tensor> out) {
  const Tensor& x = call.in(0);
  const bool to_bool = call.node.integer("to", 0) == kOnnxBool;
  const auto convert = [&](auto from, auto to) {
    using To = std::remove_reference_t<decltype(*to)>;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if constexpr (std::is_same_v<To, std::int64_t> && std::is_same_v<decltype(from), const float*>) {
        to[i] = to_bool ? from[i] != 0 : whole_of(from[i]);
      } else {
        to[i] = to_bool ? static_cast<To>(from[i] != 0) : static_cast<To>(from[i]);
      }
    }
  };
  const bool to_real = out[0].kind() == Kind::real;
  if (x.kind() == Kind::real) {
    to_real ? convert(x.reals(), out[0].reals()) : convert(x.reals(), out[0].wholes());
  } else {
    to_real ? convert(x.wholes(), out[0].reals()) : convert(x.wholes(), out[0].wholes());
  }
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
  const Shape& shape = out[0].shape();
  const auto fold = [&](auto data_of, auto* y) {
    const std::int64_t count = out[0].size();
    if (call.inputs.size() == 1) {
      std::copy_n(data_of(call.in(0)), count, y);
      return;
    }
    const auto* first = data_of(call.in(0));
    BroadcastWalk from(shape, call.in(0).shape());
    for (std::size_t k = 1; k < call.inputs.size(); ++k) {
      const auto* second = data_of(call.in(k));
      BroadcastWalk other(shape, call.in(k).shape());
      for (std::int64_t i = 0; i < count; ++i, from.next(), other.next()) {
        const auto a = k == 1 ? first[from.offset()] : y[i];
        y[i] = f(a, second[other.offset()]);
      }
    }
  };
  if (call.in(0).kind() == Kind::real) {
    fold([](const Tensor& t) { return t.reals(); }, out[0].reals());
  } else {
    fold([](const Tensor& t) { return t.wholes(); }, out[0].wholes());
  }
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

void run_minimum(const Call& call, std::span<Tensor> out) {
  fold_any(call, out, [](auto a, auto b) { return a != a || a < b ? a : b; });
}
void run_maximum(const Call& call, std::span<Tensor> out) {
  fold_any(call, out, [](auto a, auto b) { return a != a || a > b ? a : b; });
}

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

void run_power(const Call& call, std::span<Tensor> out) {
  const Tensor &a = call.in(0), &b = call.in(1);
  BroadcastWalk base(out[0].shape(), a.shape()), exponent(out[0].shape(), b.shape());
  const auto value = [](const Tensor& t, std::int64_t i) {
    return t.kind() == Kind::real ? t.reals()[i] : static_cast<float>(t.wholes()[i]);
  };
  for (std::int64_t i = 0; i < out[0].size(); ++i, base.next(), exponent.next()) {
    const float y = power(value(a, base.offset()), value(b, exponent.offset()));
    if (out[0].kind() == Kind::real) {
      out[0].reals()[i] = y;
    } else {
      out[0].wholes()[i] = whole_of(y);
    }
  }
}

// Calls `f(a, b)` for pairs of elements of both kinds, with a whole number as result.
template <typename F>
void compare(const Call& call, std::span<Tensor> out, const F& f) {
  const Tensor &a = call.in(0), &b = call.in(1);
  BroadcastWalk first(out[0].shape(), a.shape()), second(out[0].shape(), b.shape());
  for (std::int64_t i = 0; i < out[0].size(); ++i, first.next(), second.next()) {
    out[0].wholes()[i] = a.kind() == Kind::real ? f(a.reals()[first.offset()], b.reals()[second.offset()])
                                                : f(a.wholes()[first.offset()], b.wholes()[second.offset()]);
  }
}

void run_equal(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return a == b; });
}
void run_less(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return a < b; });
}
void run_greater(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return a > b; });
}
void run_less_or_equal(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return a <= b; });
}
void run_greater_or_equal(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return a >= b; });
}
void run_and(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return a != 0 && b != 0; });
}
void run_or(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return a != 0 || b != 0; });
}
void run_xor(const Call& call, std::span<Tensor> out) {
  compare(call, out, [](auto a, auto b) { return (a != 0) != (b != 0); });
}

void run_prelu(const Call& call, std::span<Tensor> out) {
  fold_any(call, out, [](auto x, auto slope) { return x < 0 ? slope * x : x; });
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
  for (std::int64_t i = 0; i < out[0].size(); ++i, test.next(), yes.next(), no.next()) {
    const bool chosen = call.in(0).wholes()[test.offset()] != 0;
    const Tensor& from = call.in(chosen ? 1 : 2);
    const std::int64_t offset = chosen ? yes.offset() : no.offset();
    if (from.kind() == Kind::real) {
      out[0].reals()[i] = from.reals()[offset];
    } else {
      out[0].wholes()[i] = from.wholes()[offset];
    }
  }
}

constexpr std::size_t kManyTerms = 64;

constexpr Operator kElementwise[] = {
    {"Abs", 1, 1, 1, same_type, run_absolute},
    {"Add", 2, 2, 1, broadcast_type, run_arithmetic<'+'>},
    {"And", 2, 2, 1, comparison_type, run_and},
    {"Cast", 1, 1, 1, cast_type, run_cast},
    {"Ceil", 1, 1, 1, same_real, map_run<rounded_up>},
    {"Clip", 1, 3, 1, same_type, run_clip},
    {"Cos", 1, 1, 1, same_real, map_run<cosine>},
    {"Div", 2, 2, 1, broadcast_type, run_arithmetic<'/'>},
    {"Dropout", 1, 3, 1, same_type, run_copy},
    {"Elu", 1, 1, 1, same_real, run_elu},
    {"Equal", 2, 2, 1, comparison_type, run_equal},
    {"Erf", 1, 1, 1, same_real, map_run<error_function>},
    {"Exp", 1, 1, 1, same_real, map_run<exponential>},
    {"Floor", 1, 1, 1, same_real, map_run<rounded_down>},
    {"Gelu", 1, 1, 1, same_real, run_gelu},
    {"Greater", 2, 2, 1, comparison_type, run_greater},
    {"GreaterOrEqual", 2, 2, 1, comparison_type, run_greater_or_equal},
    {"HardSigmoid", 1, 1, 1, same_real, run_hard_sigmoid},
    {"HardSwish", 1, 1, 1, same_real, map_run<hard_swish>},
    {"Identity", 1, 1, 1, same_type, run_copy},
    {"IsNaN", 1, 1, 1, truth_type, run_is_nan},
    {"LeakyRelu", 1, 1, 1, same_real, run_leaky_relu},
    {"Less", 2, 2, 1, comparison_type, run_less},
    {"LessOrEqual", 2, 2, 1, comparison_type, run_less_or_equal},
    {"Log", 1, 1, 1, same_real, map_run<logarithm>},
    {"Max", 1, kManyTerms, 1, broadcast_type, run_maximum},
    {"Min", 1, kManyTerms, 1, broadcast_type, run_minimum},
    {"Mish", 1, 1, 1, same_real, map_run<mish>},
    {"Mod", 2, 2, 1, broadcast_type, run_modulo},
    {"Mul", 2, 2, 1, broadcast_type, run_arithmetic<'*'>},
    {"Neg", 1, 1, 1, same_type, run_negate},
    {"Not", 1, 1, 1, same_type, run_not},
    {"Or", 2, 2, 1, comparison_type, run_or},
    {"PRelu", 2, 2, 1, broadcast_type, run_prelu},
    {"Pow", 2, 2, 1, power_type, run_power},
    {"Reciprocal", 1, 1, 1, same_real, map_run<one_over>},
    {"Relu", 1, 1, 1, same_real, map_run<relu>},
    {"Round", 1, 1, 1, same_real, map_run<rounded>},
    {"Selu", 1, 1, 1, same_real, run_selu},
    {"Sigmoid", 1, 1, 1, same_real, map_run<sigmoid>},
    {"Sign", 1, 1, 1, same_type, run_sign},
    {"Sin", 1, 1, 1, same_real, map_run<sine>},
    {"Softplus", 1, 1, 1, same_real, map_run<softplus>},
    {"Softsign", 1, 1, 1, same_real, map_run<softsign>},
    {"Sqrt", 1, 1, 1, same_real, map_run<square_root>},
    {"Sub", 2, 2, 1, broadcast_type, run_arithmetic<'-'>},
    {"Sum", 1, kManyTerms, 1, broadcast_type, run_arithmetic<'+'>},
    {"Swish", 1, 1, 1, same_real, run_swish},
    {"Tanh", 1, 1, 1, same_real, map_run<hyperbolic_tangent>},
    {"Where", 3, 3, 1, where_type, run_where},
    {"Xor", 2, 2, 1, comparison_type, run_xor},
};

}  // namespace

std::span<const Operator> elementwise_operators() {
  return kElementwise;
}

}  // namespace sightline::network
