// Operators that are replaced by others when a network is loaded, against their definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "detectors/network/network.hpp"
#include "network/onnx_builder.hpp"
#include "onnx_import/plan_check.hpp"
#include "onnx_import/run_imported.hpp"
#include "support/errors.hpp"

namespace sightline::nn {
namespace {

using test::OnnxAttribute;
using test::OnnxBuilder;
using testing::HasSubstr;

// Numbers of an input, which are no multiples of each other.
double number(std::int64_t i) {
  return static_cast<double>(i * 37 % 101) / 32 - 1.5;
}

// What a loaded network makes of `number`. Its shape goes to `shape`.
std::vector<float> made_by_loaded(const OnnxBuilder& builder, Shape* shape = nullptr) {
  const Tensor out =
      test::run_imported(builder.imported(), [](std::int64_t i) { return static_cast<float>(number(i)); })[0];
  if (shape) *shape = out.shape();
  std::vector<float> made;
  for (std::int64_t i = 0; i < out.size(); ++i) made.push_back(number_at(out, i));
  return made;
}

void expect_near(const std::vector<float>& made, const std::vector<double>& expected) {
  ASSERT_EQ(made.size(), expected.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    EXPECT_NEAR(made[i], expected[i], 1e-5 * (1 + std::fabs(expected[i]))) << i;
}

void expect_refused(const OnnxBuilder& builder, const std::string& why) {
  try {
    builder.imported();
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

// --- Einsum

struct EinsumCase {
  std::string equation;
  std::vector<std::string> inputs;  // a letter for each axis
  std::string output;
  std::vector<Shape> shapes;
};

// The sum of products over all letters that the output lacks. Axes of one place are repeated.
std::vector<double> einsum(const EinsumCase& one) {
  std::map<char, std::int64_t> sides;
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    for (std::size_t axis = 0; axis < one.inputs[k].size(); ++axis) {
      std::int64_t& side = sides[one.inputs[k][axis]];
      side = std::max(side, one.shapes[k][axis]);
    }
  }
  std::string order = one.output;
  for (const auto& [letter, side] : sides) {
    if (one.output.find(letter) == std::string::npos) order += letter;
  }
  std::int64_t results = 1, all = 1;
  for (const char letter : one.output) results *= sides.at(letter);
  for (const auto& [letter, side] : sides) all *= side;
  std::vector<double> sums(static_cast<std::size_t>(results), 0.0);
  for (std::int64_t i = 0; i < all; ++i) {
    std::map<char, std::int64_t> place;
    std::int64_t rest = i;
    for (std::size_t k = order.size(); k-- > 0; rest /= sides.at(order[k]))
      place[order[k]] = rest % sides.at(order[k]);
    double product = 1;
    for (std::size_t k = 0; k < one.inputs.size(); ++k) {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < one.inputs[k].size(); ++axis) {
        const std::int64_t side = one.shapes[k][axis];
        offset = offset * side + (side == 1 ? 0 : place.at(one.inputs[k][axis]));
      }
      product *= number(offset);
    }
    sums[static_cast<std::size_t>(i / (all / results))] += product;
  }
  return sums;
}

TEST(OnnxLowering, EinsumIsTheSumOfProducts) {
  const EinsumCase cases[] = {
      {"bchw,bkc->bkhw", {"bchw", "bkc"}, "bkhw", {{1, 6, 4, 5}, {1, 3, 6}}},  // classes of YOLO-World
      {"bmchw,bnmc->bmhwn", {"bmchw", "bnmc"}, "bmhwn", {{2, 3, 4, 2, 5}, {2, 7, 3, 4}}},  // its attention
      {"bqc,bchw->bqhw", {"bqc", "bchw"}, "bqhw", {{1, 5, 6}, {1, 6, 3, 4}}},              // masks of queries
      {"nlhd,nhdv->nlhv", {"nlhd", "nhdv"}, "nlhv", {{1, 4, 2, 3}, {1, 2, 3, 5}}},
      {" i j , j k -> i k ", {"ij", "jk"}, "ik", {{2, 3}, {3, 4}}},
      {"ij,kj->ki", {"ij", "kj"}, "ki", {{2, 3}, {4, 3}}},
      {"ij,jk", {"ij", "jk"}, "ik", {{2, 3}, {3, 4}}},
      {"ba", {"ba"}, "ab", {{2, 3}}},  // in alphabetical order
      {"ij->", {"ij"}, "", {{2, 3}}},
      {"ij->i", {"ij"}, "i", {{2, 3}}},
      {"i->i", {"i"}, "i", {{3}}},
      {"i,j->ij", {"i", "j"}, "ij", {{2}, {3}}},
      {"i,j->ji", {"i", "j"}, "ji", {{2}, {3}}},
      {"ij,ij->ij", {"ij", "ij"}, "ij", {{2, 3}, {2, 3}}},
      {"ij,ij->", {"ij", "ij"}, "", {{2, 3}, {2, 3}}},
      {",i->i", {"", "i"}, "i", {{}, {3}}},
      {"ij,jk,kl->il", {"ij", "jk", "kl"}, "il", {{2, 3}, {3, 4}, {4, 2}}},
      {"ij,jk,ki->", {"ij", "jk", "ki"}, "", {{2, 3}, {3, 4}, {4, 2}}},
      {"a,b,c,abc->", {"a", "b", "c", "abc"}, "", {{2}, {3}, {4}, {2, 3, 4}}},
      {"...ij,...jk->...ik", {"abij", "abjk"}, "abik", {{2, 3, 4, 5}, {2, 3, 5, 2}}},
      {"...ij,...jk", {"abij", "bjk"}, "abik", {{2, 3, 4, 5}, {3, 5, 2}}},  // of fewer axes
      {"...ij,...jk->...ik", {"abij", "abjk"}, "abik", {{2, 1, 4, 5}, {1, 3, 5, 2}}},
      {"ij,jk->ik", {"ij", "jk"}, "ik", {{2, 1}, {3, 4}}},  // the one column is repeated
      {"c...,c->...c", {"cab", "c"}, "abc", {{2, 3, 4}, {2}}},
  };
  for (const EinsumCase& one : cases) {
    SCOPED_TRACE(one.equation);
    const OnnxBuilder network = one_node("Einsum", one.shapes, {{"equation", one.equation}});
    expect_near(made_by_loaded(network), einsum(one));
  }
}

TEST(OnnxLowering, EinsumOfMapsIsPlanned) {
  OnnxBuilder builder(17);
  builder.input("images", {1, 3, 16, 16});
  const std::string map = builder.convolution("map", "images", 3, 24, 3, 2);
  const std::string norm = builder.node("LpNormalization", {map}, {"norm"}, {{"axis", 1}}).output(0);
  builder.node("Einsum", {norm, builder.weights("text", {1, 5, 24})}, {"scores"},
               {{"equation", "bchw,bkc->bkhw"}});
  builder.output("scores");
  test::expect_plan_equals_reference(builder);
}

TEST(OnnxLowering, EquationsThatDoNotFitAreRefused) {
  const auto refused = [](const std::string& equation, const std::vector<Shape>& shapes,
                          const std::string& why) {
    expect_refused(one_node("Einsum", shapes, {{"equation", equation}}), why);
  };
  refused("ij,jk->ik", {{2, 3}}, "1 inputs");
  refused("ij->ij", {{2, 3, 4}}, "2x3x4");
  refused("...ijk->i", {{2, 3}}, "2x3");
  refused("ij,jk->ik", {{2, 3}, {4, 5}}, "do not fit");
  refused("ij->ik", {{2, 3}}, "no input has");
  refused("ii->i", {{3, 3}}, "not supported");
  refused("ij->ii", {{2, 3}}, "not supported");
  refused("i1->i", {{2, 3}}, "not supported");
  refused("i....->i", {{2, 3}}, "not supported");
  refused("", {{2, 3}}, "2x3");
  refused(std::string(1000, 'a'), {{2, 3}}, "too long");
}

// Each frame decides how many places there are.
TEST(OnnxLowering, TensorsOfUnknownSizeAreRefusedWhenLoaded) {
  OnnxBuilder builder(17);
  builder.input("x", {2, 3});
  builder.node("NonZero", {"x"}, {"places"});
  builder.node("Cast", {"places"}, {"reals"}, {{"to", 1}});
  builder.node("Einsum", {"reals"}, {"y"}, {{"equation", "ij->ji"}});
  builder.output("y");
  expect_refused(builder, "sizes are not known");
}

// --- along one axis

// A convolution of [1, 4, 9] whose kernel has 3 places.
TEST(OnnxLowering, ConvolutionsOfOneAxisAreThoseOfARow) {
  constexpr std::int64_t kInputs = 4, kOutputs = 6, kSide = 9, kGroups = 2, kPadding = 2, kStep = 2;
  OnnxBuilder builder(17);
  builder.input("x", {1, kInputs, kSide});
  const std::string w = builder.weights("w", {kOutputs, kInputs / kGroups, 3});
  const std::string b = builder.reals("b", {kOutputs}, {1, 2, 3, 4, 5, 6});
  builder.node("Conv", {"x", w, b}, {"y"},
               {{"group", kGroups}, {"pads", {kPadding, 1}}, {"strides", {kStep}}, {"dilations", {2}}});
  builder.output("y");
  const OnnxModel model = builder.model();
  const Tensor* weights = nullptr;
  for (const OnnxValue& value : model.graph.values) {
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
                   double{weights->raw<float>()[(m * (kInputs / kGroups) + c) * 3 + k]};
        }
      }
      expected.push_back(sum);
    }
  }
  Shape shape;
  expect_near(made_by_loaded(builder, &shape), expected);
  EXPECT_EQ(shape, (Shape{1, kOutputs, kOut}));
  test::expect_plan_equals_reference(builder);
}

TEST(OnnxLowering, PoolingOfOneAxisIsThatOfARow) {
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

TEST(OnnxLowering, TransposedConvolutionsOfOneAxisAreThoseOfARow) {
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

TEST(OnnxLowering, NormsAreRootsOfSumsOfPowers) {
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

TEST(OnnxLowering, TheNormOfZerosLeavesZeros) {
  OnnxBuilder builder(18);
  builder.input("x", {1});
  builder.node("Mul", {"x", builder.reals("zeros", {2}, {0, 0})}, {"none"});
  builder.node("LpNormalization", {"none"}, {"y"});
  builder.output("y");
  EXPECT_EQ(made_by_loaded(builder), (std::vector<float>{0, 0}));
}

// --- resizing

// A network that resizes an input of this shape by scales, one for each axis.
OnnxBuilder resized_by(const Shape& shape, const std::vector<float>& scales,
                       const std::vector<OnnxAttribute>& attributes) {
  OnnxBuilder builder(18);
  builder.input("x", shape);
  const std::string by = builder.reals("scales", {static_cast<std::int64_t>(scales.size())}, scales);
  builder.node("Resize", {"x", "", by}, {"y"}, attributes);
  builder.output("y");
  return builder;
}

const OnnxAttribute kAsymmetric("coordinate_transformation_mode", "asymmetric");

// Between two places, the cubic function with a = -0.5 weighs its four neighbours by -1/16, 9/16, 9/16,
// -1/16; those outside are the first or the last.
TEST(OnnxLowering, CubicResizeWeighsFourPlaces) {
  const OnnxBuilder network =
      resized_by({1, 1, 1, 6}, {1, 1, 1, 2}, {{"mode", "cubic"}, {"cubic_coeff_a", -0.5F}, kAsymmetric});
  const auto at = [](std::int64_t i) { return number(std::clamp<std::int64_t>(i, 0, 5)); };
  std::vector<double> expected;
  for (std::int64_t i = 0; i < 6; ++i) {
    expected.push_back(at(i));
    expected.push_back((9 * (at(i) + at(i + 1)) - at(i - 1) - at(i + 2)) / 16);
  }
  expect_near(made_by_loaded(network), expected);
  const std::vector<float> without = made_by_loaded(
      resized_by({1, 1, 1, 6}, {1, 1, 1, 2},
                 {{"mode", "cubic"}, {"cubic_coeff_a", -0.5F}, {"exclude_outside", 1}, kAsymmetric}));
  EXPECT_NEAR(without[1], (9 * (at(0) + at(1)) - at(2)) / 17, 1e-6);
}

// ONNX's own examples.
TEST(OnnxLowering, ResizeSmoothsBeforeItShrinks) {
  for (const auto& [mode, expected] : std::map<std::string, std::vector<double>>{
           {"linear",
            {2.3636363, 3.590909, 4.818182, 7.2727275, 8.5, 9.727273, 12.181818, 13.409091, 14.636364}},
           {"cubic",
            {1.7750092, 3.1200073, 4.4650054, 7.1550016, 8.5, 9.844998, 12.534994, 13.8799925, 15.224991}}}) {
    OnnxBuilder builder(18);
    std::vector<float> picture(16);
    for (std::size_t i = 0; i < 16; ++i) picture[i] = static_cast<float>(i) + 1;
    builder.input("x", {1});
    builder.node(
        "Resize",
        {builder.reals("picture", {1, 1, 4, 4}, picture), "", "", builder.wholes("sizes", {4}, {1, 1, 3, 3})},
        {"y"}, {{"mode", mode}, {"antialias", 1}});
    builder.output("y");
    expect_near(made_by_loaded(builder), expected);
  }
}

TEST(OnnxLowering, ResizeOfOtherAxes) {
  const OnnxAttribute floor("nearest_mode", "floor");
  // A row of three channels of two places, in opset 18 and by Upsample.
  const std::vector<double> twice{number(0), number(0), number(1), number(1), number(2), number(2),
                                  number(3), number(3), number(4), number(4), number(5), number(5)};
  expect_near(made_by_loaded(resized_by({1, 3, 2}, {1, 1, 2}, {kAsymmetric, floor})), twice);
  OnnxBuilder old(9);
  old.input("x", {1, 3, 2});
  old.node("Upsample", {"x", old.reals("scales", {3}, {1, 1, 2})}, {"y"});
  old.output("y");
  expect_near(made_by_loaded(old), twice);
  // Channels.
  const std::vector<double> rows = {number(0), number(1), number(0), number(1),
                                    number(2), number(3), number(2), number(3)};
  expect_near(made_by_loaded(resized_by({1, 2, 1, 2}, {1, 2, 1, 1}, {kAsymmetric, floor})), rows);
  const auto mid = [](std::int64_t i, std::int64_t k) { return (number(i) + number(k)) / 2; };
  const std::vector<double> mixed = {number(0), number(1), mid(0, 2), mid(1, 3),
                                     number(2), number(3), number(2), number(3)};
  expect_near(made_by_loaded(resized_by({2, 2}, {2, 1}, {{"mode", "linear"}, kAsymmetric})), mixed);
}

// --- QuantizeLinear and DequantizeLinear

// Adds levels of 8 bits, from 0 or around 0.
std::string levels(OnnxBuilder& builder, const std::string& name, const std::vector<std::int32_t>& values,
                   int type = onnx::TensorProto::INT8) {
  onnx::TensorProto& tensor = *builder.proto().mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  if (values.size() > 1) tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int32_t one : values) tensor.add_int32_data(one);
  return name;
}

TEST(OnnxLowering, QuantisingRoundsHalvesToEvenAndSaturates) {
  struct Case {
    int type, zero_point;
    double lowest, highest;
  };
  for (const Case& one : {Case{onnx::TensorProto::UINT8, 3, 0, 255},
                          {onnx::TensorProto::INT8, 0, -128, 127},
                          {onnx::TensorProto::INT8, -7, -128, 127}}) {
    for (const float scale : {0x1p-6F, 0x1p-7F, 0x1p-30F}) {
      OnnxBuilder builder(13);
      builder.input("x", {101});
      builder.node("QuantizeLinear",
                   {"x", builder.reals("s", {}, {scale}), levels(builder, "z", {one.zero_point}, one.type)},
                   {"y"});
      builder.output("y");
      std::vector<double> expected;
      for (std::int64_t i = 0; i < 101; ++i)
        expected.push_back(
            std::clamp(std::nearbyint(number(i) / scale) + one.zero_point, one.lowest, one.highest));
      const std::vector<float> made = made_by_loaded(builder);
      EXPECT_TRUE(std::ranges::equal(made, expected)) << one.type << ' ' << one.zero_point << ' ' << scale;
    }
  }
}

TEST(OnnxLowering, ScalesAndZeroPointsHoldForAnAxis) {
  OnnxBuilder builder(13);
  builder.input("x", {1, 4});
  levels(builder, "q", {1, 2, 3, -4});
  builder.node("DequantizeLinear",
               {"q", builder.reals("s", {4}, {0.5F, 1, 2, 4}), levels(builder, "z", {0, 1, -1, 0})}, {"w"},
               {{"axis", 0}});
  builder.node("Mul", {"x", "w"}, {"y"});
  builder.output("y");
  expect_near(made_by_loaded(builder), {number(0) * 0.5, number(1), number(2) * 8, number(3) * -16});
}

// Behind each node whose results networks quantise.
OnnxBuilder quantised(OnnxBuilder plain) {
  OnnxBuilder made(13);
  made.proto() = plain.proto();
  made.proto().mutable_graph()->clear_node();
  made.reals("scale", {}, {0.04F});
  levels(made, "zero", {0});
  for (const onnx::NodeProto& node : plain.proto().graph().node()) {
    onnx::NodeProto& copy = *made.proto().mutable_graph()->add_node();
    copy = node;
    if (node.op_type() == "Reshape" || node.op_type() == "Transpose") continue;
    const std::string name = node.output(0);
    copy.set_output(0, name + "_real");
    made.node("QuantizeLinear", {name + "_real", "scale", "zero"}, {name + "_levels"});
    made.node("DequantizeLinear", {name + "_levels", "scale", "zero"}, {name});
  }
  return made;
}

TEST(OnnxLowering, QuantisedDetectorsAreReadLikeOthers) {
  network::Settings settings;
  settings.file = "test.onnx";
  const network::Network network = make_network(quantised(test::small_yolox(64, 2)).model(), settings);
  EXPECT_EQ(network.scheme.type, make_network(test::small_yolox(64, 2).model(), settings).scheme.type);
  EXPECT_TRUE(network::parts_of(network)->parts.front().partition.on_device);
  test::expect_plan_equals_reference(quantised(test::small_yolox(64, 2)));
}

TEST(OnnxLowering, ScalesMayHoldForBlocks) {
  OnnxBuilder builder(21);
  builder.input("x", {1, 3});
  levels(builder, "flat", {1, 2, 3, 4, 5, 6});
  builder.node("Reshape", {"flat", builder.wholes("shape", {2}, {2, 3})}, {"q"});
  builder.node("DequantizeLinear", {"q", builder.reals("s", {2, 2}, {1, 10, 100, 1000})}, {"w"},
               {{"axis", 1}, {"block_size", 2}});
  builder.node("Mul", {"x", "w"}, {"y"});
  builder.output("y");
  expect_near(made_by_loaded(builder),
              {number(0), number(1) * 2, number(2) * 30, number(0) * 400, number(1) * 500, number(2) * 6000});
}

// Each is what it says between two of the others: levels, real numbers, levels.
TEST(OnnxLowering, OperatorsOfLevelsComputeWithWhatTheyStandFor) {
  using Names = std::vector<std::string>;
  const Names x{"x_levels", "s", "z"}, y{"y_levels", "t", "w"}, result{"u", "w"};
  const auto joined = [](std::initializer_list<Names> all) {
    Names names;
    for (const Names& one : all) names.insert(names.end(), one.begin(), one.end());
    return names;
  };
  struct Case {
    std::string op;
    Names inputs;
    bool is_pair;
    std::vector<OnnxAttribute> attributes;
  };
  const std::vector<OnnxAttribute> window{{"kernel_shape", std::vector<std::int64_t>{2, 2}}};
  for (const Case& one : {Case{"Add", joined({x, y, result}), true, {}},
                          {"Mul", joined({x, y, result}), true, {}},
                          {"Sigmoid", joined({x, result}), false, {}},
                          {"LeakyRelu", joined({x, result}), false, {{"alpha", 0.3F}}},
                          {"GlobalAveragePool", joined({x, result}), false, {}},
                          {"AveragePool", joined({x, result}), false, window},
                          {"Concat", joined({result, x, y}), true, {{"axis", 1}}}}) {
    const auto make = [&](bool of_levels) {
      OnnxBuilder builder(13);
      builder.input("x", {1, 2, 3, 3});
      builder.input("y", {1, 2, 3, 3});
      builder.reals("s", {}, {0.05F});
      builder.reals("t", {}, {0.03F});
      builder.reals("u", {}, {0.02F});
      levels(builder, "z", {-3});
      levels(builder, "w", {100}, onnx::TensorProto::UINT8);
      builder.node("QuantizeLinear", {"x", "s", "z"}, {"x_levels"});
      builder.node("QuantizeLinear", {"y", "t", "w"}, {"y_levels"});
      if (of_levels) {
        builder.node("QLinear" + one.op, one.inputs, {"levels"}, one.attributes).set_domain("com.microsoft");
      } else {
        builder.node("DequantizeLinear", x, {"x_real"});
        builder.node("DequantizeLinear", y, {"y_real"});
        builder.node(one.op, one.is_pair ? Names{"x_real", "y_real"} : Names{"x_real"}, {"real"},
                     one.attributes);
        builder.node("QuantizeLinear", {"real", "u", "w"}, {"levels"});
      }
      builder.output("levels");
      return made_by_loaded(builder);
    };
    EXPECT_EQ(make(true), make(false)) << one.op;
  }
}

TEST(OnnxLowering, OtherQuantisationsAreRefused) {
  const auto builder = [](int type, const OnnxAttribute& attribute, const Shape& scales) {
    OnnxBuilder made(21);
    made.input("x", {2, 3});
    const std::vector<float> values(static_cast<std::size_t>(elements_of(scales)), 0.5F);
    made.node("QuantizeLinear", {"x", made.reals("s", scales, values), levels(made, "z", {0}, type)}, {"y"},
              {attribute});
    made.output("y");
    return made;
  };
  const OnnxAttribute axis("axis", 1);
  expect_refused(builder(onnx::TensorProto::INT32, axis, {}), "8 bits");
  expect_refused(builder(onnx::TensorProto::INT8, OnnxAttribute("block_size", 2), {2}), "blocks");
  expect_refused(builder(onnx::TensorProto::INT8, axis, {2}), "2x3");
}

// --- branches

// Twice x, or x and a constant, where x has a side of 1.
OnnxBuilder branches_by(std::int64_t side) {
  OnnxBuilder builder(17), twice, more;
  builder.input("x", {1, side});
  builder.node("Shape", {"x"}, {"shape"});
  builder.node("Gather", {"shape", builder.wholes("second", {}, {1})}, {"side"});
  builder.node("Equal", {"side", builder.wholes("one", {}, {1})}, {"is_one"});
  twice.node("Add", {"x", "x"}, {"a"});
  twice.output("a");
  more.node("Add", {"x", more.reals("c", {1}, {10})}, {"b"});
  more.output("b");
  builder.branch("is_one", more, twice, "y");
  builder.output("y");
  return builder;
}

TEST(OnnxLowering, BranchesBySizesAreResolved) {
  expect_near(made_by_loaded(branches_by(1)), {number(0) + 10});
  expect_near(made_by_loaded(branches_by(2)), {2 * number(0), 2 * number(1)});
}

TEST(OnnxLowering, BranchesInBranchesReadWhatIsOutside) {
  OnnxBuilder builder = branches_by(2);
  const onnx::NodeProto inner = builder.proto().graph().node(3);
  onnx::NodeProto& outer = *builder.proto().mutable_graph()->mutable_node(3);
  for (onnx::AttributeProto& one : *outer.mutable_attribute()) {
    onnx::GraphProto& branch = *one.mutable_g();
    branch.clear_node();
    branch.clear_initializer();
    *branch.add_node() = inner;
    branch.mutable_node(0)->set_output(0, branch.output(0).name());
    // Names are used once in a network.
    for (onnx::AttributeProto& part : *branch.mutable_node(0)->mutable_attribute()) {
      part.mutable_g()->mutable_node(0)->set_output(0, "inner");
      part.mutable_g()->mutable_output(0)->set_name("inner");
    }
  }
  expect_near(made_by_loaded(builder), {2 * number(0), 2 * number(1)});
}

TEST(OnnxLowering, BranchesByValuesAreRefused) {
  OnnxBuilder builder = branches_by(1);
  builder.proto().mutable_graph()->mutable_node(2)->set_input(0, "x");
  builder.proto().mutable_graph()->mutable_node(2)->set_input(1, "x");
  expect_refused(builder, "not known when the network is loaded");
  builder = branches_by(1);
  builder.proto().mutable_graph()->mutable_node(3)->clear_attribute();
  expect_refused(builder, "lacks a branch");
}

}  // namespace
}  // namespace sightline::nn
