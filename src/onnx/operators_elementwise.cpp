// Operators that compute element by element: one map each.
#include <limits>

#include "onnx/operators.hpp"

namespace sightline::nn {
namespace {

constexpr std::size_t kManyTerms = 64;

template <Function function>
Made unary(Lowering& c) {
  return c.map(function, {c.in(0)});
}
template <Function function>
Made binary(Lowering& c) {
  return c.map(function, {c.in(0), c.in(1)});
}
template <Function function>
Made swapped(Lowering& c) {
  return c.map(function, {c.in(1), c.in(0)});
}
template <Function function>
Made logical(Lowering& c) {
  std::vector<int> truths;
  for (const int input : c.inputs()) truths.push_back(c.cast(input, DataType::boolean));
  return c.map(function, truths);
}
// Of two and more inputs, from left to right.
template <Function function>
Made folded(Lowering& c) {
  const auto fold = [](const std::vector<Term>& x) {
    Term all = x.front();
    for (std::size_t i = 1; i < x.size(); ++i) all = Term::call(function, {all, x[i]});
    return std::vector{all};
  };
  return c.map_all(c.inputs(), fold).front();
}

Made mean(Lowering& c) {
  const float count = static_cast<float>(c.count());
  return c.map([=](const Term& sum) { return sum / count; }, folded<Function::add>(c).tensors[0]);
}

// A limit is an input from opset 11 on, and an attribute before. Where it is left out, it is the type's.
int limit(Lowering& c, std::size_t i, std::string_view attribute, bool is_upper) {
  const DataType type = c.data(c.in(0));
  if (c.has(i) && elements_of(c.known_shape(c.in(i))) == 1) return c.cast(c.element(c.in(i)), type);
  return with_type(type, [&]<typename T>() {
    using Limits = std::numeric_limits<T>;
    const T upper = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T lower = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const bool is_given = c.node.has(attribute);
    return c.scalar(is_given ? static_cast<T>(c.real(attribute, 0)) : is_upper ? upper : lower);
  });
}

Made clip(Lowering& c) {
  const int x = c.in(0), low = limit(c, 1, "min", false), high = limit(c, 2, "max", true);
  if (c.data(x) == DataType::f32) return c.map(Function::clip, {x, low, high});
  return c.map(Function::minimum, {c.map(Function::maximum, {x, low}), high});
}

// The low bits of integers, for types that tensors do not have: they are kept in wider ones.
int wrapped(Lowering& c, int x, std::int64_t bits, bool has_sign) {
  const auto wrap = [=](const Term& all) {
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    const Term low = Term::call(Function::bit_and, {all, 2 * half - 1});
    return has_sign ? Term::call(Function::bit_xor, {low, half}) - half : low;
  };
  return c.map(wrap, x);
}

Made cast(Lowering& c) {
  const std::int64_t type = c.node.integer("to", 0);
  const int x = c.in(0);
  switch (type) {
    case kOnnxFloat:
    case kOnnxHalf:
    case kOnnxDouble:
      return c.cast(x, DataType::f32);
    case kOnnxUint8:
      return c.cast(x, DataType::u8);
    case kOnnxInt8:
      return c.cast(x, DataType::i8);
    case kOnnxInt32:
      return c.cast(x, DataType::i32);
    case kOnnxInt64:
      return c.cast(x, DataType::i64);
    case kOnnxBool:
      return c.cast(x, DataType::boolean);
    case kOnnxUint16:
    case kOnnxInt16:
      return wrapped(c, c.cast(x, DataType::i32), 16, type == kOnnxInt16);
    case kOnnxUint32:
      return wrapped(c, c.cast(x, DataType::i64), 32, false);
    default:
      throw Problem("converts to a type that is not supported (" + std::to_string(type) + ")");
  }
}

Made modulo(Lowering& c) {
  const bool has_sign_of_dividend = c.is_set("fmod") || c.data(c.in(0)) == DataType::f32;
  return c.map(has_sign_of_dividend ? Function::remainder : Function::modulo, {c.in(0), c.in(1)});
}

// Powers of integers are exact; others are of f32, in the type of the base.
Made power(Lowering& c) {
  const DataType type = c.data(c.in(0));
  const DataType computed = c.data(c.in(1)) == DataType::f32 ? DataType::f32 : type;
  return c.cast(c.map(Function::power, {c.cast(c.in(0), computed), c.cast(c.in(1), computed)}), type);
}

Made is_infinite(Lowering& c) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                  kNothing = std::numeric_limits<float>::quiet_NaN();
  const float above = c.is_set("detect_positive", true) ? kInfinity : kNothing;
  const float below = c.is_set("detect_negative", true) ? -kInfinity : kNothing;
  const auto test = [=](const Term& x) { return Term::call(Function::bit_or, {x == above, x == below}); };
  return c.map(test, c.in(0));
}

constexpr OnnxOperator kElementwise[] = {
    {"Abs", 1, 1, unary<Function::absolute>},
    {"Add", 2, 2, binary<Function::add>},
    {"And", 2, 2, logical<Function::bit_and>},
    {"Cast", 1, 1, cast},
    {"CastLike", 2, 2, [](Lowering& c) -> Made { return c.cast(c.in(0), c.data(c.in(1))); }},
    {"Ceil", 1, 1, unary<Function::ceiling>},
    {"Celu", 1, 1,
     [](Lowering& c) -> Made { return c.map(Function::celu, {c.in(0)}, {c.real("alpha", 1)}); }},
    {"Clip", 1, 3, clip},
    {"Cos", 1, 1, unary<Function::cosine>},
    {"Div", 2, 2, binary<Function::divide>},
    {"Dropout", 1, 3, [](Lowering& c) -> Made { return c.in(0); }, 2},
    {"Elu", 1, 1, [](Lowering& c) -> Made { return c.map(Function::elu, {c.in(0)}, {c.real("alpha", 1)}); }},
    {"Equal", 2, 2, binary<Function::equal>},
    {"Erf", 1, 1, unary<Function::error_function>},
    {"Exp", 1, 1, unary<Function::exponential>},
    {"Floor", 1, 1, unary<Function::floor>},
    {"Gelu", 1, 1,
     [](Lowering& c) -> Made {
       const bool approximate = c.node.text("approximate", "none") == "tanh";
       return c.map(approximate ? Function::gelu_tanh : Function::gelu, {c.in(0)});
     }},
    {"Greater", 2, 2, swapped<Function::less>},
    {"GreaterOrEqual", 2, 2, swapped<Function::less_or_equal>},
    {"HardSigmoid", 1, 1,
     [](Lowering& c) -> Made {
       return c.map(Function::hard_sigmoid, {c.in(0)}, {c.real("alpha", 0.2F), c.real("beta", 0.5F)});
     }},
    {"HardSwish", 1, 1, unary<Function::hard_swish>},
    {"Identity", 1, 1, [](Lowering& c) -> Made { return c.in(0); }},
    {"IsInf", 1, 1, is_infinite},
    {"IsNaN", 1, 1,
     [](Lowering& c) -> Made {
       return c.map([](const Term& x) { return Term::call(Function::bit_not, {x == x}); }, c.in(0));
     }},
    {"LeakyRelu", 1, 1,
     [](Lowering& c) -> Made { return c.map(Function::leaky_relu, {c.in(0)}, {c.real("alpha", 0.01F)}); }},
    {"Less", 2, 2, binary<Function::less>},
    {"LessOrEqual", 2, 2, binary<Function::less_or_equal>},
    {"Log", 1, 1, unary<Function::logarithm>},
    {"Max", 1, kManyTerms, folded<Function::maximum>},
    {"Mean", 1, kManyTerms, mean},
    {"Min", 1, kManyTerms, folded<Function::minimum>},
    {"Mish", 1, 1, unary<Function::mish>},
    {"Mod", 2, 2, modulo},
    {"Mul", 2, 2, binary<Function::multiply>},
    {"Neg", 1, 1, unary<Function::negate>},
    {"Not", 1, 1, logical<Function::bit_not>},
    {"Or", 2, 2, logical<Function::bit_or>},
    {"PRelu", 2, 2, binary<Function::leaky_relu>},
    {"Pow", 2, 2, power},
    {"Reciprocal", 1, 1,
     [](Lowering& c) -> Made { return c.map([](const Term& x) { return 1 / x; }, c.in(0)); }},
    {"Relu", 1, 1, unary<Function::relu>},
    {"Round", 1, 1, unary<Function::round>},
    {"Selu", 1, 1,
     [](Lowering& c) -> Made {
       return c.map(
           Function::selu, {c.in(0)},
           {c.real("alpha", 1.67326319217681884765625F), c.real("gamma", 1.05070102214813232421875F)});
     }},
    {"Sigmoid", 1, 1, unary<Function::sigmoid>},
    {"Sign", 1, 1, unary<Function::sign>},
    {"Sin", 1, 1, unary<Function::sine>},
    {"Softplus", 1, 1, unary<Function::softplus>},
    {"Softsign", 1, 1, unary<Function::softsign>},
    {"Sqrt", 1, 1, unary<Function::square_root>},
    {"Sub", 2, 2, binary<Function::subtract>},
    {"Sum", 1, kManyTerms, folded<Function::add>},
    {"Swish", 1, 1,
     [](Lowering& c) -> Made { return c.map(Function::swish, {c.in(0)}, {c.real("alpha", 1)}); }},
    {"Tanh", 1, 1, unary<Function::hyperbolic_tangent>},
    {"ThresholdedRelu", 1, 1,
     [](Lowering& c) -> Made { return c.map(Function::thresholded_relu, {c.in(0)}, {c.real("alpha", 1)}); }},
    {"Where", 3, 3,
     [](Lowering& c) -> Made {
       return c.map(Term::select, c.cast(c.in(0), DataType::boolean), c.in(1), c.in(2));
     }},
    {"Xor", 2, 2, logical<Function::bit_xor>},
};

}  // namespace

std::span<const OnnxOperator> elementwise_operators() {
  return kElementwise;
}

}  // namespace sightline::nn
