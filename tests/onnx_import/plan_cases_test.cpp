// Plans of networks against the reference, bit for bit, under each instruction set of this processor and, for
// some, on an OpenCL device.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "network/cpu/product.hpp"
#include "network/opencl/partitions.hpp"
#include "network/plan/cpu_plan.hpp"
#include "onnx_import/plan_check.hpp"
#include "onnx_import/random_chain.hpp"
#include "onnx_import/random_network.hpp"
#include "support/thorough.hpp"

namespace sightline::nn {
namespace {

using test::OnnxBuilder;

// Those of the processor, before any limit.
const std::vector<std::string>& all_sets() {
  static const std::vector<std::string> all = instruction_sets();
  return all;
}

bool on_best_instruction_set = false;

class PlanCases : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    limit_instruction_set(GetParam());
    on_best_instruction_set = GetParam() == all_sets().front();
  }
  void TearDown() override { limit_instruction_set("best"); }
};

// @param on_device  whether CI's run asks a device, too: PoCL takes seconds to build kernels
void expect_equal(const OnnxBuilder& network, bool on_device = false) {
  // The device need not be asked again under other instruction sets.
  test::expect_plan_equals_reference(network, test::kAllFills,
                                     on_best_instruction_set && (on_device || test::is_thorough()));
}

// Widths around tiles, channels around blocks.
TEST_P(PlanCases, ConvolutionsOfAllSizes) {
  for (const std::int64_t kernel : {1, 3, 5}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const auto& [inputs, outputs, side] :
           {std::tuple{3, 16, 29}, {5, 40, 13}, {16, 33, 6}, {24, 7, 27}, {48, 64, 14}}) {
        SCOPED_TRACE(std::to_string(kernel) + "/" + std::to_string(stride) + ", " + std::to_string(inputs));
        OnnxBuilder builder;
        builder.input("x", {1, inputs, side, side + 2});
        builder.convolution("a", "x", inputs, outputs, kernel, stride);
        builder.node("Relu", {"a"}, {"b"});
        builder.convolution("c", "b", outputs, 20, 1);
        builder.convolution("d", "c", 20, 20, kernel, stride);
        builder.output("d");
        expect_equal(builder);
      }
    }
  }
}

TEST_P(PlanCases, DepthwiseChainsAndResiduals) {
  for (const std::int64_t stride : {1, 2}) {
    OnnxBuilder builder;
    builder.input("x", {1, 8, 21, 37});
    builder.convolution("a", "x", 8, 40, 1);
    builder.convolution("b", "a", 40, 40, 3, stride, 40);
    builder.node("Sigmoid", {"b"}, {"gate"});
    builder.node("Mul", {"gate", "b"}, {"silu"});
    builder.convolution("c", "silu", 40, 40, 1);
    builder.node("LeakyRelu", {"c"}, {"leaky"}, {{"alpha", 0.1F}});
    builder.node("Add", {"silu", "leaky"}, {"sum"});
    builder.convolution("d", "sum", 40, 40, 5, 1, 40);
    builder.node("Add", {"d", "sum"}, {"e"});
    builder.node("Relu", {"e"}, {"y"});
    builder.output("y");
    builder.output("sum");
    expect_equal(builder);
  }
}

// Widths around tiles, and activations that are applied in registers or behind a row.
TEST_P(PlanCases, DepthwiseOfAllSizes) {
  for (const std::int64_t kernel : {3, 5, 7}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::int64_t width : {1, 7, 13, 16, 29, 58}) {
        SCOPED_TRACE(std::to_string(kernel) + "/" + std::to_string(stride) + ", " + std::to_string(width));
        OnnxBuilder builder;
        builder.input("x", {1, 20, 5, width});
        builder.convolution("plain", "x", 20, 20, kernel, stride, 20);
        builder.convolution("a", "x", 20, 20, kernel, stride, 20);
        builder.node("Relu", {"a"}, {"relu"});
        builder.convolution("b", "x", 20, 20, kernel, stride, 20);
        builder.node("Clip", {"b", builder.reals("low", {}, {-0.25F}), builder.reals("high", {}, {0.5F})},
                     {"clip"});
        builder.convolution("c", "x", 20, 20, kernel, stride, 20);
        builder.node("Sigmoid", {"c"}, {"sigmoid"});
        builder.convolution("d", "x", 20, 20, kernel, stride, 20);
        builder.node("LeakyRelu", {"d"}, {"leaky"});
        for (const char* output : {"plain", "relu", "clip", "sigmoid", "leaky"}) builder.output(output);
        expect_equal(builder);
      }
    }
  }
}

TEST_P(PlanCases, PartsJoinedAndShuffledChannels) {
  OnnxBuilder builder;
  builder.input("x", {1, 6, 14, 26});
  builder.convolution("a", "x", 6, 22, 3);
  builder.node("Split", {"a", builder.wholes("sizes", {2}, {10, 12})}, {"p", "q"}, {{"axis", 1}});
  builder.convolution("r", "q", 12, 10, 1);
  builder.node("Concat", {"r", "p"}, {"joined"}, {{"axis", 1}});
  builder.node("Reshape", {"joined", builder.wholes("open", {5}, {1, 2, 10, 14, 26})}, {"five"});
  builder.node("Transpose", {"five"}, {"turned"}, {{"perm", {0, 2, 1, 3, 4}}});
  builder.node("Reshape", {"turned", builder.wholes("close", {4}, {1, -1, 14, 26})}, {"shuffled"});
  builder.convolution("dw", "shuffled", 20, 20, 3, 2, 20);
  builder.convolution("pw", "shuffled", 20, 18, 1);
  builder.output("dw");
  builder.output("pw");
  expect_equal(builder);
}

TEST_P(PlanCases, EverySecondPixel) {
  OnnxBuilder builder;
  builder.input("x", {1, 3, 20, 28});
  builder.wholes("end", {1}, {100});
  builder.wholes("two", {1}, {2});
  builder.wholes("rows", {1}, {2});
  builder.wholes("columns", {1}, {3});
  std::vector<std::string> parts;
  for (const int first : {0, 1}) {
    const std::string start = builder.wholes("start" + std::to_string(first), {1}, {first}),
                      name = "half" + std::to_string(first);
    builder.node("Slice", {"x", start, "end", "rows", "two"}, {name});
    builder.node("Slice", {name, start, "end", "columns", "two"}, {name + "q"});
    parts.push_back(name + "q");
  }
  builder.node("Concat", parts, {"focus"}, {{"axis", 1}});
  builder.convolution("y", "focus", 6, 16, 3);
  builder.output("y");
  expect_equal(builder);
}

TEST_P(PlanCases, PoolingResizingAndGates) {
  for (const char* mode : {"nearest", "linear"}) {
    OnnxBuilder builder;
    builder.input("x", {1, 4, 13, 17});
    builder.convolution("a", "x", 4, 20, 3);
    builder.node("MaxPool", {"a"}, {"b"},
                 {{"kernel_shape", {5, 3}}, {"strides", {1, 2}}, {"pads", {2, 1, 2, 1}}});
    builder.node("Resize", {"b", "", builder.reals("scales", {4}, {1, 1, 2, 2})}, {"c"}, {{"mode", mode}});
    builder.node("GlobalAveragePool", {"c"}, {"mean"});
    builder.convolution("squeeze", "mean", 20, 5, 1);
    builder.node("Relu", {"squeeze"}, {"active"});
    builder.convolution("expand", "active", 5, 20, 1);
    builder.node("HardSigmoid", {"expand"}, {"gate"}, {{"alpha", 0.25F}});
    builder.node("Mul", {"c", "gate"}, {"d"});
    builder.node("Mul", {"d", builder.weights("by_channel", {1, 20, 1, 1})}, {"e"});
    builder.node("Add", {builder.reals("one", {}, {1}), "e"}, {"f"});
    builder.node("Sub", {"f", "c"}, {"g"});
    builder.node("Clip", {"g", builder.reals("low", {}, {-1}), builder.reals("high", {}, {2})}, {"h"});
    builder.node("HardSwish", {"h"}, {"y"});
    builder.output("y");
    builder.proto().mutable_opset_import(0)->set_version(14);
    expect_equal(builder);
  }
}

// Quotients and extremes of two maps, with a constant and with one value a channel. What fills a block is
// divided by 0 there, and the ends of rows stay zero for the convolution behind.
TEST_P(PlanCases, QuotientsAndExtremesOfMaps) {
  for (const char* op : {"Div", "Max", "Min"}) {
    SCOPED_TRACE(op);
    OnnxBuilder builder;
    builder.input("x", {1, 4, 7, 19});
    builder.convolution("a", "x", 4, 20, 3);
    builder.convolution("b", "x", 4, 20, 1);
    builder.node("GlobalAveragePool", {"b"}, {"mean"});
    builder.node(op, {"a", "b"}, {"maps"});
    builder.node(op, {"b", "a"}, {"turned"});
    builder.node(op, {"a", builder.reals("six", {}, {6})}, {"scalar"});
    builder.node(op, {"a", builder.weights("by_channel", {1, 20, 1, 1})}, {"channels"});
    builder.node(op, {"a", "mean"}, {"means"});
    builder.node(op, {"a", builder.reals("zero", {}, {0})}, {"zeros"});
    builder.node(op, {"six", "a"}, {"first"});  // not on maps
    builder.node("Sigmoid", {"maps"}, {"gate"});
    builder.convolution("y", "gate", 20, 20, 3);
    builder.convolution("z", "turned", 20, 20, 5, 1, 20);
    for (const char* output : {"maps", "scalar", "channels", "means", "zeros", "first", "y", "z"})
      builder.output(output);
    expect_equal(builder);
  }
}

// Zeros of both signs: the second of equal values is the result.
TEST_P(PlanCases, ExtremesOfEqualValues) {
  for (const char* op : {"Max", "Min"}) {
    OnnxBuilder builder;
    builder.input("x", {1, 4, 5, 7});
    builder.convolution("a", "x", 4, 8, 1);
    builder.node("Mul", {"a", builder.reals("zero", {}, {0})}, {"zeros"});
    builder.node("Mul", {"zeros", builder.reals("minus", {}, {-1})}, {"other"});
    builder.node(op, {"zeros", "other"}, {"y"});
    builder.node(op, {"other", "zeros"}, {"z"});
    builder.output("y");
    builder.output("z");
    expect_equal(builder);
  }
}

// Hard-swish as PicoDet's files have it, with a difference and extremes: nothing of it leaves the maps.
TEST(PlanParts, ElementwiseOperatorsSuitDevices) {
  OnnxBuilder builder;
  builder.input("x", {1, 4, 7, 19});
  builder.convolution("a", "x", 4, 20, 3);
  builder.node("Add", {"a", builder.reals("three", {}, {3})}, {"b"});
  builder.node("Clip", {"b", builder.reals("zero", {}, {0}), builder.reals("six", {}, {6})}, {"c"});
  builder.node("Mul", {"a", "c"}, {"d"});
  builder.node("Div", {"d", "six"}, {"e"});
  builder.node("Sub", {"e", "a"}, {"f"});
  builder.node("Max", {"f", "e"}, {"g"});
  builder.node("Min", {"g", "six"}, {"h"});
  builder.convolution("y", "h", 20, 20, 3);
  builder.output("y");
  const Partitions partitions = partitions_of(builder.imported());
  ASSERT_EQ(partitions.parts.size(), 1);
  EXPECT_TRUE(partitions.parts[0].on_device);
}

// One launch has both, and the product waits for what is multiplied before it; or another launch reads the
// elements, too.
TEST_P(PlanCases, ProductsBehindElements) {
  for (const bool are_read_again : {false, true}) {
    OnnxBuilder builder;
    builder.input("x", {1, 4, 6, 10});
    builder.convolution("a", "x", 4, 16, 1);
    builder.convolution("b", "x", 4, 16, 1);
    builder.node("Mul", {"a", "b"}, {"c"});
    builder.convolution("d", "c", 16, 16, 1);
    builder.convolution("e", "d", 16, 16, 1);
    builder.node("Add", {"e", are_read_again ? "c" : "d"}, {"f"});
    builder.convolution("g", "f", 16, 16, 3, 1, 16);
    builder.convolution("h", "g", 16, 16, 1);
    builder.node("GlobalAveragePool", {"h"}, {"y"});
    builder.output("y");
    builder.output("f");
    expect_equal(builder, true);
  }
}

// The upper limit is the result, in sums' registers, behind a row, in a step of its own, and on tensors.
TEST_P(PlanCases, ClipWithLimitsInWrongOrder) {
  OnnxBuilder builder;
  builder.input("x", {1, 4, 7, 19});
  builder.reals("low", {}, {0.5F});
  builder.reals("zero", {}, {0});
  builder.convolution("a", "x", 4, 20, 3);
  builder.node("Clip", {"a", "low", "zero"}, {"clipped"});
  builder.convolution("b", "x", 4, 20, 1);
  builder.node("Add", {"b", "clipped"}, {"sum"});
  builder.node("Clip", {"sum", "low", builder.reals("high", {}, {-0.25F})}, {"summed"});
  builder.convolution("c", "sum", 20, 20, 3, 1, 20);
  builder.node("Clip", {"c", "low", "high"}, {"deep"});
  builder.node("Clip", {"x", "low", "high"}, {"plain"});
  builder.node("Reshape", {"x", builder.wholes("flat", {1}, {-1})}, {"row"});
  builder.node("Clip", {"row", "low", "zero"}, {"tensor"});
  for (const char* output : {"clipped", "summed", "deep", "plain", "tensor"}) builder.output(output);
  expect_equal(builder);
}

// Sums that are -0: nothing may be added to them where channels do not fill a column.
TEST_P(PlanCases, ZerosKeepTheirSigns) {
  OnnxBuilder builder;
  builder.input("x", {1, 4, 8, 8});
  builder.convolution("a", "x", 4, 1, 1);
  builder.node("Mul", {"a", builder.reals("zero", {}, {0})}, {"zeros"});
  builder.node("Conv", {"zeros", builder.reals("w", {1, 1, 1, 1}, {1}), builder.reals("b", {1}, {-0.0F})},
               {"y"});
  builder.output("y");
  expect_equal(builder);
}

// Rows of the first map have ends, for the other convolution: whatever reads both maps finds each one's rows.
TEST_P(PlanCases, JoinedBlocksOfOtherRows) {
  for (const bool is_first : {true, false}) {
    OnnxBuilder builder;
    builder.input("x", {1, 16, 9, 13});
    builder.convolution("a", "x", 16, 16, 1);
    builder.convolution("b", "x", 16, 16, 1);
    builder.convolution("c", "a", 16, 16, 3);
    builder.node("Concat", {is_first ? "a" : "b", is_first ? "b" : "a"}, {"joined"}, {{"axis", 1}});
    builder.node("MaxPool", {"joined"}, {"largest"}, {{"kernel_shape", {3, 3}}});
    builder.node("AveragePool", {"joined"}, {"average"}, {{"kernel_shape", {2, 3}}});
    builder.node("GlobalAveragePool", {"joined"}, {"mean"});
    builder.node("Resize", {"joined", "", builder.reals("scales", {4}, {1, 1, 1.5F, 0.7F})}, {"resized"},
                 {{"mode", "linear"}});
    builder.node("Pad", {"joined", builder.wholes("pads", {8}, {0, 0, 1, 2, 0, 0, 2, 1})}, {"padded"});
    builder.convolution("pointwise", "joined", 32, 20, 1);
    builder.node("Add", {"joined", builder.weights("by_channel", {32, 1, 1})}, {"sum"});
    builder.node("Reshape", {"joined", builder.wholes("flat", {3}, {1, 32, -1})}, {"placed"});
    for (const char* output :
         {"c", "largest", "average", "mean", "resized", "padded", "pointwise", "sum", "placed"})
      builder.output(output);
    expect_equal(builder);
  }
}

// Sums of a mean, and a map between two products, that local memory does not hold.
TEST_P(PlanCases, ManyChannels) {
  OnnxBuilder builder;
  builder.input("x", {1, 4, 5, 7});
  builder.convolution("a", "x", 4, 900, 1);
  builder.node("GlobalAveragePool", {"a"}, {"mean"});
  builder.convolution("y", "mean", 900, 96, 1);  // in parts of several blocks
  builder.convolution("b", "x", 4, 3000, 1);
  builder.convolution("z", "b", 3000, 5, 1);
  builder.output("y");
  builder.output("z");
  expect_equal(builder);
}

// Nodes in their scalar form between maps, and values that are both.
TEST_P(PlanCases, OtherNodesBetweenMaps) {
  OnnxBuilder builder;
  builder.input("x", {1, 4, 9, 11});
  builder.convolution("a", "x", 4, 12, 3);
  builder.node("Tanh", {"a"}, {"b"});
  builder.convolution("c", "b", 12, 12, 3);
  builder.node("Transpose", {"c"}, {"d"}, {{"perm", {0, 2, 3, 1}}});
  builder.node("Softmax", {"d"}, {"e"}, {{"axis", -1}});
  builder.output("e");
  builder.output("c");
  expect_equal(builder);
}

// Tokens: stacks of matrices, sums that repeat, and rows of lengths around every vector's.
TEST_P(PlanCases, ProductsAndSoftmaxOfTensors) {
  for (const std::int64_t depth : {5, 16, 33}) {
    OnnxBuilder builder;
    builder.input("x", {2, 7, 19, depth});
    builder.node("MatMul", {"x", builder.weights("w", {depth, 37})}, {"a"});
    builder.node("Add", {"a", builder.weights("bias", {37})}, {"b"});
    builder.node("Transpose", {"b"}, {"t"}, {{"perm", {0, 1, 3, 2}}});
    builder.node("MatMul", {"b", "t"}, {"c"});
    builder.node("Softmax", {"c"}, {"d"}, {{"axis", -1}});
    builder.node("Mul", {"d", builder.weights("by_row", {7, 19, 1})}, {"e"});
    builder.node("Div", {builder.reals("one", {}, {1}), "e"}, {"f"});
    builder.node("Sigmoid", {"f"}, {"g"});
    builder.node("Sub", {"g", "d"}, {"h"});
    builder.node("Reshape", {"h", builder.wholes("flat", {2}, {-1, 19})}, {"i"});
    builder.node("Gemm", {"i", builder.weights("u", {23, 19}), builder.weights("v", {23})}, {"j"},
                 {{"transB", 1}});
    builder.node("Relu", {"j"}, {"y"});
    builder.output("y");
    builder.output("d");
    expect_equal(builder);
  }
}

// Rows that are shorter or longer than vectors, alone or several in one.
TEST_P(PlanCases, RowsOfTensors) {
  for (const std::int64_t count : {1, 2, 4, 6, 8, 16, 23, 40}) {
    SCOPED_TRACE(count);
    OnnxBuilder builder;
    builder.input("x", {3, 7, count});
    builder.node("Softmax", {"x"}, {"softmax"}, {{"axis", -1}});
    builder.node("Exp", {"x"}, {"exponential"});
    builder.node("Pow", {"x", builder.reals("two", {}, {2})}, {"square"});
    const std::string last = builder.wholes("last", {1}, {-1});
    builder.node("ReduceSum", {"x", last}, {"sum"}, {{"keepdims", 0}});
    builder.node("ReduceMean", {"x"}, {"mean"}, {{"axes", {2}}});
    builder.node("MatMul", {"x", builder.weights("vector", {count})}, {"by_vector"});
    builder.node("MatMul", {"x", builder.weights("column", {count, 1})}, {"by_column"});
    for (const char* output : {"softmax", "exponential", "square", "sum", "mean", "by_vector", "by_column"})
      builder.output(output);
    expect_equal(builder);
  }
}

// Rows whose numbers lie apart, alone and along two axes, beside as many others as vectors have lanes or not.
TEST_P(PlanCases, SoftmaxAndMeansAlongAllAxes) {
  for (const int opset : {11, 13}) {
    for (const Shape& shape : {Shape{2, 3, 5, 38}, {1, 16, 4, 33}, {3, 40, 7, 1}, {2, 2, 2, 16}}) {
      SCOPED_TRACE("opset " + std::to_string(opset) + ", " + text_of(shape));
      OnnxBuilder builder(opset);
      builder.input("x", shape);
      const auto add = [&](const std::string& op, const std::string& name, const test::OnnxAttribute& axes) {
        builder.node(op, {"x"}, {op + name}, {axes});
        builder.output(op + name);
      };
      for (const std::int64_t axis : {0, 1, 2, 3}) {
        add("Softmax", std::to_string(axis), {"axis", axis});
        add("ReduceMean", std::to_string(axis), {"axes", {axis}});
      }
      add("ReduceMean", "21", {"axes", {2, 1}});
      add("ReduceMean", "23", {"axes", {-1, 2}});
      add("ReduceMean", "02", {"axes", {0, 2, 2}});  // apart
      expect_equal(builder);
    }
  }
}

// Products and softmax of so many elements that threads share them.
OnnxBuilder large_tensors() {
  OnnxBuilder builder;
  builder.input("x", {2, 3, 85, 45});
  builder.node("MatMul", {"x", builder.weights("one", {45, 157})}, {"a"});
  builder.node("MatMul", {"x", builder.weights("stack", {3, 45, 157})}, {"b"});
  builder.output("a");
  builder.output("b");
  for (const std::int64_t axis : {0, 1, 2, 3}) {
    const std::string name = "softmax" + std::to_string(axis);
    builder.node("Softmax", {"a"}, {name}, {{"axis", axis}});
    builder.output(name);
  }
  return builder;
}

TEST_P(PlanCases, PartsOfTensors) {
  expect_equal(large_tensors());
}

TEST(PlanParts, LargeTensorsHaveParts) {
  OnnxBuilder builder;
  builder.input("x", {1, 250, 45});
  builder.node("MatMul", {"x", builder.weights("one", {45, 157})}, {"a"});
  builder.node("Softmax", {"a"}, {"y"}, {{"axis", std::int64_t{2}}});
  builder.output("y");
  const CpuPlan plan = plan_for_cpu(builder.imported());
  for (const auto& wave : plan.waves) {
    for (const auto& work : wave) EXPECT_GT(work->items(), 1) << work->name();
  }
}

TEST_P(PlanCases, TurnedMatrices) {
  for (const std::vector<std::int64_t>& order : {std::vector<std::int64_t>{0, 1, 3, 2},
                                                 {0, 2, 3, 1},
                                                 {3, 0, 1, 2},
                                                 {0, 2, 1, 3},
                                                 {3, 2, 1, 0},
                                                 {1, 2, 3, 0},
                                                 {0, 1, 2, 3}}) {
    for (const Shape& shape : {Shape{2, 9, 5, 38}, {1, 6, 1, 17}, {1, 1, 1, 4}}) {
      OnnxBuilder builder;
      builder.input("x", shape);
      builder.node("Transpose", {"x"}, {"y"}, {{"perm", order}});
      builder.output("y");
      expect_equal(builder);
    }
  }
}

// One operand is repeated along axes between others.
TEST_P(PlanCases, ShortRunsOfElements) {
  OnnxBuilder builder;
  builder.input("x", {1, 9, 4, 3, 2});
  builder.input("pairs", {1, 9, 1, 1, 2});
  builder.node("Sub", {"x", "pairs"}, {"a"});
  builder.node("Sub", {"pairs", "x"}, {"b"});
  builder.node("Mul", {builder.weights("by_row", {3, 1}), "x"}, {"c"});
  builder.node("Div", {"x", builder.weights("by_place", {9, 4, 1, 1})}, {"d"});
  builder.node("Add", {"pairs", builder.weights("other", {4, 3, 1})}, {"e"});
  for (const char* output : {"a", "b", "c", "d", "e"}) builder.output(output);
  expect_equal(builder);
}

TEST_P(PlanCases, SamplesOfPlanes) {
  for (const char* padding : {"zeros", "border"}) {
    for (const char* mode : {"bilinear", "nearest"}) {
      OnnxBuilder builder;
      builder.input("x", {2, 3, 6, 5});
      builder.input("places", {2, 7, 3, 2});
      builder.node("GridSample", {"x", "places"}, {"y"}, {{"padding_mode", padding}, {"mode", mode}});
      builder.output("y");
      expect_equal(builder);
    }
  }
}

// Boxes that suppression leaves, and values at places that the frame decides: of the picture, of maps, and of
// tensors, beside outputs of known sizes.
OnnxBuilder dynamic_network() {
  OnnxBuilder builder;
  builder.input("x", {1, 4, 8, 12});
  builder.convolution("a", "x", 4, 20, 3);
  builder.node("Relu", {"a"}, {"b"});
  builder.convolution("box", "b", 20, 4, 1);
  builder.node("Reshape", {"box", builder.wholes("box_shape", {3}, {1, 4, -1})}, {"rows"});
  builder.node("Transpose", {"rows"}, {"boxes"}, {{"perm", {0, 2, 1}}});
  builder.convolution("score", "b", 20, 3, 1);
  builder.node("Reshape", {"score", builder.wholes("score_shape", {3}, {1, 3, -1})}, {"logits"});
  builder.node("Sigmoid", {"logits"}, {"scores"});
  builder.node("NonMaxSuppression",
               {"boxes", "scores", builder.wholes("most", {1}, {5}), builder.reals("overlap", {1}, {0.5F}),
                builder.reals("least", {1}, {0.4F})},
               {"chosen"});
  builder.wholes("one", {1}, {1});
  builder.node("Slice", {"chosen", builder.wholes("two", {1}, {2}), builder.wholes("three", {1}, {3}), "one"},
               {"column"});
  builder.node("Squeeze", {"column", "one"}, {"numbers"});
  builder.node("Gather", {"boxes", "numbers"}, {"found"}, {{"axis", 1}});
  builder.node("Softplus", {"b"}, {"soft"});  // in scalar form
  builder.node("NonZero", {"x"}, {"nonzero"});
  builder.node("Transpose", {"nonzero"}, {"places"}, {{"perm", {1, 0}}});
  for (const char* from : {"b", "soft"}) {
    builder.node("GatherND", {from, "places"}, {std::string(from) + "_there"});
    builder.output(std::string(from) + "_there");
  }
  builder.convolution("c", "b", 20, 20, 3);
  for (const char* output : {"chosen", "found", "c", "scores"}) builder.output(output);
  return builder;
}

TEST_P(PlanCases, DynamicNodes) {
  expect_equal(dynamic_network());
}

TEST(PlanParts, DynamicNodesLeaveTheRestToDevices) {
  const Graph graph = dynamic_network().imported();
  EXPECT_FALSE(plan_for_cpu(graph).last_nodes.empty());
  const Partitions partitions = partitions_of(graph);
  ASSERT_GE(partitions.parts.size(), 2);
  EXPECT_TRUE(partitions.parts.front().on_device);
  EXPECT_FALSE(partitions.parts.back().on_device);
}

TEST_P(PlanCases, AWholeDetector) {
  expect_equal(test::small_yolox(96, 3), true);
}

TEST_P(PlanCases, PaddedMapsMeansOfWindowsAndGatedTensors) {
  for (const std::int64_t counts_padding : {0, 1}) {
    OnnxBuilder builder;
    builder.input("x", {1, 4, 15, 18});
    builder.convolution("a", "x", 4, 20, 3, 2);
    builder.node("Relu", {"a"}, {"b"});
    builder.node("Pad",
                 {"b", builder.wholes("pads", {8}, {0, 0, 1, 0, 0, 0, 2, 3}), builder.reals("of", {}, {-7})},
                 {"padded"});
    builder.convolution("c", "padded", 20, 20, 3, 1, 20);
    builder.node("AveragePool", {"c"}, {"d"},
                 {{"kernel_shape", {3, 2}},
                  {"strides", {2, 1}},
                  {"pads", {1, 0, 1, 1}},
                  {"count_include_pad", counts_padding}});
    builder.convolution("e", "d", 20, 6, 1);
    builder.node("Reshape", {"e", builder.wholes("flat", {3}, {1, 6, -1})}, {"f"});
    builder.node("Transpose", {"f"}, {"g"}, {{"perm", {0, 2, 1}}});
    builder.node("Sigmoid", {"g"}, {"y"});
    builder.output("y");
    expect_equal(builder);
  }
}

// Heads that share blocks: of one activation, of several, with depthwise convolutions behind all or some of
// them, and outputs of the network in between.
TEST_P(PlanCases, ConvolutionsOfOneInput) {
  for (const bool all_deepen : {true, false}) {
    OnnxBuilder builder;
    builder.input("x", {1, 5, 12, 19});
    for (const auto& [name, outputs] : {std::pair{"cls", 1}, {"obj", 1}, {"box", 4}, {"points", 10}}) {
      const std::string head = name;
      builder.convolution(head + "1", "x", 5, outputs, 1);
      const bool deepens = all_deepen || outputs < 10;
      if (deepens) builder.convolution(head + "2", head + "1", outputs, outputs, 3, 1, outputs);
      builder.node("Transpose", {head + (deepens ? "2" : "1")}, {head + "3"}, {{"perm", {0, 2, 3, 1}}});
      builder.node("Reshape", {head + "3", builder.wholes(head + "s", {3}, {1, -1, outputs})}, {head + "4"});
      if (outputs == 1) builder.node("Sigmoid", {head + "4"}, {head + "5"});
      builder.output(head + (outputs == 1 ? "5" : "4"));
    }
    builder.convolution("a", "x", 5, 4, 3);
    builder.convolution("b", "x", 5, 1, 3);
    builder.node("Sigmoid", {"b"}, {"gate"});
    builder.convolution("c", "x", 5, 20, 5);
    builder.node("Relu", {"c"}, {"relu"});
    builder.convolution("d", "x", 5, 7, 5);
    builder.node("Relu", {"d"}, {"other"});
    builder.node("Concat", {"a", "gate", "relu", "other"}, {"joined"}, {{"axis", 1}});
    builder.convolution("e", "other", 7, 9, 3);
    for (const char* output : {"joined", "e", "a"}) builder.output(output);
    expect_equal(builder);
  }
}

// Pictures with channels last, pools of pools, many outputs, and elements that are only moved.
TEST_P(PlanCases, ChannelsLastPoolsAndMovedElements) {
  OnnxBuilder builder;
  builder.input("x", {1, 18, 22, 3});
  builder.node("Transpose", {"x"}, {"first"}, {{"perm", {0, 3, 1, 2}}});
  builder.convolution("a", "first", 3, 272, 3, 2);
  builder.node("Relu", {"a"}, {"b"});
  std::vector<std::string> joined{"b"};
  for (const std::int64_t side : {5, 9, 13}) {
    const std::string name = "pool" + std::to_string(side);
    builder.node("MaxPool", {"b"}, {name},
                 {{"kernel_shape", {side, side}}, {"pads", std::vector<std::int64_t>(4, side / 2)}});
    joined.push_back(name);
  }
  builder.node("Concat", joined, {"all"}, {{"axis", 1}});
  builder.convolution("c", "all", 4 * 272, 24, 1);
  builder.convolution("d", "b", 272, 24, 3, 1);
  std::vector<std::string> rows;
  for (const char* map : {"c", "d"}) {
    const std::string name = map;
    builder.node("Reshape", {name, builder.wholes(name + "5", {5}, {1, 3, 8, 9, 11})}, {name + "five"});
    builder.node("Transpose", {name + "five"}, {name + "turned"}, {{"perm", {0, 1, 3, 4, 2}}});
    builder.node("Reshape", {name + "turned", builder.wholes(name + "3", {3}, {1, -1, 8})}, {name + "rows"});
    rows.push_back(name + "rows");
  }
  builder.node("Concat", rows, {"y"}, {{"axis", 1}});
  builder.output("y");
  expect_equal(builder, true);
}

// Numbers come behind NaN and infinity, which stay in whatever is not written.
void expect_random_equal(const OnnxBuilder& network, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + test::text_of(network));
  test::expect_plan_equals_reference(network, {test::Fill::special, test::Fill::ordinary});
}

std::uint64_t first_seed(const std::string& set) {
  return 10'000 * static_cast<std::uint64_t>(std::ranges::find(all_sets(), set) - all_sets().begin());
}

TEST_P(PlanCases, RandomNetworks) {
  const std::uint64_t first = first_seed(GetParam()), count = test::is_thorough() ? 500 : 50;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    expect_random_equal(test::random_network(seed), seed);
}

TEST_P(PlanCases, OneOfABatch) {
  OnnxBuilder builder;
  builder.input("x", {2, 3, 5, 9});
  const auto whole = [&](std::int64_t one) { return builder.wholes("n" + std::to_string(one), {1}, {one}); };
  builder.node("Slice", {"x", whole(1), whole(2), whole(0)}, {"y"});
  builder.output("y");
  expect_equal(builder);
}

TEST_P(PlanCases, RandomChains) {
  const std::uint64_t first = first_seed(GetParam()), count = test::is_thorough() ? 5000 : 300;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    expect_random_equal(test::random_chain(seed), seed);
}

TEST(PlanParts, MemoryIsLimited) {
  CpuPlanOptions options;
  options.memory_limit = 1000;
  EXPECT_THROW(plan_for_cpu(test::small_yolox(64, 1).imported(), options), Problem);
}

TEST(PlanParts, InstructionSetsStayLimitedWhenListed) {
  for (const std::string& one : all_sets()) {
    limit_instruction_set(one);
    const bool is_fused = has_fused_multiply_add();
    instruction_sets();
    EXPECT_EQ(has_fused_multiply_add(), is_fused) << one;
  }
  limit_instruction_set("best");
}

INSTANTIATE_TEST_SUITE_P(AllTargets, PlanCases, testing::ValuesIn(all_sets()), [](const auto& one) {
  std::string name = one.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace sightline::nn
