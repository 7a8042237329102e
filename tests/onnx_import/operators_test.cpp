// Operators by examples, and functions against the C library's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/error.hpp"
#include "network/functions.hpp"
#include "network/onnx_builder.hpp"
#include "onnx_import/run_imported.hpp"

namespace sightline::nn {
namespace {

using namespace functions;

// What a network makes of 0, 1, 2 and so on.
std::vector<float> made_by(const test::OnnxBuilder& builder) {
  const Tensor out =
      test::run_imported(builder.imported(), [](std::int64_t i) { return static_cast<float>(i); })[0];
  std::vector<float> values;
  for (std::int64_t i = 0; i < out.size(); ++i) values.push_back(number_at(out, i));
  return values;
}

// What a network without inputs makes, which are integers.
std::vector<std::int64_t> integers_of(const test::OnnxBuilder& builder) {
  const Tensor out = test::run_imported(builder.imported())[0];
  return with_type(out.data(), [&]<typename T>() {
    return std::vector<std::int64_t>(out.as<T>().begin(), out.as<T>().end());
  });
}

// What one node makes of ten numbers in a row.
std::vector<float> made_of_ten(const std::string& op, const std::vector<std::string>& more,
                               const std::vector<test::OnnxAttribute>& attributes, float scale = 0.6F,
                               int opset = 24) {
  test::OnnxBuilder builder(opset);
  builder.input("x", {1, 1, 1, 10});
  builder.reals("scales", {4}, {1, 1, 1, scale});
  builder.wholes("pads", {8}, {0, 0, 0, 2, 0, 0, 0, 1});
  std::vector<std::string> inputs{"x"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  builder.node(op, inputs, {"y"}, attributes);
  builder.output("y");
  return made_by(builder);
}

using Numbers = std::vector<float>;
const std::vector<test::OnnxAttribute> kByFloor{{"coordinate_transformation_mode", "asymmetric"},
                                                {"nearest_mode", "floor"}};

TEST(OnnxOperators, ResizeAtPlacesInSinglePrecision) {
  EXPECT_EQ(made_of_ten("Resize", {"", "scales"}, kByFloor), (Numbers{0, 1, 3, 5, 6, 8}));
}

TEST(OnnxOperators, ResizeCountsAScaleThatKeepsTheSize) {
  EXPECT_EQ(made_of_ten("Resize", {"", "scales"}, kByFloor, 1.06F), (Numbers{0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  const Numbers linear = made_of_ten("Resize", {"", "scales"}, {{"mode", "linear"}}, 1.06F);
  ASSERT_EQ(linear.size(), 10);
  EXPECT_FLOAT_EQ(linear[9], 9.5F / 1.06F - 0.5F);
  // Corners keep their places, whatever the scale.
  EXPECT_EQ(made_of_ten("Resize", {"", "scales"},
                        {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}, 1.06F),
            (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  // Channels, too.
  test::OnnxBuilder builder;
  builder.input("x", {1, 16, 4, 4});
  builder.node("Resize", {"x", "", builder.reals("scales", {4}, {1, 1.03F, 1, 1})}, {"y"}, kByFloor);
  builder.output("y");
  const Numbers channels = made_by(builder);
  ASSERT_EQ(channels.size(), 256);
  EXPECT_EQ(channels[15 * 16], 14 * 16);
}

// As ONNX Runtime, which rounds up where such a picture shrinks; later opsets say how to round.
TEST(OnnxOperators, ResizeOfOpset10RoundsUpWhereItShrinks) {
  EXPECT_EQ(made_of_ten("Resize", {"scales"}, {}, 0.6F, 10), (Numbers{0, 2, 4, 5, 7, 9}));
  EXPECT_EQ(made_of_ten("Resize", {"scales"}, {}, 1.3F, 10),
            (Numbers{0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9}));
  EXPECT_EQ(made_of_ten("Resize", {"scales"}, {{"mode", "linear"}}, 0.5F, 10), (Numbers{0, 2, 4, 6, 8}));
}

// The number before a half is no half, though half added to it is rounded up to a whole number.
TEST(OnnxOperators, ResizePrefersWhatIsAskedForAtHalvesAlone) {
  const auto rounded = [](const char* mode, float scale) {
    return made_of_ten("Resize", {"", "scales"},
                       {{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", mode}}, scale);
  };
  EXPECT_EQ(rounded("round_prefer_ceil", 2)[1], 1);
  EXPECT_EQ(rounded("round_prefer_floor", 2)[1], 0);
  EXPECT_EQ(rounded("round_prefer_ceil", std::nextafter(2.0F, 3.0F))[1], 0);
  EXPECT_EQ(rounded("round_prefer_floor", std::nextafter(2.0F, 1.0F))[1], 1);
}

TEST(OnnxOperators, ResizeSharesFractionsOfPixelsBetweenBothEnds) {
  // ONNX's own example.
  test::OnnxBuilder builder(19);
  builder.input("x", {1, 1, 1, 4});
  builder.node("Resize", {"x", "", builder.reals("scales", {4}, {1, 1, 1, 0.6F})}, {"y"},
               {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel_symmetric"}});
  builder.output("y");
  const Numbers made = made_by(builder);
  ASSERT_EQ(made.size(), 2);
  EXPECT_FLOAT_EQ(made[0], 0.6666667F);
  EXPECT_FLOAT_EQ(made[1], 2.3333333F);
}

// Sides of a resized picture of 4x8 pixels.
Shape resized(const std::vector<std::int64_t>& sizes, const std::vector<test::OnnxAttribute>& attributes) {
  test::OnnxBuilder builder(18);
  builder.input("x", {1, 3, 4, 8});
  builder.node("Resize",
               {"x", "", "", builder.wholes("sizes", {static_cast<std::int64_t>(sizes.size())}, sizes)},
               {"y"}, attributes);
  builder.output("y");
  return test::run_imported(builder.imported())[0].shape();
}

TEST(OnnxOperators, ResizeOfSomeAxesAndOfOneAspectRatio) {
  const test::OnnxAttribute rows_and_columns("axes", {2, -1}), columns_and_rows("axes", {3, 2});
  const auto policy = [](const char* name) { return test::OnnxAttribute("keep_aspect_ratio_policy", name); };
  EXPECT_EQ(resized({10, 12}, {rows_and_columns}), (Shape{1, 3, 10, 12}));
  EXPECT_EQ(resized({10, 12}, {columns_and_rows}), (Shape{1, 3, 12, 10}));
  EXPECT_EQ(resized({10, 12}, {rows_and_columns, policy("stretch")}), (Shape{1, 3, 10, 12}));
  EXPECT_EQ(resized({10, 12}, {rows_and_columns, policy("not_larger")}), (Shape{1, 3, 6, 12}));
  EXPECT_EQ(resized({10, 12}, {rows_and_columns, policy("not_smaller")}), (Shape{1, 3, 10, 20}));
  EXPECT_EQ(resized({3, 7}, {rows_and_columns, policy("not_larger")}), (Shape{1, 3, 3, 6}));
  EXPECT_EQ(resized({5, 9}, {rows_and_columns, policy("not_larger")}), (Shape{1, 3, 5, 9}));  // 4.5 rows
  // Without axes, channels have a ratio, too: it is 1.
  EXPECT_EQ(resized({1, 3, 10, 12}, {policy("not_larger")}), (Shape{1, 3, 4, 8}));
  EXPECT_EQ(resized({1, 3, 10, 12}, {policy("not_smaller")}), (Shape{3, 8, 10, 20}));
  EXPECT_THROW(resized({10, 12}, {}), Problem);
  EXPECT_THROW(resized({10, 0}, {rows_and_columns}), Problem);
  EXPECT_THROW(resized({10, std::int64_t{1} << 62}, {rows_and_columns, policy("not_larger")}), Problem);
}

// Before the first frame, naming what it is.
TEST(OnnxOperators, ResizeOfUnsupportedKindsIsRefusedWhenLoaded) {
  for (const test::OnnxAttribute& attribute :
       {test::OnnxAttribute("coordinate_transformation_mode", "tf_crop_and_resize"),
        test::OnnxAttribute("mode", "other"), test::OnnxAttribute("nearest_mode", "other"),
        test::OnnxAttribute("keep_aspect_ratio_policy", "other")}) {
    test::OnnxBuilder builder(18);
    builder.input("x", {1, 3, 4, 8});
    builder.node("Resize", {"x", "", "", builder.wholes("sizes", {4}, {1, 3, 8, 8})}, {"y"}, {attribute});
    builder.output("y");
    try {
      builder.imported();
      ADD_FAILURE() << attribute.proto.name();
    } catch (const Problem& problem) {
      const std::string& name = attribute.proto.s().empty() ? attribute.proto.name() : attribute.proto.s();
      EXPECT_NE(std::string(problem.what()).find(name), std::string::npos) << problem.what();
    }
  }
}

TEST(OnnxOperators, ClipTakesTheUpperLimitBelowTheLowerOne) {
  test::OnnxBuilder builder(13);
  builder.input("x", {4});
  builder.node("Clip", {"x", builder.reals("low", {}, {2}), builder.reals("high", {}, {1})}, {"y"});
  builder.output("y");
  EXPECT_EQ(made_by(builder), (Numbers{1, 1, 1, 1}));
  test::OnnxBuilder old(10);
  old.input("x", {4});
  old.node("Clip", {"x"}, {"y"}, {{"min", 3.0F}, {"max", -1.0F}});
  old.output("y");
  EXPECT_EQ(made_by(old), (Numbers{-1, -1, -1, -1}));
  test::OnnxBuilder wholes(13);
  wholes.input("x", {4});
  wholes.node("Cast", {"x"}, {"whole"}, {{"to", 7}});
  wholes.node("Clip", {"whole", wholes.wholes("low", {}, {2}), wholes.wholes("high", {}, {1})}, {"y"});
  wholes.output("y");
  EXPECT_EQ(made_by(wholes), (Numbers{1, 1, 1, 1}));
}

// What Cast makes of numbers, given as real or as whole ones.
std::vector<std::int64_t> cast_to(int type, const std::vector<float>& reals,
                                  const std::vector<std::int64_t>& wholes = {}) {
  test::OnnxBuilder builder(13);
  builder.node("Cast",
               {wholes.empty() ? builder.reals("x", {static_cast<std::int64_t>(reals.size())}, reals)
                               : builder.wholes("x", {static_cast<std::int64_t>(wholes.size())}, wholes)},
               {"y"}, {{"to", type}});
  builder.output("y");
  return integers_of(builder);
}

// As ONNX Runtime on x86-64 processors: beyond 32 bits (64 for uint32 and int64) is the least number of
// these.
TEST(OnnxOperators, CastWrapsAround) {
  using Proto = onnx::TensorProto;
  using Wholes = std::vector<std::int64_t>;
  const std::vector<float> reals{-1.9F, 127.5F, 128, 300, -129, 65537, 3e9F, -1e20F, INFINITY, NAN};
  constexpr std::int64_t kLeast32 = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kLeast64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(cast_to(Proto::UINT8, reals), (Wholes{255, 127, 128, 44, 127, 1, 0, 0, 0, 0}));
  EXPECT_EQ(cast_to(Proto::INT8, reals), (Wholes{-1, 127, -128, 44, 127, 1, 0, 0, 0, 0}));
  EXPECT_EQ(cast_to(Proto::UINT16, reals), (Wholes{65535, 127, 128, 300, 65407, 1, 0, 0, 0, 0}));
  EXPECT_EQ(cast_to(Proto::INT16, reals), (Wholes{-1, 127, 128, 300, -129, 1, 0, 0, 0, 0}));
  EXPECT_EQ(cast_to(Proto::INT32, reals),
            (Wholes{-1, 127, 128, 300, -129, 65537, kLeast32, kLeast32, kLeast32, kLeast32}));
  EXPECT_EQ(cast_to(Proto::UINT32, reals),
            (Wholes{4294967295, 127, 128, 300, 4294967167, 65537, 3000000000, 0, 0, 0}));
  EXPECT_EQ(cast_to(Proto::INT64, reals),
            (Wholes{-1, 127, 128, 300, -129, 65537, 3000000000, kLeast64, kLeast64, kLeast64}));
  EXPECT_EQ(cast_to(Proto::BOOL, {0, -0.0F, 0.5F, NAN, -2}), (Wholes{0, 0, 1, 1, 1}));
  const Wholes wholes{-1, 256, 130, -40000, (std::int64_t{1} << 32) + 5};
  EXPECT_EQ(cast_to(Proto::UINT8, {}, wholes), (Wholes{255, 0, 130, 192, 5}));
  EXPECT_EQ(cast_to(Proto::INT8, {}, wholes), (Wholes{-1, 0, -126, -64, 5}));
  EXPECT_EQ(cast_to(Proto::UINT16, {}, wholes), (Wholes{65535, 256, 130, 25536, 5}));
  EXPECT_EQ(cast_to(Proto::INT16, {}, wholes), (Wholes{-1, 256, 130, 25536, 5}));
  EXPECT_EQ(cast_to(Proto::INT32, {}, wholes), (Wholes{-1, 256, 130, -40000, 5}));
  EXPECT_EQ(cast_to(Proto::UINT32, {}, wholes), (Wholes{4294967295, 256, 130, 4294927296, 5}));
  EXPECT_EQ(cast_to(Proto::INT64, {}, wholes), wholes);
  EXPECT_EQ(cast_to(Proto::BOOL, {}, wholes), (Wholes{1, 1, 1, 1, 1}));
}

// What newer opsets have, and so Debian's tests do not.
TEST(OnnxOperators, OfNewerOpsets) {
  test::OnnxBuilder norm(23);
  norm.input("x", {2, 2});
  norm.node("RMSNormalization", {"x", norm.reals("scale", {2}, {1, 10})}, {"y"}, {{"epsilon", 0.5F}});
  norm.output("y");
  EXPECT_EQ(made_by(norm), (Numbers{0, 10, 2 / std::sqrt(7.0F), 30 / std::sqrt(7.0F)}));

  EXPECT_EQ(made_of_ten("Pad", {"pads"}, {{"mode", "wrap"}}),
            (Numbers{8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}));

  for (const auto& [how, expected] : std::map<std::string, Numbers>{{"add", {0, 111, 2}},
                                                                    {"mul", {0, 1000, 2}},
                                                                    {"min", {0, 1, 2}},
                                                                    {"max", {0, 100, 2}},
                                                                    {"none", {0, 100, 2}}}) {
    test::OnnxBuilder scatter(18);
    scatter.input("x", {3});
    scatter.node("ScatterElements",
                 {"x", scatter.wholes("at", {2}, {1, -2}), scatter.reals("new", {2}, {10, 100})}, {"y"},
                 {{"reduction", how}});
    scatter.output("y");
    EXPECT_EQ(made_by(scatter), expected) << how;
  }
}

// What a node makes of constants with whole numbers as result.
std::vector<std::int64_t> wholes_of(test::OnnxBuilder& builder, const std::string& op,
                                    const std::vector<std::string>& inputs) {
  builder.node(op, inputs, {"y"});
  builder.output("y");
  return integers_of(builder);
}

// Single precision would round them.
TEST(OnnxOperators, PowersAndReductionsOfWholeNumbersAreExact) {
  using Wholes = std::vector<std::int64_t>;
  test::OnnxBuilder power;
  EXPECT_EQ(wholes_of(power, "Pow",
                      {power.wholes("a", {7}, {3, -3, 2, 7, -1, 0, 2}),
                       power.wholes("b", {7}, {17, 19, 62, 0, -5, 3, -1})}),
            (Wholes{129140163, -1162261467, std::int64_t{1} << 62, 1, -1, 0, 0}));
  const Wholes numbers{16777217, -3, 5};
  for (const auto& [op, expected] : std::map<std::string, std::int64_t>{
           {"ReduceMean", 5592406}, {"ReduceL1", 16777225}, {"ReduceSumSquare", 281475010265123}}) {
    test::OnnxBuilder builder;
    EXPECT_EQ(wholes_of(builder, op, {builder.wholes("x", {3}, numbers)}), Wholes{expected}) << op;
  }
}

// Before the first frame.
TEST(OnnxOperators, InputsThatDoNotFitAreRefusedWhenLoaded) {
  const auto is_refused = [](const std::string& op, const std::vector<std::string>& more) {
    test::OnnxBuilder builder(16);
    builder.input("x", {2, 3});
    builder.input("w", {2, 3}, onnx::TensorProto::INT64);
    builder.wholes("one", {1, 1}, {0});
    builder.reals("two", {2}, {1, 2});
    builder.reals("row", {1, 3}, {1, 2, 3});
    std::vector<std::string> inputs{op.starts_with("Reduce") ? "w" : "x"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    builder.node(op, inputs, {"y"});
    builder.output("y");
    try {
      builder.imported();
      return false;
    } catch (const Problem&) {
      return true;
    }
  };
  EXPECT_TRUE(is_refused("ScatterElements", {"one", "two"}));
  EXPECT_TRUE(is_refused("ScatterND", {"one", "two"}));
  EXPECT_FALSE(is_refused("ScatterND", {"one", "row"}));
  EXPECT_TRUE(is_refused("ReduceL2", {}));
  EXPECT_FALSE(is_refused("ReduceL1", {}));
}

TEST(OnnxOperators, CastLikeTakesTheTypeOfTheFile) {
  const auto cast = [](int type, const auto& add_other) {
    test::OnnxBuilder builder(15);
    add_other(builder, type);
    builder.node("CastLike", {builder.reals("x", {3}, {300, -1.5F, 0}), "like"}, {"y"});
    builder.output("y");
    return made_by(builder);
  };
  const auto as_input = [](test::OnnxBuilder& builder, int type) {
    builder.input("picture", {1});
    builder.input("like", {1}, type);
  };
  const auto as_cast = [](test::OnnxBuilder& builder, int type) {
    builder.node("Cast", {builder.input("picture", {1})}, {"like"}, {{"to", type}});
  };
  using Proto = onnx::TensorProto;
  for (const std::function<void(test::OnnxBuilder&, int)>& other :
       std::initializer_list<std::function<void(test::OnnxBuilder&, int)>>{as_input, as_cast}) {
    EXPECT_EQ(cast(Proto::UINT8, other), (Numbers{44, 255, 0}));
    EXPECT_EQ(cast(Proto::INT64, other), (Numbers{300, -1, 0}));
    EXPECT_EQ(cast(Proto::BOOL, other), (Numbers{1, 1, 0}));
  }
  EXPECT_EQ(cast(Proto::FLOAT, as_cast), (Numbers{300, -1.5F, 0}));
}

TEST(OnnxOperators, SwishIsTheNumberTimesItsSigmoid) {
  EXPECT_EQ(made_of_ten("Swish", {}, {})[3], 3 * sigmoid(3));
}

// The largest error in units in the last place, over floats from `from` to `to`.
double worst_error(float from, float to, float (*own)(float), double (*exact)(double)) {
  double worst = 0;
  constexpr int kSteps = 20'001;
  for (int i = 0; i < kSteps; ++i) {
    const float x = from + (to - from) * static_cast<float>(i) / (kSteps - 1);
    const double expected = exact(double{x});
    const auto rounded = static_cast<float>(expected);
    const float unit = std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded);
    worst = std::max(worst, std::fabs(double{own(x)} - expected) / double{unit});
  }
  return worst;
}

TEST(NetworkFunctions, AreAccurate) {
  EXPECT_LT(worst_error(-100, 88, exponential, std::exp), 2);
  EXPECT_LT(worst_error(-1, 1, exponential, std::exp), 2);
  EXPECT_LT(worst_error(-10, 10, hyperbolic_tangent, std::tanh), 2);
  EXPECT_LT(worst_error(-1, 1, hyperbolic_tangent, std::tanh), 2);
  EXPECT_LT(worst_error(-5, 5, error_function, std::erf), 2);
  EXPECT_LT(worst_error(1e-3F, 10, logarithm, std::log), 2);
  EXPECT_LT(worst_error(1e-38F, 1e38F, logarithm, std::log), 2);
  const auto exact_sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(worst_error(-80, 20, sigmoid, exact_sigmoid), 24);
  EXPECT_LT(worst_error(-2, 20, sigmoid, exact_sigmoid), 4);
  EXPECT_LT(worst_error(-100, 100, sine, std::sin), 1);
  EXPECT_LT(worst_error(-100, 100, cosine, std::cos), 1);
}

TEST(NetworkFunctions, KeepSpecialValues) {
  const float infinity = INFINITY, nan = NAN;
  EXPECT_EQ(exponential(infinity), infinity);
  EXPECT_EQ(exponential(-infinity), 0);
  EXPECT_EQ(exponential(0), 1);
  EXPECT_GT(exponential(-100), 0);  // denormal
  EXPECT_EQ(sigmoid(0), 0.5F);
  EXPECT_EQ(hyperbolic_tangent(infinity), 1);
  EXPECT_EQ(hyperbolic_tangent(-infinity), -1);
  EXPECT_TRUE(std::signbit(hyperbolic_tangent(-0.0F)));
  EXPECT_EQ(error_function(infinity), 1);
  EXPECT_EQ(logarithm(0), -infinity);
  EXPECT_TRUE(std::isnan(logarithm(-1)));
  for (const auto f : {exponential, sigmoid, hyperbolic_tangent, error_function, logarithm, sine})
    EXPECT_TRUE(std::isnan(f(nan)));
}

}  // namespace
}  // namespace sightline::nn
