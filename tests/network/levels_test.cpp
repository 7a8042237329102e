// A network's kernels by level, which only GPUs get, on whatever device there is.
#include <gtest/gtest.h>

#include "detectors/network/opencl/level_source.hpp"
#include "network/plan_comparison.hpp"

namespace sightline::network {
namespace {

using test::OnnxBuilder;

// Each kind of operation, and each tile of a product.
OnnxBuilder network_of_all_kinds() {
  OnnxBuilder builder;
  builder.input("x", {1, 5, 24, 28});
  builder.convolution("a", "x", 5, 64, 3, 2);
  builder.node("Relu", {"a"}, {"b"});
  builder.convolution("c", "b", 64, 64, 3, 1, 64);
  builder.convolution("all", "c", 64, 23, 1);
  builder.node("Slice",
               {"all", builder.wholes("from", {1}, {3}), builder.wholes("to", {1}, {23}),
                builder.wholes("axis", {1}, {1})},
               {"d"});
  builder.node("MaxPool", {"d"}, {"e"},
               {{"kernel_shape", {3, 3}}, {"pads", std::vector<std::int64_t>(4, 1)}});
  builder.node("AveragePool", {"d"}, {"f"},
               {{"kernel_shape", {3, 3}}, {"pads", std::vector<std::int64_t>(4, 1)}});
  builder.node("GlobalAveragePool", {"b"}, {"mean"});
  builder.convolution("gate", "mean", 64, 20, 1);
  builder.node("Add", {"e", "f"}, {"g"});
  builder.node("Mul", {"g", "gate"}, {"h"});
  builder.node("Resize", {"h", "", builder.reals("scales", {4}, {1, 1, 2, 2})}, {"i"});
  builder.node("Pad", {"i", builder.wholes("pads", {8}, {0, 0, 1, 0, 0, 0, 2, 3})}, {"j"});
  builder.convolution("k", "j", 20, 7, 3);
  builder.node("Reshape", {"k", builder.wholes("flat", {3}, {1, 7, -1})}, {"l"});
  builder.node("Transpose", {"l"}, {"y"}, {{"perm", {0, 2, 1}}});
  builder.output("y");
  builder.output("i");
  return builder;
}

TEST(NetworkLevels, AreTheInterpretersToTheBit) {
  test::expect_plan_equals_interpreter(network_of_all_kinds(), test::OnDevice::by_level);
}

TEST(NetworkLevels, CallEachKindOfOperation) {
  Graph graph = network_of_all_kinds().typed_graph();
  simplify(graph, test::kPlanMemory);
  const auto plan = make_plan(graph, test::kPlanMemory);
  if (!plan) GTEST_SKIP() << "no fused multiply-adds";
  std::string text;
  for (const auto& [groups, pixels] : {std::pair{1, 64}, {1, 256}, {132, 256}}) {
    LaunchShape shape;
    shape.groups = groups;
    shape.most_pixels = pixels;
    const LevelTables tables = make_level_tables(*plan, weights_of(*plan), shape);
    for (std::size_t i = 0; i < tables.launches.size(); ++i) text += level_source(tables, {&i, 1});
  }
  for (const char* name :
       {"stage", "stage_quads", "multiply_8_4", "multiply_4_4", "multiply_few", "depthwise", "binary", "pool",
        "resize", "sum_lanes", "mean", "copy", "scatter", "average", "pad"})
    EXPECT_NE(text.find(std::string("(") + name + ")"), std::string::npos) << name;
}

}  // namespace
}  // namespace sightline::network
