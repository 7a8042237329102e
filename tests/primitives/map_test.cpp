#include "made_tensors.hpp"
#include "network/functions.hpp"

namespace sightline::nn {
namespace {

Tensor mapped(Function function, const std::vector<Tensor>& inputs,
              std::initializer_list<Scalar> constants = {}) {
  std::vector<DataType> types;
  for (const Tensor& one : inputs) types.push_back(one.data());
  return run(Map{Expression::of(function, types, constants)}, inputs);
}

TEST(NetworkMap, BroadcastsOperandsOfAllTypes) {
  for_all_numbers([]<typename T>() {
    const Tensor a = made<T>({3, 1, 5}), b = made<T>({4, 1}, 2);
    const Tensor wanted = tensor_of<T>({3, 4, 5}, [&](const Shape& place) {
      return static_cast<T>(at<T>(a, {place[0], 0, place[2]}) - at<T>(b, {place[1], 0}));
    });
    EXPECT_TRUE(same(mapped(Function::subtract, {a, b}), wanted));
  });
}

TEST(NetworkMap, IntegersWrapAndDivideByZero) {
  using std::int8_t, std::uint8_t;
  const auto bytes = [](std::vector<int8_t> values) { return Tensor::vector<int8_t>(values); };
  const Tensor a = bytes({127, -128, -128, 7, -7}), b = bytes({1, -1, 0, -3, 3});
  EXPECT_TRUE(same(mapped(Function::add, {a, b}), bytes({-128, 127, -128, 4, -4})));
  EXPECT_TRUE(same(mapped(Function::multiply, {a, b}), bytes({127, -128, 0, -21, -21})));
  EXPECT_TRUE(same(mapped(Function::divide, {a, b}), bytes({127, -128, 0, -2, -2})));
  EXPECT_TRUE(same(mapped(Function::remainder, {a, b}), bytes({0, 0, 0, 1, -1})));
  EXPECT_TRUE(same(mapped(Function::modulo, {a, b}), bytes({0, 0, 0, -2, 2})));
  EXPECT_TRUE(same(mapped(Function::absolute, {a}), bytes({127, -128, -128, 7, 7})));
  EXPECT_TRUE(same(mapped(Function::negate, {a}), bytes({-127, -128, -128, -7, 7})));
  EXPECT_TRUE(same(mapped(Function::sign, {b}), bytes({1, -1, 0, -1, 1})));
  EXPECT_TRUE(same(mapped(Function::power, {bytes({2, -1, 0, 3, 3}), bytes({7, -3, -2, 0, 5})}),
                   bytes({-128, -1, 0, 1, -13})));
  EXPECT_TRUE(same(mapped(Function::subtract, {Tensor::scalar<uint8_t>(3), Tensor::scalar<uint8_t>(5)}),
                   Tensor::scalar<uint8_t>(254)));
  EXPECT_TRUE(
      same(mapped(Function::add, {Tensor::scalar<std::int64_t>(INT64_MAX), Tensor::scalar<std::int64_t>(1)}),
           Tensor::scalar<std::int64_t>(INT64_MIN)));
}

TEST(NetworkMap, MinimaAndMaximaDoNotDependOnTheOrder) {
  const Tensor a = Tensor::vector<float>({kNan, 1, 0.0F, -0.0F, -kInfinity, -0.0F});
  const Tensor b = Tensor::vector<float>({1, kNan, -0.0F, 0.0F, 2, -0.0F});
  const Tensor larger = Tensor::vector<float>({kNan, kNan, 0.0F, 0.0F, 2, -0.0F});
  const Tensor smaller = Tensor::vector<float>({kNan, kNan, -0.0F, -0.0F, -kInfinity, -0.0F});
  EXPECT_TRUE(same(mapped(Function::maximum, {a, b}), larger));
  EXPECT_TRUE(same(mapped(Function::maximum, {b, a}), larger));
  EXPECT_TRUE(same(mapped(Function::minimum, {a, b}), smaller));
  EXPECT_TRUE(same(mapped(Function::minimum, {b, a}), smaller));
}

TEST(NetworkMap, ComparisonsWithNanAreFalse) {
  const Tensor a = Tensor::vector<float>({1, kNan, 2, -0.0F}), b = Tensor::vector<float>({2, 1, kNan, 0.0F});
  EXPECT_TRUE(same(mapped(Function::less, {a, b}), Tensor::vector<bool>({true, false, false, false})));
  EXPECT_TRUE(
      same(mapped(Function::less_or_equal, {a, b}), Tensor::vector<bool>({true, false, false, true})));
  EXPECT_TRUE(same(mapped(Function::equal, {a, b}), Tensor::vector<bool>({false, false, false, true})));
}

TEST(NetworkMap, BooleansHaveLogicalOperations) {
  const Tensor a = Tensor::vector<bool>({false, false, true, true}),
               b = Tensor::vector<bool>({false, true, false, true});
  EXPECT_TRUE(same(mapped(Function::bit_and, {a, b}), Tensor::vector<bool>({false, false, false, true})));
  EXPECT_TRUE(same(mapped(Function::bit_or, {a, b}), Tensor::vector<bool>({false, true, true, true})));
  EXPECT_TRUE(same(mapped(Function::bit_xor, {a, b}), Tensor::vector<bool>({false, true, true, false})));
  EXPECT_TRUE(same(mapped(Function::bit_not, {a}), Tensor::vector<bool>({true, true, false, false})));
  EXPECT_TRUE(
      same(mapped(Function::bit_not, {Tensor::scalar<std::uint8_t>(5)}), Tensor::scalar<std::uint8_t>(250)));
}

Tensor converted(const Tensor& x, DataType type) {
  Expression expression({x.data()});
  expression.add_result(expression.cast(expression.operand(0), type));
  return run(Map{expression}, {x});
}

TEST(NetworkMap, ConvertsAsItIsSaid) {
  const Tensor x = Tensor::vector<float>({-1.9F, 1.9F, kNan, 3e9F, -0.0F, 300, -kInfinity, 1e20F});
  constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_TRUE(same(converted(x, DataType::i32),
                   Tensor::vector<std::int32_t>({-1, 1, kLeast, kLeast, 0, 300, kLeast, kLeast})));
  EXPECT_TRUE(same(converted(x, DataType::i64), Tensor::vector<std::int64_t>({-1, 1, INT64_MIN, 3000000000, 0,
                                                                              300, INT64_MIN, INT64_MIN})));
  EXPECT_TRUE(same(converted(x, DataType::u8), Tensor::vector<std::uint8_t>({255, 1, 0, 0, 0, 44, 0, 0})));
  EXPECT_TRUE(same(converted(x, DataType::boolean),
                   Tensor::vector<bool>({true, true, true, true, false, true, true, true})));
  const Tensor wholes = Tensor::vector<std::int64_t>({-1, 300, (1LL << 32) + 5, 16777217});
  EXPECT_TRUE(same(converted(wholes, DataType::i8), Tensor::vector<std::int8_t>({-1, 44, 5, 1})));
  EXPECT_TRUE(
      same(converted(wholes, DataType::f32), Tensor::vector<float>({-1, 300, 4294967296.0F, 16777216})));
}

TEST(NetworkMap, ComputesGraphsWithSeveralResults) {
  Expression expression({DataType::f32, DataType::f32});
  const int x = expression.operand(0), y = expression.operand(1);
  const int sum = expression.call(Function::add, {x, y});
  EXPECT_EQ(expression.call(Function::add, {x, y}), sum);  // equal nodes are one
  EXPECT_NE(expression.constant(0.0F), expression.constant(-0.0F));
  const int is_less = expression.call(Function::less, {x, expression.constant(0.5F)});
  expression.add_result(expression.select(is_less, sum, y));
  expression.add_result(is_less);
  EXPECT_EQ(text_of(expression), "select(less(x0, 0.500000), add(x0, x1), x1); less(x0, 0.500000)");
  const Tensor a = made_odd({300}), b = made_odd({300}, 5);  // more than a tile
  const std::vector<Tensor> results = run_all(Map{expression}, {a, b});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(same(results[0], tensor_of<float>({300}, [&](const Shape& i) {
                     return at<float>(a, i) < 0.5F ? at<float>(a, i) + at<float>(b, i) : at<float>(b, i);
                   })));
  EXPECT_TRUE(
      same(results[1], tensor_of<bool>({300}, [&](const Shape& i) { return at<float>(a, i) < 0.5F; })));
}

TEST(NetworkMap, ActivationsHaveTheirLimits) {
  const Tensor x = Tensor::vector<float>({-kInfinity, -2, -0.0F, 2, kInfinity, kNan});
  const auto is = [&](Function function, std::initializer_list<Scalar> constants,
                      const std::vector<float>& wanted) {
    EXPECT_TRUE(same(mapped(function, {x}, constants), Tensor::vector<float>(wanted))) << name_of(function);
  };
  is(Function::relu, {}, {0, 0, -0.0F, 2, kInfinity, kNan});
  is(Function::clip, {-1.0F, 1.0F}, {-1, -1, -0.0F, 1, 1, kNan});
  is(Function::clip, {1.0F, -1.0F}, {-1, -1, -1, -1, -1, kNan});
  is(Function::leaky_relu, {0.5F}, {-kInfinity, -1, -0.0F, 2, kInfinity, kNan});
  is(Function::thresholded_relu, {1.0F}, {0, 0, 0, 2, kInfinity, 0});
  is(Function::hard_sigmoid, {0.25F, 0.5F}, {0, 0, 0.5F, 1, 1, kNan});
  is(Function::sigmoid, {},
     {functions::sigmoid(-87.0F), functions::sigmoid(-2.0F), 0.5F, functions::sigmoid(2.0F), 1, kNan});
}

TEST(NetworkMap, RefusesTypesThatDoNotFit) {
  Expression mixed({DataType::f32, DataType::i64, DataType::boolean});
  const int real = mixed.operand(0), whole = mixed.operand(1), truth = mixed.operand(2);
  EXPECT_THROW(mixed.call(Function::add, {real, whole}), Problem);
  EXPECT_THROW(mixed.call(Function::add, {truth, truth}), Problem);
  EXPECT_THROW(mixed.call(Function::exponential, {whole}), Problem);
  EXPECT_THROW(mixed.call(Function::bit_and, {real, real}), Problem);
  EXPECT_THROW(mixed.select(whole, real, real), Problem);
  EXPECT_THROW(mixed.select(truth, real, whole), Problem);
  EXPECT_THROW(mixed.call(Function::add, {real}), std::logic_error);
  const Map sum{Expression::of(Function::add, {DataType::f32, DataType::f32})};
  expect_refused(sum, {{DataType::f32, {2}}});
  expect_refused(sum, {{DataType::f32, {2}}, {DataType::i64, {2}}});
  expect_refused(sum, {{DataType::f32, {2}}, {DataType::f32, {3}}});
}

}  // namespace
}  // namespace sightline::nn
