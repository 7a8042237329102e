// Operators that are replaced by others when a network is loaded, against their definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "detectors/network/interpreter.hpp"
#include "detectors/network/operators.hpp"
#include "network/onnx_builder.hpp"
#include "network/plan_comparison.hpp"
#include "support/errors.hpp"

namespace sightline::network {
namespace {

using test::OnDevice;
using test::OnnxAttribute;
using test::OnnxBuilder;
using testing::HasSubstr;

constexpr std::int64_t kLoadMemory = std::int64_t{1} << 28;

// Numbers of an input, which are no multiples of each other.
double number(std::int64_t i) {
  return static_cast<double>(i * 37 % 101) / 32 - 1.5;
}

// What a loaded network makes of `number`. Its shape goes to `shape`.
std::vector<float> made_by_loaded(const OnnxBuilder& builder, Shape* shape = nullptr) {
  Graph graph = builder.typed_graph();
  simplify(graph, kLoadMemory);
  Interpreter interpreter(graph, kLoadMemory);
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
    Tensor& in = interpreter.input(k);
    for (std::int64_t i = 0; i < in.size(); ++i) in.reals()[i] = static_cast<float>(number(i));
  }
  interpreter.run_all();
  const Tensor& out = interpreter.output(0);
  if (shape) *shape = out.shape();
  return {out.reals(), out.reals() + out.size()};
}

void expect_near(const std::vector<float>& made, const std::vector<double>& expected) {
  ASSERT_EQ(made.size(), expected.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    EXPECT_NEAR(made[i], expected[i], 1e-5 * (1 + std::fabs(expected[i]))) << i;
}

void expect_refused(const OnnxBuilder& builder, const std::string& why) {
  Graph graph = builder.typed_graph();
  try {
    simplify(graph, kLoadMemory);
    ADD_FAILURE() << "is not refused: " << why;
  } catch (const Problem& problem) {
    EXPECT_THAT(problem.what(), HasSubstr(why));
  }
}

// A network of one node whose output is the network's.
OnnxBuilder one_node(const std::string& op, const std::vector<Shape>& inputs,
                     const std::vector<OnnxAttribute>& attributes) {
  OnnxBuilder builder(18);
  std::vector<std::string> names;
  for (const Shape& shape : inputs) {
    names.push_back("x" + std::to_string(names.size()));
    builder.input(names.back(), shape);
  }
  builder.node(op, names, {"y"}, attributes);
  builder.output("y");
  return builder;
}

// --- along one axis

// A convolution of [1, 4, 9] whose kernel has 3 places.
TEST(NetworkLowering, ConvolutionsOfOneAxisAreThoseOfARow) {
  constexpr std::int64_t kInputs = 4, kOutputs = 6, kSide = 9, kGroups = 2, kPadding = 2, kStep = 2;
  OnnxBuilder builder(17);
  builder.input("x", {1, kInputs, kSide});
  const std::string w = builder.weights("w", {kOutputs, kInputs / kGroups, 3});
  const std::string b = builder.reals("b", {kOutputs}, {1, 2, 3, 4, 5, 6});
  builder.node("Conv", {"x", w, b}, {"y"},
               {{"group", kGroups}, {"pads", {kPadding, 1}}, {"strides", {kStep}}, {"dilations", {2}}});
  builder.output("y");
  const Graph graph = builder.graph();
  const Tensor* weights = nullptr;
  for (const Value& value : graph.values) {
    if (value.name == "w") weights = value.constant.get();
  }
  ASSERT_TRUE(weights);
  std::vector<double> expected;
  constexpr std::int64_t kReach = 2 * 2 + 1, kOut = (kSide + kPadding + 1 - kReach) / kStep + 1;
  for (std::int64_t m = 0; m < kOutputs; ++m) {
    for (std::int64_t i = 0; i < kOut; ++i) {
      double sum = static_cast<double>(m) + 1;
      for (std::int64_t c = 0; c < kInputs / kGroups; ++c) {
        for (std::int64_t k = 0; k < 3; ++k) {
          const std::int64_t at = i * kStep + 2 * k - kPadding;
          const std::int64_t channel = m / (kOutputs / kGroups) * (kInputs / kGroups) + c;
          if (at >= 0 && at < kSide)
            sum += number(channel * kSide + at) *
                   double{weights->reals()[(m * (kInputs / kGroups) + c) * 3 + k]};
        }
      }
      expected.push_back(sum);
    }
  }
  Shape shape;
  expect_near(made_by_loaded(builder, &shape), expected);
  EXPECT_EQ(shape, (Shape{1, kOutputs, kOut}));
  test::expect_plan_equals_interpreter(builder, OnDevice::no);
}

TEST(NetworkLowering, PoolingOfOneAxisIsThatOfARow) {
  const std::vector<OnnxAttribute> window{{"kernel_shape", {3}}, {"strides", {2}}, {"pads", {1, 1}}};
  std::vector<double> largest, means;
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t i = 0; i < 4; ++i) {
      double sum = 0, count = 0, most = -100;
      for (std::int64_t k = std::max<std::int64_t>(0, 2 * i - 1); k < std::min<std::int64_t>(7, 2 * i + 2);
           ++k) {
        sum += number(row * 7 + k);
        most = std::max(most, number(row * 7 + k));
        ++count;
      }
      means.push_back(sum / count);
      largest.push_back(most);
    }
  }
  expect_near(made_by_loaded(one_node("MaxPool", {{1, 2, 7}}, window)), largest);
  expect_near(made_by_loaded(one_node("AveragePool", {{1, 2, 7}}, window)), means);
}

TEST(NetworkLowering, TransposedConvolutionsOfOneAxisAreThoseOfARow) {
  OnnxBuilder builder(17);
  builder.input("x", {1, 1, 3});
  builder.node("ConvTranspose", {"x", builder.reals("w", {1, 1, 3}, {1, 10, 100})}, {"y"},
               {{"strides", {2}}, {"output_padding", {1}}, {"pads", {1, 0}}});
  builder.output("y");
  std::vector<double> all(8, 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      all[2 * i + k] += number(static_cast<std::int64_t>(i)) * std::pow(10.0, k);
  }
  expect_near(made_by_loaded(builder), {all.begin() + 1, all.end()});
}

// --- norms

double norm_of(const std::vector<double>& values, double p) {
  double sum = 0;
  for (const double one : values) sum += std::pow(std::fabs(one), p);
  return std::pow(sum, 1 / p);
}

TEST(NetworkLowering, NormsAreRootsOfSumsOfPowers) {
  for (const std::int64_t p : {1, 2, 3}) {
    SCOPED_TRACE(p);
    std::vector<double> all, pooled, normalised(12);
    for (std::int64_t channel = 0; channel < 2; ++channel) {
      std::vector<double> plane;
      for (std::int64_t i = 0; i < 9; ++i) plane.push_back(number(channel * 9 + i));
      all.push_back(norm_of(plane, static_cast<double>(p)));
      for (const std::size_t first : {0U, 1U, 3U, 4U})  // windows of 2x2
        pooled.push_back(norm_of({plane[first], plane[first + 1], plane[first + 3], plane[first + 4]},
                                 static_cast<double>(p)));
    }
    const OnnxAttribute exponent("p", p);
    expect_near(made_by_loaded(one_node("GlobalLpPool", {{1, 2, 3, 3}}, {exponent})), all);
    expect_near(made_by_loaded(one_node("LpPool", {{1, 2, 3, 3}}, {exponent, {"kernel_shape", {2, 2}}})),
                pooled);
    if (p > 2) continue;
    for (std::int64_t column = 0; column < 4; ++column) {
      const std::vector<double> rows{number(column), number(4 + column), number(8 + column)};
      for (std::size_t row = 0; row < 3; ++row)
        normalised[row * 4 + static_cast<std::size_t>(column)] =
            rows[row] / norm_of(rows, static_cast<double>(p));
    }
    expect_near(made_by_loaded(one_node("LpNormalization", {{3, 4}}, {exponent, {"axis", 0}})), normalised);
  }
  std::vector<double> row;  // along one axis; padding counts as 0
  for (std::int64_t i = 0; i < 4; ++i) row.push_back(norm_of({i == 0 ? 0 : number(i - 1), number(i)}, 2));
  expect_near(made_by_loaded(one_node("LpPool", {{1, 1, 4}}, {{"kernel_shape", {2}}, {"pads", {1, 0}}})),
              row);
}

TEST(NetworkLowering, TheNormOfZerosLeavesZeros) {
  OnnxBuilder builder(18);
  builder.input("x", {1});
  builder.node("Mul", {"x", builder.reals("zeros", {2}, {0, 0})}, {"none"});
  builder.node("LpNormalization", {"none"}, {"y"});
  builder.output("y");
  EXPECT_EQ(made_by_loaded(builder), (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace sightline::network
