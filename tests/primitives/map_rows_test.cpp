// Maps of rows against Expression::evaluate, to the bit, under each instruction set.
#include <random>

#include "base/hardware.hpp"
#include "made_tensors.hpp"
#include "network/cpu/epilogue.hpp"
#include "network/cpu/map.hpp"

namespace sightline::nn {
namespace {

constexpr DataType kReal = DataType::f32;

class NetworkMapRows : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { limit_instruction_set(GetParam()); }
  void TearDown() override { limit_instruction_set("best"); }
};
INSTANTIATE_TEST_SUITE_P(AllTargets, NetworkMapRows, testing::ValuesIn(instruction_sets()),
                         [](const auto& set) {
                           return set.param.substr(0, 6) + (set.param.size() > 6 ? "_vnni" : "");
                         });

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t end) { return engine_() % end; }
  template <typename T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  /// Every kind of float.
  float real() {
    static const std::vector<float> kOdd = {
        0.0F,   -0.0F,   kInfinity, -kInfinity,      kNan,      1.0F,     -1.0F,
        1e-45F, -1e-42F, 3e38F,     1.17549435e-38F, 0x1p-100F, 0x1p100F, -3.0F,
        0.625F, 87.0F,   -87.0F,    89.0F,           -104.0F,   0.5F};
    switch (below(3)) {
      case 0:
        return of(kOdd);
      case 1:
        return std::bit_cast<float>(static_cast<std::uint32_t>(engine_()));
      default:
        return static_cast<float>(static_cast<double>(engine_() >> 11) * 0x1p-53 * 18 - 9);
    }
  }
  Tensor tensor(DataType type, std::size_t count) {
    Tensor tensor(type, {static_cast<std::int64_t>(count)});
    with_type(type, [&]<typename T>() {
      for (T& one : tensor.as<T>()) {
        if constexpr (std::is_same_v<T, float>) {
          one = real();
        } else {
          one = static_cast<T>(std::is_same_v<T, bool> ? engine_() & 1 : engine_());
        }
      }
    });
    return tensor;
  }

 private:
  std::mt19937_64 engine_;
};

std::size_t values_of(MapAccess access, std::size_t count) {
  return access == MapAccess::row ? count : access == MapAccess::channels ? 16 : 1;
}

// Each operand's value for each of `count` places.
Tensor repeated(const Tensor& operand, std::size_t count) {
  Tensor all(operand.data(), {static_cast<std::int64_t>(count)});
  with_type(operand.data(), [&]<typename T>() {
    for (std::size_t i = 0; i < count; ++i)
      all.as<T>()[i] = operand.as<T>()[i % static_cast<std::size_t>(operand.size())];
  });
  return all;
}

// Memory of exactly so many bytes, off any alignment but that of elements, with canaries around.
class OffsetBytes {
 public:
  explicit OffsetBytes(std::size_t size) : size_(size), bytes_(size + 2 * kGuard, kCanaryByte) {}
  std::byte* data() { return bytes_.data() + kGuard; }
  bool are_guards_untouched() const {
    const auto is_canary = [](std::byte one) { return one == kCanaryByte; };
    return std::all_of(bytes_.begin(), bytes_.begin() + kGuard, is_canary) &&
           std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(kGuard + size_), bytes_.end(), is_canary);
  }

 private:
  static constexpr std::size_t kGuard = 72;
  static constexpr std::byte kCanaryByte{0xA5};
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

// Runs a kernel on operands as they are, and compares the results.
void expect_equal(const Expression& expression, const MapKernel& kernel, const std::vector<Tensor>& operands,
                  std::size_t count) {
  SCOPED_TRACE(text_of(expression) + " of " + std::to_string(count));
  std::vector<Tensor> all;
  std::vector<const std::byte*> whole, given;
  for (const Tensor& one : operands) all.push_back(repeated(one, count));
  for (const Tensor& one : all) whole.push_back(one.bytes().data());
  for (const Tensor& one : operands) given.push_back(one.bytes().data());
  std::vector<Tensor> wanted;
  std::vector<OffsetBytes> results;
  for (const int result : expression.results()) {
    wanted.emplace_back(expression.type_of(result), Shape{static_cast<std::int64_t>(count)});
    results.emplace_back(wanted.back().bytes().size());
  }
  std::vector<std::byte*> to, wanted_to;
  for (Tensor& one : wanted) wanted_to.push_back(one.bytes().data());
  for (OffsetBytes& one : results) to.push_back(one.data());
  expression.evaluate(whole, wanted_to, count);
  AlignedBuffer<std::byte> scratch(kernel.scratch_bytes());
  kernel.run(given.data(), to.data(), count, scratch.data());
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    Tensor got(wanted[r].type());
    std::copy_n(to[r], got.bytes().size(), got.bytes().data());
    EXPECT_TRUE(same(got, wanted[r]));
    EXPECT_TRUE(results[r].are_guards_untouched());
  }
}

void expect_equal(const Expression& expression, const std::vector<MapAccess>& accesses, std::size_t count,
                  std::uint64_t seed) {
  Draw draw(seed);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < accesses.size(); ++i)
    operands.push_back(draw.tensor(expression.operands()[i], values_of(accesses[i], count)));
  expect_equal(expression, MapKernel(expression, accesses), operands, count);
}

std::vector<Function> functions_of(bool (*fits)(Function)) {
  std::vector<Function> found;
#define FUNCTION(name, arguments, domain) \
  if (fits(Function::name)) found.push_back(Function::name);
#include "network/function_list.inc"
#undef FUNCTION
  return found;
}

bool takes(Function function, DataType type) {
  try {
    Expression::of(function, std::vector<DataType>(arguments_of(function), type));
    return true;
  } catch (const Problem&) {
    return false;
  }
}
const std::vector<Function>& real_functions() {
  static const auto kFound = functions_of([](Function one) { return takes(one, kReal); });
  return kFound;
}

// One in so many floats of all, and others near the limits of branches.
Tensor floats_of_all_sizes() {
  std::vector<float> values;
  const std::uint64_t step = has_fused_multiply_add() ? 65'521 : 4'194'301;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += step)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (const float limit : {0.0F, 1.17549435e-38F, 0.5F, 0.625F, 0.927734375F, 1.0F, 1.41421356F, 3.0F, 4.0F,
                            87.0F, 89.0F, 104.0F, 0x1p-100F, 0x1p100F, kInfinity}) {
    for (int i = -8; i < 8; ++i) {
      values.push_back(std::bit_cast<float>(std::bit_cast<std::int32_t>(limit) + i));
      values.push_back(-values.back());
    }
  }
  return Tensor::vector(values);
}

TEST_P(NetworkMapRows, FunctionsOfFloatsOfAllSizes) {
  const Tensor x = floats_of_all_sizes();
  const auto count = static_cast<std::size_t>(x.size());
  Draw draw(1);
  for (const Function function : real_functions()) {
    const std::size_t arguments = arguments_of(function);
    const Expression expression = Expression::of(function, std::vector<DataType>(arguments, kReal));
    std::vector<Tensor> operands{x};
    while (operands.size() < arguments) operands.push_back(draw.tensor(kReal, count));
    const MapKernel kernel(expression, std::vector<MapAccess>(arguments, MapAccess::row));
    // Masks become bytes in a pass of their own.
    EXPECT_EQ(kernel.passes(), expression.type_of(expression.results()[0]) == kReal ? 1U : 2U);
    expect_equal(expression, kernel, operands, count);
  }
}

TEST_P(NetworkMapRows, FunctionsOfBooleans) {
  constexpr DataType kBoolean = DataType::boolean;
  for (const Function function : functions_of([](Function one) { return takes(one, kBoolean); })) {
    const std::size_t arguments = arguments_of(function);
    expect_equal(Expression::of(function, std::vector<DataType>(arguments, kBoolean)),
                 std::vector<MapAccess>(arguments, MapAccess::row), 300, 1);
  }
}

TEST_P(NetworkMapRows, AllAccessesAndCounts) {
  const Expression sum = Expression::of(Function::multiply_add, {kReal, kReal, kReal});
  Expression choice({DataType::boolean, kReal, DataType::boolean});
  choice.add_result(choice.select(choice.operand(0), choice.operand(1), choice.constant(2.0F)));
  choice.add_result(choice.select(choice.operand(0), choice.operand(2), choice.constant(true)));
  choice.add_result(choice.operand(0));
  choice.add_result(choice.operand(1));
  choice.add_result(choice.cast(choice.operand(2), kReal));
  choice.add_result(choice.results()[0]);
  constexpr MapAccess kAll[] = {MapAccess::row, MapAccess::channels, MapAccess::single};
  for (const std::size_t count : {0, 1, 15, 16, 17, 48, 63, 64, 80, 255, 256, 257, 1100}) {
    for (int i = 0; i < 27; ++i) {
      const std::vector<MapAccess> accesses{kAll[i % 3], kAll[i / 3 % 3], kAll[i / 9]};
      expect_equal(sum, accesses, count, count);
      expect_equal(choice, accesses, count, count);
    }
  }
}

// An expression of one operand.
template <typename Build>
Expression built(const Build& build) {
  Expression expression({kReal});
  expression.operand(0);
  expression.add_result(build(expression));
  return expression;
}

TEST_P(NetworkMapRows, FrequentFormsTakeOnePass) {
  using enum Function;
  using E = Expression;
  const auto six = [](E& e) {
    return e.call(clip, {e.call(add, {e.constant(3.0F), 0}), e.constant(0.0F), e.constant(6.0F)});
  };
  const Expression forms[] = {
      built([](E& e) {
        return e.call(multiply, {e.call(sigmoid, {0}), 0});
      }),
      built([](E& e) {
        return e.call(relu, {e.call(add, {0, e.constant(-0.5F)})});
      }),
      built([](E& e) {
        return e.call(add, {e.constant(0.1F), e.call(multiply, {0, e.constant(0.3F)})});
      }),
      built([](E& e) {
        return e.call(multiply, {e.constant(0.1F), e.call(subtract, {0, e.constant(0.3F)})});
      }),
      built([](E& e) {
        return e.call(power, {0, e.constant(2.0F)});
      }),
      built([](E& e) {
        return e.call(power, {0, e.constant(3.0F)});
      }),
      built([](E& e) {
        return e.call(power, {0, e.constant(0.5F)});
      }),
      built([&](E& e) {
        return e.call(multiply, {0, e.call(divide, {six(e), e.constant(6.0F)})});
      }),
      built([&](E& e) {
        return e.call(divide, {e.call(multiply, {0, six(e)}), e.constant(6.0F)});
      }),
      built([&](E& e) {
        return e.call(multiply, {0, e.call(multiply, {six(e), e.constant(1.0F / 6)})});
      }),
  };
  const Tensor x = floats_of_all_sizes();
  for (const Expression& form : forms) {
    const MapKernel kernel(form, {MapAccess::row});
    EXPECT_EQ(kernel.passes(), 1U) << text_of(form);
    expect_equal(form, kernel, {x}, static_cast<std::size_t>(x.size()));
  }
}

TEST_P(NetworkMapRows, DividesByConstants) {
  const Tensor x = floats_of_all_sizes();
  for (const float divisor :
       {1.0F, -2.0F, 0x1p100F, 0x1p-127F, 0x1p-128F, 0.0F, -0.0F, kInfinity, kNan, 3.0F, 6.0F, -7.0F, 10.0F,
        57.375F, 1.41421356F, 255.0F, 1e-30F, 1e30F, 0x1.FFFFFEp0F}) {
    const Expression expression = Expression::of(Function::divide, {kReal}, {divisor});
    expect_equal(expression, MapKernel(expression, {MapAccess::row}), {x},
                 static_cast<std::size_t>(x.size()));
  }
}

TEST_P(NetworkMapRows, MayOverwriteAnOperand) {
  Expression expression = built([](Expression& e) {
    return e.call(Function::add, {e.call(Function::exponential, {0}), e.call(Function::floor, {0})});
  });
  for (const std::size_t count : {5, 1024, 2500}) {
    Draw draw(count);
    Tensor x = draw.tensor(kReal, count), wanted = x;
    const MapKernel kernel(expression, {MapAccess::row});
    AlignedBuffer<std::byte> scratch(kernel.scratch_bytes());
    const std::byte* const from = x.bytes().data();
    std::byte *const to = x.bytes().data(), *const wanted_to = wanted.bytes().data();
    const Tensor copy = x;
    const std::byte* const original = copy.bytes().data();
    expression.evaluate({&original, 1}, {&wanted_to, 1}, count);
    kernel.run(&from, &to, count, scratch.data());
    EXPECT_TRUE(same(x, wanted));
  }
}

TEST_P(NetworkMapRows, RepeatedValuesAreComputedOnce) {
  Expression expression({kReal, kReal});
  const int scale = expression.call(Function::sigmoid, {expression.operand(1)});
  expression.add_result(expression.call(Function::multiply, {expression.operand(0), scale}));
  EXPECT_EQ(MapKernel(expression, {MapAccess::row, MapAccess::channels}).passes(), 1U);
  EXPECT_EQ(MapKernel(expression, {MapAccess::row, MapAccess::row}).passes(), 2U);
}

// --- random expressions

const std::vector<Scalar>& constants_of(DataType type) {
  static const std::vector<Scalar> kReals = {0.0F, -0.0F, 1.0F,     3.0F, 6.0F,      0.5F,
                                             2.0F, -7.0F, 1.0F / 6, kNan, kInfinity, 1e-42F},
                                   kBooleans = {true, false},
                                   kIntegers = {std::int64_t{0}, std::int64_t{-1}, std::int64_t{300}};
  return type == kReal ? kReals : type == DataType::boolean ? kBooleans : kIntegers;
}

// A random expression: mostly of floats and booleans, and with `integers` of i64 as well.
Expression random_expression(Draw& draw, bool integers) {
  const auto draw_type = [&] {
    return integers && draw.below(3) == 0 ? DataType::i64 : draw.below(4) == 0 ? DataType::boolean : kReal;
  };
  std::vector<DataType> operands(1 + draw.below(4));
  for (DataType& one : operands) one = draw_type();
  Expression expression(operands);
  for (std::size_t i = 0; i < operands.size(); ++i) expression.operand(i);
  static const std::vector<Function> kAll = functions_of([](Function) { return true; });
  const auto any_node = [&] { return static_cast<int>(draw.below(expression.nodes().size())); };
  const auto node_of = [&](DataType type) {
    for (int tried = 0; tried < 8; ++tried) {
      const int node = any_node();
      if (expression.type_of(node) == type) return node;
    }
    return expression.constant(draw.of(constants_of(type)));
  };
  const std::size_t nodes = expression.nodes().size() + 1 + draw.below(12);
  for (int tried = 0; tried < 200 && expression.nodes().size() < nodes; ++tried) {
    const DataType type = draw_type();
    const std::size_t kind = draw.below(10);
    if (kind == 0) {
      expression.cast(any_node(), draw_type());
    } else if (kind == 1) {
      expression.select(node_of(DataType::boolean), node_of(type), node_of(type));
    } else {
      const Function function = draw.of(kAll);
      if (!takes(function, type)) continue;
      const int a = node_of(type), b = node_of(type), c = node_of(type);
      if (arguments_of(function) == 1) expression.call(function, {a});
      if (arguments_of(function) == 2) expression.call(function, {a, b});
      if (arguments_of(function) == 3) expression.call(function, {a, b, c});
    }
  }
  expression.add_result(static_cast<int>(expression.nodes().size()) - 1);
  while (draw.below(3) == 0) expression.add_result(any_node());
  return expression;
}

TEST_P(NetworkMapRows, RandomExpressions) {
  const std::vector<std::size_t> counts = {1, 13, 16, 31, 64, 208, 1024, 1039, 2500};
  const std::vector<MapAccess> accesses = {MapAccess::row, MapAccess::row, MapAccess::channels,
                                           MapAccess::single};
  for (std::uint64_t seed = 0; seed < (has_fused_multiply_add() ? 1'500 : 100); ++seed) {
    Draw draw(seed);
    const Expression expression = random_expression(draw, seed % 10 == 0);
    std::vector<MapAccess> drawn(expression.operands().size());
    for (MapAccess& one : drawn) one = draw.of(accesses);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_equal(expression, drawn, draw.of(counts), seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace sightline::nn
