// Plans for the CPU of attention, samples and padding: by tiles, with the reference's bits.
#include <oneapi/tbb/task_arena.h>

#include "made_tensors.hpp"
#include "network/plan/cpu_plan.hpp"
#include "network/plan/cpu_runner.hpp"
#include "network/reference.hpp"
#include "network_builder.hpp"

namespace sightline::nn {
namespace {

/// Networks whose channels differ.
class TokenBuilder : public NetworkBuilder {
 public:
  /// With other values in each channel.
  int varied(int x) {
    const int factors = graph.add_constant("factors", made({channels(x), 1, 1}, ++seed_));
    return map(Function::multiply, {x, factors});
  }
  int projected(int x, std::int64_t outputs) {
    return map(Function::sine, {varied(convolve(varied(x), outputs, 1))});
  }
  int map_of(std::int64_t side, std::int64_t outputs) { return projected(picture(side), outputs); }
  int reshaped(int x, Shape shape) { return add(Reshape{std::move(shape)}, {x}); }
  int turned(int x, Axes order) { return add(Transpose{std::move(order)}, {x}); }
  /// [1, C, H, W] as [1, heads, C / heads, H * W].
  int heads_of(int x, std::int64_t heads) {
    const Shape& from = graph.shape(x);
    return reshaped(x, {1, heads, from[1] / heads, from[2] * from[3]});
  }
  int product(int a, int b) { return add(Product{}, {a, b}); }

 private:
  std::uint32_t seed_ = 1;
};

int alone_works(const CpuPlan& plan) {
  int count = 0;
  for (const auto& wave : plan.waves) {
    for (const auto& work : wave) count += work->name().starts_with("alone") ? 1 : 0;
  }
  return count;
}

// Expects the reference's bits, of a number of nodes that run alone.
void expect_by_tiles(const NetworkBuilder& network, int alone = 0) {
  const Tensor picture = made(network.graph.shape(0));
  const Tensor* const input = &picture;
  const CpuPlan plan = plan_for_cpu(network.graph);
  EXPECT_EQ(alone_works(plan), alone);
  const std::vector<Tensor> wanted = run_reference(network.graph, {&input, 1});
  for (const int threads : {1, 3}) {
    CpuRunner runner(plan);
    oneapi::tbb::task_arena arena(threads);
    for (int frame = 0; frame < 2; ++frame) {
      arena.execute([&] {
        const std::vector<Tensor>& got = runner.run({&input, 1});
        for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(same(got[i], wanted[i])) << i;
      });
    }
  }
}

struct Heads {
  std::int64_t count, channels;
};

TEST(CpuPlanTiles, AttentionRunsByTiles) {
  for (const auto& [heads, channels] : {Heads{2, 24}, Heads{4, 8}, Heads{1, 16}, Heads{3, 20}, Heads{2, 1}}) {
    TokenBuilder b;
    const int x = b.map_of(9, heads * channels);
    // The rows of keys have ends, as a window reads them.
    const int keys = b.projected(x, heads * channels);
    b.graph.add_output(b.layer(keys, 3, 3));
    const int q = b.turned(b.heads_of(b.projected(x, heads * channels), heads), {0, 1, 3, 2}),
              k = b.heads_of(keys, heads), v = b.heads_of(b.projected(x, heads * channels), heads);
    const int weights = b.softmax(b.product(q, k), 3);
    const int columns = b.product(v, b.turned(weights, {0, 1, 3, 2}));
    b.graph.add_output(b.layer(b.reshaped(columns, {1, heads * channels, 9, 9}), 5, 1));
    const int rows = b.product(weights, b.turned(v, {0, 1, 3, 2}));
    b.graph.add_output(b.map(Function::relu, {b.sum(rows, q)}));
    b.graph.add_output(b.map(Function::relu, {b.product(q, k)}));
    expect_by_tiles(b);
  }
}

TEST(CpuPlanTiles, ProductsWithRepeatedAndConstantMatrices) {
  TokenBuilder b;
  const int x = b.map_of(6, 40);
  const int q = b.turned(b.heads_of(x, 2), {0, 1, 3, 2});  // [1, 2, 36, 20]
  b.graph.add_output(b.product(q, b.graph.add_constant("", made({2, 20, 33}, 7))));
  b.graph.add_output(b.product(b.graph.add_constant("", made({9, 36}, 8)), q));
  const int one = b.slice(b.turned(q, {0, 1, 3, 2}), 1, 1, 1);
  b.graph.add_output(b.product(q, one));
  // One number by one number, of more matrices than a block has lanes.
  const int turns = b.reshaped(b.projected(x, 68), {4, 17, 36, 1});
  b.graph.add_output(b.product(turns, b.graph.add_constant("", made({17, 1, 1}, 9))));
  expect_by_tiles(b, 1);
}

TEST(CpuPlanTiles, ReducesOfRowsAndOfBlocks) {
  TokenBuilder b;
  const int x = b.turned(b.heads_of(b.map_of(5, 132), 4), {0, 3, 1, 2});  // [1, 25, 4, 33]
  for (const Fold fold : {Fold::sum, Fold::product, Fold::minimum, Fold::maximum}) {
    b.graph.add_output(b.add(Reduce{fold, {3}}, {x}));
    b.graph.add_output(b.add(Reduce{fold, {2}}, {x}));
    b.graph.add_output(b.add(Reduce{fold, {2, 3}}, {x}));
    b.graph.add_output(b.add(Reduce{fold, {2}}, {b.reshaped(x, {1, 25, 3, 44})}));
    b.graph.add_output(b.add(Reduce{fold, {2}},
                             {b.reshaped(b.slice(b.reshaped(x, {1, 25, 132}), 2, 0, 128), {1, 25, 4, 32})}));
  }
  b.graph.add_output(b.softmax(x, 3));
  b.graph.add_output(b.softmax(x, 2));
  expect_by_tiles(b);
}

// Numbers of channels that divide a block have one kernel. Others, and those that another node reads between
// the softmax's own nodes, have a kernel for each node.
TEST(CpuPlanTiles, SoftmaxOverFewChannels) {
  for (const std::int64_t count : {2, 3, 4, 8, 16}) {
    for (const bool is_read_within : {false, true}) {
      TokenBuilder b;
      const Axes order{0, 3, 1, 2};
      const int x = b.turned(b.reshaped(b.map_of(7, 5 * count), {1, 5, count, 49}), order);
      const int weights = b.softmax(x, 3);
      b.graph.add_output(b.map(Function::absolute, {b.turned(weights, {0, 2, 3, 1})}));
      if (is_read_within) b.graph.add_output(b.graph.node(b.graph.tensor(weights).maker).inputs[1]);
      expect_by_tiles(b);
      const CpuPlan plan = plan_for_cpu(b.graph);
      const bool is_one = std::ranges::any_of(plan.waves, [](const auto& wave) {
        return std::ranges::any_of(
            wave, [](const auto& work) { return work->name().find("softmax") != std::string::npos; });
      });
      EXPECT_EQ(is_one, count != 3 && !is_read_within) << count;
    }
  }
}

TEST(CpuPlanTiles, SoftmaxOverBinsInFrontOfSides) {
  TokenBuilder b;
  const int bins = b.turned(b.reshaped(b.map_of(5, 80), {1, 4, 20, 25}), {0, 2, 1, 3});  // [1, 20, 4, 25]
  const int scaled = b.map(Function::absolute, {bins}), weights = b.softmax(scaled, 1);
  b.graph.add_output(b.convolve(weights, 1, 1));
  b.graph.add_output(b.add(Reduce{Fold::sum, {1}}, {b.map(Function::multiply, {weights, scaled})}));
  b.graph.add_output(b.map(Function::relu, {weights}));
  expect_by_tiles(b);
}

TEST(CpuPlanTiles, GridSamplesRunByTiles) {
  for (const bool nearest : {false, true}) {
    TokenBuilder b;
    const int x = b.map_of(7, 48), y = b.projected(x, 16);
    // Of queries: [heads, queries, places, 2].
    const int places = b.turned(b.reshaped(y, {2, 4, 2, 49}), {0, 3, 1, 2});
    const int values = b.reshaped(b.heads_of(x, 2), {2, 24, 7, 7});
    const GridSample how{nearest, false, Border::zeros};
    const int samples = b.add(how, {values, places});  // [2, 24, 49, 4]
    b.graph.add_output(b.add(Reduce{Fold::sum, {3}}, {b.map(Function::relu, {samples})}));
    // Of pixels, of a map whose rows lie in two tensors.
    const int grid = b.turned(b.slice(y, 1, 5, 2), {0, 2, 3, 1});
    b.graph.add_output(
        b.layer(b.add(GridSample{nearest, true, Border::edge}, {b.concat({x, b.varied(x)}, 3), grid}), 4, 1));
    b.graph.add_output(b.add(how, {b.graph.add_constant("", made({1, 20, 3, 5}, 3)), grid}));
    expect_by_tiles(b);
  }
}

TEST(CpuPlanTiles, FoldsOfFewElementsInJoinedTensors) {
  TokenBuilder b;
  const int x = b.map_of(5, 96);
  const auto part = [&](int of, std::int64_t places) {  // [1, 25, 20, places]
    return b.map(Function::absolute, {b.turned(b.heads_of(b.projected(of, 20 * places), 20), {0, 3, 1, 2})});
  };
  const int both = b.concat({part(x, 4), part(x, 3)}, 3), weights = b.slice(both, 2, 0, 1);
  const int weighed = b.map(Function::multiply, {both, weights});
  b.graph.add_output(b.add(Reduce{Fold::sum, {3}}, {weighed}));
  expect_by_tiles(b);
}

TEST(CpuPlanTiles, GathersRunByTiles) {
  TokenBuilder b;
  const int x = b.map_of(6, 20), tokens = b.turned(b.reshaped(x, {1, 20, 36}), {0, 2, 1});
  const int place = b.add(ArgReduce{true, 1}, {b.projected(x, 30)});  // [1, 1, 6, 6]
  const int rows = b.add(Gather{By::index, 1}, {tokens, b.reshaped(place, {4, 9})});
  b.graph.add_output(b.map(Function::relu, {rows}));
  const int repeated = b.add(Expand{{1, 36, 20}}, {b.reshaped(place, {1, 36, 1})});
  b.graph.add_output(b.softmax(b.add(Gather{By::element, 1}, {tokens, repeated}), 2));
  expect_by_tiles(b, 1);
}

TEST(CpuPlanTiles, LargestElementsWithoutTheirPlaces) {
  for (const bool largest : {true, false}) {
    TokenBuilder b;
    const int x = b.turned(b.heads_of(b.map_of(5, 132), 4), {0, 3, 1, 2});  // [1, 25, 4, 33]
    const int ties = b.map(Function::round, {x});                           // with zeros of both signs
    b.graph.add_output(b.graph.add("", TopK{3, 5, largest}, {ties})[0]);
    b.graph.add_output(b.graph.add("", TopK{2, 4, largest}, {ties})[0]);
    expect_by_tiles(b);
    b.graph.add_output(b.graph.add("", TopK{3, 5, largest}, {x})[1]);
    expect_by_tiles(b, 1);
  }
}

TEST(CpuPlanTiles, PaddedMapsRunByTiles) {
  for (const Padding mode : {Padding::constant, Padding::edge, Padding::reflect, Padding::wrap}) {
    TokenBuilder b;
    const int x = b.map_of(6, 20);
    b.graph.add_output(
        b.layer(b.max_pool(b.add(Pad{{0, 0, 2, 0}, {0, 0, 1, 9}, mode, -0.5F}, {x}), 3), 4, 3));
    b.graph.add_output(b.add(Pad{{0, 0, 0, 1}, {0, 0, 0, 0}, mode, 2.0F}, {b.slice(x, 1, 3, 5)}));
    expect_by_tiles(b);
  }
}

}  // namespace
}  // namespace sightline::nn
