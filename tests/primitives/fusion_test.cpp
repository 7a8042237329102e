#include "made_tensors.hpp"
#include "network/plan/fuse.hpp"
#include "network/reference.hpp"
#include "network_builder.hpp"
#include "point_check.hpp"

namespace sightline::nn {
namespace {

int waves_of(const NetworkBuilder& network) {
  return fuse(network.graph).waves;
}

// The fusion of a network, of which groups are checked by trial.
Fusion checked(const NetworkBuilder& network) {
  Fusion fusion = fuse(network.graph);
  const Tensor picture = made(network.graph.shape(0));
  const Tensor* const input = &picture;
  PointCheck check(fusion, {&input, 1});
  for (std::uint32_t seed = 0; seed < 3; ++seed) EXPECT_EQ(check.violation(seed), "");
  return fusion;
}

// Layers of a map, up to what `build` makes of it.
template <typename Build>
Fusion fused(const Build& build) {
  NetworkBuilder network;
  const int x = network.layer(network.picture(8), 32, 3);
  network.graph.add_output(build(network, x));
  return checked(network);
}

TEST(NetworkFusion, PointwiseNodesJoinTheirOperand) {
  const Fusion fusion = fused([](NetworkBuilder& b, int x) {
    const int y = b.layer(x, 64, 1);
    return b.sum(b.slice(y, 1, 0, 32), b.map(Function::divide, {x, b.constant({32, 1, 1})}));
  });
  EXPECT_EQ(fusion.waves, 1);
  EXPECT_EQ(fusion.groups, 1);
}

TEST(NetworkFusion, WindowsAndMeansBeginAWave) {
  EXPECT_EQ(fused([](NetworkBuilder& b, int x) { return b.layer(x, 32, 3, 1, 0); }).waves, 2);
  EXPECT_EQ(fused([](NetworkBuilder& b, int x) { return b.convolve(x, 8, 1, 2); }).waves, 2);
  EXPECT_EQ(fused([](NetworkBuilder& b, int x) { return b.max_pool(x, 3); }).waves, 2);
  // Squeeze and excite: the mean and what follows it, then the map again.
  const Fusion excited = fused([](NetworkBuilder& b, int x) {
    const int mean = b.add(Reduce{Fold::sum, {2, 3}}, {x});
    const int gate = b.map(Function::sigmoid, {b.convolve(b.layer(mean, 8, 1), 32, 1)});
    return b.convolve(b.map(Function::multiply, {x, gate}), 16, 1);
  });
  EXPECT_EQ(excited.waves, 3);
  EXPECT_EQ(excited.groups, 3);
}

TEST(NetworkFusion, ViewsKeepPoints) {
  // A channel shuffle, halves of which go their own way, and tokens with a norm.
  EXPECT_EQ(
      fused([](NetworkBuilder& b, int x) {
        const int both = b.concat({x, b.layer(x, 32, 1)});
        const int turned = b.add(Transpose{{0, 2, 1, 3, 4}}, {b.add(Reshape{{1, 2, 32, 8, 8}}, {both})});
        const int shuffled = b.add(Reshape{{1, 64, 8, 8}}, {turned});
        return b.sum(b.layer(b.slice(shuffled, 1, 0, 32), 32, 1), b.slice(shuffled, 1, 32, 32));
      }).waves,
      1);
  EXPECT_EQ(fused([](NetworkBuilder& b, int x) {
              const int tokens = b.add(Transpose{{0, 2, 1}}, {b.flattened(x)});
              const int away = b.map(Function::subtract, {tokens, b.add(Reduce{Fold::sum, {2}}, {tokens})});
              return b.add(Product{}, {away, b.constant({32, 48})});
            }).waves,
            1);
  // An upsampled map, beside one of its size.
  EXPECT_EQ(fused([](NetworkBuilder& b, int x) {
              const int small = b.layer(x, 32, 3, 2);
              return b.layer(b.concat({b.upsample(small), x}), 8, 1);
            }).waves,
            3);
}

TEST(NetworkFusion, AttentionIsAWaveByQuery) {
  const Fusion fusion = fused([](NetworkBuilder& b, int x) {
    const int tokens = b.add(Transpose{{0, 2, 1}}, {b.flattened(x)});
    const auto heads = [&](int of, const Axes& order) {
      return b.add(Transpose{order}, {b.add(Reshape{{1, 64, 4, 8}}, {of})});
    };
    const auto projected = [&](int of) { return b.add(Product{}, {of, b.constant({32, 32})}); };
    const int queries = heads(projected(tokens), {0, 2, 1, 3}),
              values = heads(projected(tokens), {0, 2, 1, 3});
    const int keys = heads(projected(tokens), {0, 2, 3, 1});
    const int scores = b.softmax(b.add(Product{}, {queries, keys}), 3);
    const int mixed = b.add(Transpose{{0, 2, 1, 3}}, {b.add(Product{}, {scores, values})});
    return b.sum(tokens, projected(b.add(Reshape{{1, 64, 32}}, {mixed})));
  });
  EXPECT_EQ(fusion.waves, 2);
  EXPECT_EQ(fusion.groups, 2);
}

TEST(NetworkFusion, PoolsOfPoolsReadTheirSource) {
  const Fusion fusion = fused([](NetworkBuilder& b, int x) {
    const int first = b.max_pool(x, 5), second = b.max_pool(first, 5);
    return b.layer(b.concat({x, first, second, b.max_pool(second, 5)}), 32, 1);
  });
  EXPECT_EQ(fusion.waves, 2);
}

// Heads of three strides, joined along their points.
int joined_heads(NetworkBuilder& b) {
  std::vector<int> levels{b.layer(b.picture(32), 20, 3)};
  for (int level = 1; level < 3; ++level) levels.push_back(b.layer(levels.back(), 20, 3, 2));
  for (int& level : levels) level = b.flattened(level);
  return b.concat(levels, 2);
}

TEST(NetworkFusion, JoinedHeadsAreComputedByStride) {
  NetworkBuilder b;
  const int all = joined_heads(b);
  const int boxes = b.add(Reshape{{1, 4, 4, 1344}}, {b.slice(all, 1, 0, 16)});
  const int weights = b.softmax(b.add(Transpose{{0, 2, 1, 3}}, {boxes}), 1);
  const int sides = b.add(Reshape{{1, 4, 1344}}, {b.convolve(weights, 1, 1)});
  const int placed =
      b.map(Function::multiply, {b.sum(sides, b.constant({1, 4, 1344})), b.constant({1, 1, 1344})});
  b.graph.add_output(b.concat({placed, b.map(Function::sigmoid, {b.slice(all, 1, 16, 4)})}));
  const Fusion fusion = checked(b);
  EXPECT_EQ(fusion.waves, 3);
  EXPECT_EQ(fusion.groups, 3);
}

TEST(NetworkFusion, WhatTheFrameDecidesComesLast) {
  NetworkBuilder b;
  const int map = b.layer(b.picture(16), 8, 3);
  const int places = b.add(NonZero{}, {map});
  const int flat = b.add(Reshape{{kUnknown}}, {places});
  b.graph.add_output(b.add(Gather{By::index, 0}, {b.add(Reshape{{2048}}, {map}), flat}));
  b.graph.add_output(b.layer(map, 8, 3));
  const Fusion fusion = checked(b);
  EXPECT_EQ(fusion.waves, 2);
  EXPECT_EQ(fusion.wave[static_cast<std::size_t>(fusion.graph.tensor(fusion.graph.outputs()[0]).maker)],
            kNone);
}

TEST(NetworkFusion, RepeatedJoinsDoNotMultiply) {
  NetworkBuilder b;
  int channels = b.layer(b.picture(4), 1, 3), points = b.flattened(channels);
  for (int i = 0; i < 20; ++i) {
    channels = b.concat({channels, channels});
    points = b.concat({points, points}, 2);
  }
  b.graph.add_output(b.map(Function::relu, {channels}));
  b.graph.add_output(b.map(Function::relu, {points}));
  const Fusion fusion = fuse(b.graph);
  EXPECT_LT(fusion.graph.nodes().size(), 100U);
  for (const PlannedTensor& one : fusion.tensors) EXPECT_LE(one.sources.size(), 1U);
}

TEST(NetworkFusion, TheCheckFindsNeighboursThatAreRead) {
  NetworkBuilder b;
  const int x = b.layer(b.picture(16), 8, 3);
  b.graph.add_output(b.max_pool(x, 3));
  Fusion fusion = fuse(b.graph);
  std::ranges::fill(fusion.wave, 1);
  const Tensor picture = made(b.graph.shape(0));
  const Tensor* const input = &picture;
  EXPECT_NE(PointCheck(fusion, {&input, 1}).violation(1), "");
}

// --- networks

int depthwise(NetworkBuilder& b, int x, std::int64_t outputs, std::int64_t step = 1) {
  return b.layer(b.layer(x, b.channels(x), 3, step, 0), outputs, 1);
}

int csp_layer(NetworkBuilder& b, int x, std::int64_t outputs, int repeats, bool adds = true) {
  int left = b.layer(x, outputs / 2, 1);
  const int right = b.layer(x, outputs / 2, 1);
  for (int i = 0; i < repeats; ++i) {
    const int made = depthwise(b, b.layer(left, outputs / 2, 1), outputs / 2);
    left = adds ? b.sum(left, made) : made;
  }
  return b.layer(b.concat({left, right}), outputs, 1);
}

TEST(NetworkFusion, YoloxNanoHas24Waves) {
  NetworkBuilder b;
  const int picture = b.picture(416);
  std::vector<int> focus;
  for (const std::int64_t x : {0, 1}) {
    for (const std::int64_t y : {0, 1})
      focus.push_back(b.add(Slice{{0, 0, y, x}, {1, 1, 2, 2}, {1, 3, 208, 208}}, {picture}));
  }
  int x = b.layer(b.concat(focus), 16, 3);
  x = csp_layer(b, depthwise(b, x, 32, 2), 32, 1);
  const int third = x = csp_layer(b, depthwise(b, x, 64, 2), 64, 3);
  const int fourth = x = csp_layer(b, depthwise(b, x, 128, 2), 128, 3);
  x = b.layer(depthwise(b, x, 256, 2), 128, 1);
  x = b.layer(b.concat({x, b.max_pool(x, 5), b.max_pool(x, 9), b.max_pool(x, 13)}), 256, 1);
  x = csp_layer(b, x, 256, 1, false);
  const int deep = b.layer(x, 128, 1);
  x = csp_layer(b, b.concat({b.upsample(deep), fourth}), 128, 1, false);
  const int middle = b.layer(x, 64, 1);
  std::vector<int> levels{csp_layer(b, b.concat({b.upsample(middle), third}), 64, 1, false)};
  levels.push_back(csp_layer(b, b.concat({depthwise(b, levels[0], 64, 2), middle}), 128, 1, false));
  levels.push_back(csp_layer(b, b.concat({depthwise(b, levels[1], 128, 2), deep}), 256, 1, false));
  for (int& level : levels) {
    const int stem = b.layer(level, 64, 1);
    const int classes = depthwise(b, depthwise(b, stem, 64), 64),
              boxes = depthwise(b, depthwise(b, stem, 64), 64);
    level =
        b.flattened(b.concat({b.convolve(boxes, 4, 1), b.map(Function::sigmoid, {b.convolve(boxes, 1, 1)}),
                              b.map(Function::sigmoid, {b.convolve(classes, 80, 1)})}));
  }
  b.graph.add_output(b.add(Transpose{{0, 2, 1}}, {b.concat(levels, 2)}));
  EXPECT_EQ(waves_of(b), 24);
}

int c2f(NetworkBuilder& b, int x, std::int64_t outputs, int repeats, bool adds = true) {
  x = b.layer(x, outputs, 1);
  const std::int64_t half = outputs / 2;
  std::vector<int> parts{b.slice(x, 1, 0, half), b.slice(x, 1, half, half)};
  for (int i = 0; i < repeats; ++i) {
    const int made = b.layer(b.layer(parts.back(), half, 3), half, 3);
    parts.push_back(adds ? b.sum(parts.back(), made) : made);
  }
  return b.layer(b.concat(parts), outputs, 1);
}

TEST(NetworkFusion, Yolov8nHas32Waves) {
  NetworkBuilder b;
  int x = b.layer(b.layer(b.picture(640), 16, 3, 2), 32, 3, 2);
  x = c2f(b, x, 32, 1);
  const int third = x = c2f(b, b.layer(x, 64, 3, 2), 64, 2);
  const int fourth = x = c2f(b, b.layer(x, 128, 3, 2), 128, 2);
  x = b.layer(c2f(b, b.layer(x, 256, 3, 2), 256, 1), 128, 1);
  const int first = b.max_pool(x, 5), second = b.max_pool(first, 5);
  const int fifth = x = b.layer(b.concat({x, first, second, b.max_pool(second, 5)}), 256, 1);
  const int middle = c2f(b, b.concat({b.upsample(fifth), fourth}), 128, 1, false);
  std::vector<int> levels{c2f(b, b.concat({b.upsample(middle), third}), 64, 1, false)};
  levels.push_back(c2f(b, b.concat({b.layer(levels[0], 64, 3, 2), middle}), 128, 1, false));
  levels.push_back(c2f(b, b.concat({b.layer(levels[1], 128, 3, 2), fifth}), 256, 1, false));
  for (int& level : levels) {
    const int boxes = b.convolve(b.layer(b.layer(level, 64, 3), 64, 3), 64, 1);
    const int classes = b.convolve(b.layer(b.layer(level, 80, 3), 80, 3), 80, 1);
    level = b.flattened(b.concat({boxes, classes}));
  }
  const int all = b.concat(levels, 2);
  const int bins = b.add(Reshape{{1, 4, 16, 8400}}, {b.slice(all, 1, 0, 64)});
  const int weights = b.softmax(b.add(Transpose{{0, 2, 1, 3}}, {bins}), 1);
  const int sides = b.add(Reshape{{1, 4, 8400}}, {b.convolve(weights, 1, 1)});
  const int anchors = b.constant({1, 2, 8400});
  const int low = b.map(Function::subtract, {anchors, b.slice(sides, 1, 0, 2)});
  const int high = b.sum(anchors, b.slice(sides, 1, 2, 2));
  const int centre = b.map(Function::divide, {b.sum(low, high), b.constant({})});
  const int size = b.map(Function::subtract, {high, low});
  const int boxes = b.map(Function::multiply, {b.concat({centre, size}), b.constant({1, 8400})});
  b.graph.add_output(b.concat({boxes, b.map(Function::sigmoid, {b.slice(all, 1, 64, 80)})}));
  EXPECT_EQ(waves_of(b), 32);
}

// --- rewriting

TEST(NetworkFusion, RewritingKeepsAllBits) {
  NetworkBuilder b;
  const int picture = b.picture(12);
  const int first = b.max_pool(picture, 3), second = b.max_pool(first, 5);
  b.graph.add_output(b.concat({first, second}));
  const int padded = b.add(Pad{{0, 0, 1, 2}, {0, 0, 1, 0}, Padding::constant, Scalar(0.0F)}, {second});
  const int weights = b.graph.add_constant("weights", made({4, 3, 3, 3}));
  b.graph.add_output(b.add(Convolve{{{3, 3}, {2, 1}, {1, 1}, {0, 1}, {6, 13}}, 1}, {padded, weights}));
  std::vector<int> parts;
  for (const std::int64_t step : {1, 2})
    parts.push_back(b.flattened(b.add(
        Convolve{{{3, 3}, {step, step}, {1, 1}, {1, 1}, {12 / step, 12 / step}}, 1}, {picture, weights})));
  const int joined = b.concat(parts, 2);
  const int scaled = b.map(Function::multiply, {joined, b.graph.add_constant("scales", made({1, 1, 180}))});
  b.graph.add_output(b.add(Transpose{{0, 2, 1}}, {b.softmax(scaled, 1)}));
  b.graph.add_output(b.softmax(scaled, 2));
  const Tensor input = made_odd({1, 3, 12, 12});
  const Tensor* const pointer = &input;
  const std::vector<Tensor> wanted = run_reference(b.graph, {&pointer, 1});
  const std::vector<Tensor> got = run_reference(fuse(b.graph).graph, {&pointer, 1});
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(same(got[i], wanted[i])) << i;
}

}  // namespace
}  // namespace sightline::nn
