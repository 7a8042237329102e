#include "network/plan/drawing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "network_builder.hpp"

namespace sightline::nn {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(PlanDrawing, HasABoxForEachGroupAndAnArrowForEachReader) {
  NetworkBuilder network;
  const int x = network.layer(network.picture(8), 16, 3);  // read by both of the second wave
  const int mean = network.add(Reduce{Fold::sum, {2, 3}}, {x});
  network.graph.add_output(network.layer(x, 16, 3, 1, 0));
  network.graph.add_output(mean);
  const Fusion fusion = fuse(network.graph);
  ASSERT_EQ(fusion.waves, 2);
  const std::string svg = drawing_of(fusion);
  const auto boxes = static_cast<std::size_t>(fusion.groups) + 1 + 2;  // an input, two outputs
  EXPECT_EQ(count(svg, "<rect "), boxes + 1) << "and the background";
  EXPECT_EQ(count(svg, "marker-end"), 5u);
  for (const char* text : {">convolve 3x3, 3 to 16<", ">depthwise 3x3, 16<", ">swish<",
                           ">sum over axes 2, 3<", ">stores f32 1x16x8x8<"})
    EXPECT_EQ(count(svg, text), text == std::string(">swish<") ? 2u : 1u) << text;
}

TEST(PlanDrawing, MarksNodesThatRunAloneAndEscapesNames) {
  Graph graph;
  const int picture = graph.add_input("<picture>", {DataType::f32, {1, 4}});
  graph.add_output(graph.add_single("scan", Scan{1}, {picture}));
  const std::string svg =
      drawing_of(fuse(graph, [](const Graph&, std::span<const PlannedTensor>, int) { return true; }));
  EXPECT_EQ(count(svg, "#e6e6e6"), 1u);
  EXPECT_EQ(count(svg, "&lt;picture&gt;"), 1u);
}

}  // namespace
}  // namespace sightline::nn
