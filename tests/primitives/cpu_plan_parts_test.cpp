// Parts of plans for the CPU: the arena, merged maps, and operands of several stored tensors.
#include <functional>
#include <random>

#include "base/error.hpp"
#include "made_tensors.hpp"
#include "network/plan/arena.hpp"
#include "network/plan/cpu_plan.hpp"
#include "network/plan/cpu_runner.hpp"
#include "network/plan/merge_maps.hpp"
#include "network/reference.hpp"
#include "network_builder.hpp"

namespace sightline::nn {
namespace {

TEST(CpuPlanParts, TensorsOfOneWaveDoNotOverlapInTheArena) {
  std::mt19937 random(1);
  std::vector<Storage> storages(60);
  std::vector<Storage*> pointers;
  std::int64_t sum = 0;
  for (Storage& one : storages) {
    one.bytes = 1 + static_cast<std::int64_t>(random() % 5000);
    one.first_wave = static_cast<int>(random() % 20);
    one.last_wave = one.first_wave + static_cast<int>(random() % 4);
    sum += aligned_bytes(one.bytes);
    pointers.push_back(&one);
  }
  const std::int64_t size = place_in_arena(pointers);
  EXPECT_LT(size, sum / 2);
  for (const Storage& a : storages) {
    EXPECT_EQ(a.offset % 64, 0);
    EXPECT_LE(a.offset + a.bytes, size);
    for (const Storage& b : storages) {
      const bool together = a.first_wave <= b.last_wave && b.first_wave <= a.last_wave;
      const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      EXPECT_TRUE(&a == &b || !together || apart);
    }
  }
}

TEST(CpuPlanParts, AMergedMapComputesBoth) {
  NetworkBuilder b;
  const int x = b.graph.add_input("x", {DataType::f32, {2, 5}}),
            y = b.graph.add_input("y", {DataType::f32, {2, 5}});
  const int inner = b.map(Function::subtract, {y, x}), outer = b.map(Function::divide, {x, inner});
  b.graph.add_output(outer);
  GraphNode merged = b.graph.node(b.graph.tensor(outer).maker);
  merge_map(merged, inner, b.graph.node(b.graph.tensor(inner).maker));
  const Tensor one = made({2, 5}, 1), two = made({2, 5}, 2);
  std::vector<const Tensor*> inputs;
  for (const int input : merged.inputs) inputs.push_back(input == x ? &one : &two);
  EXPECT_EQ(inputs.size(), 2U);
  const std::vector<const Tensor*> given{&one, &two};
  EXPECT_TRUE(same(evaluate(merged.primitive, inputs)[0], run_reference(b.graph, given)[0]));
}

// A network's plan beside the reference.
void expect_planned(const NetworkBuilder& network) {
  const Tensor picture = made(network.graph.shape(0));
  const Tensor* const input = &picture;
  const CpuPlan plan = plan_for_cpu(network.graph);
  CpuRunner runner(plan);
  const std::vector<Tensor> wanted = run_reference(network.graph, {&input, 1});
  for (int frame = 0; frame < 2; ++frame) {
    const std::vector<Tensor>& got = runner.run({&input, 1});
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(same(got[i], wanted[i]));
  }
}

// Elements of a vector whose places its own values say: too large ones fail.
NetworkBuilder network_that_may_fail(bool comes_last) {
  NetworkBuilder b;
  int x = b.graph.add_input("x", {DataType::f32, {6}});
  Expression to_number({DataType::f32});
  to_number.add_result(to_number.cast(to_number.operand(0), DataType::i64));
  const int places = b.add(Map{to_number}, {x});
  if (comes_last) x = b.add(Reshape{{kUnknown}}, {b.add(NonZero{}, {x})});
  b.graph.add_output(b.graph.add_single("'the failing one' (Gather)", Gather{By::index, 0, 0}, {x, places}));
  return b;
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::failed);
    return error.what();
  }
  return "";
}

TEST(CpuPlanParts, FailuresNameTheNode) {
  for (const bool comes_last : {false, true}) {
    const NetworkBuilder network = network_that_may_fail(comes_last);
    const CpuPlan plan = plan_for_cpu(network.graph);
    EXPECT_EQ(plan.last_nodes.empty(), !comes_last);
    CpuRunner runner(plan);
    const Tensor bad = Tensor::vector<float>({1, 2, 3, 4, 5, 9}),
                 good = Tensor::vector<float>({1, 2, 3, 4, 5, 1});
    for (const Tensor* input : {&bad, &good}) {
      const std::string failure = failure_of([&] { runner.run({&input, 1}); });
      EXPECT_EQ(failure, failure_of([&] { run_reference(network.graph, {&input, 1}); }));
      EXPECT_EQ(failure.find("'the failing one' (Gather)") != std::string::npos, input == &bad) << failure;
    }
  }
}

TEST(CpuPlanParts, MemoryIsLimited) {
  NetworkBuilder b;
  b.graph.add_output(b.layer(b.picture(32), 16, 3));
  const std::int64_t bytes = plan_for_cpu(b.graph).frame_bytes();
  EXPECT_GE(bytes, (3 + 16) * 32 * 32 * 4);
  CpuPlanOptions options;
  options.memory_limit = bytes;
  EXPECT_NO_THROW(plan_for_cpu(b.graph, options));
  --options.memory_limit;
  EXPECT_THROW(plan_for_cpu(b.graph, options), Problem);
  // Results of nodes whose sizes the frame decides are counted while they run.
  const NetworkBuilder network = network_that_may_fail(true);
  const CpuPlan plan = plan_for_cpu(network.graph);
  CpuRunner runner(plan, 20);
  const Tensor good = Tensor::vector<float>({1, 2, 3, 4, 5, 1});
  const Tensor* const input = &good;
  EXPECT_NE(failure_of([&] { runner.run({&input, 1}); }), "");
}

TEST(CpuPlanParts, OutputsMayBeViewsAndTheSame) {
  NetworkBuilder b;
  const int x = b.picture(40), y = b.layer(x, 20, 3), z = b.layer(x, 7, 3);
  const int both = b.add(Reshape{{1, 27, 1600}}, {b.concat({y, z})});
  b.graph.add_output(b.add(Transpose{{0, 2, 1}}, {both}));
  // Heads of two strides: kernels write them where the output has them.
  std::vector<int> strides;
  for (const int map : {b.layer(x, 4, 3, 2), b.layer(x, 3, 3, 4)}) {
    const int side = static_cast<int>(b.graph.shape(map)[2]);
    const int head =
        b.concat({b.convolve(map, 4, 1), b.map(Function::sigmoid, {b.convolve(b.layer(map, 5, 1), 17, 1)})});
    strides.push_back(b.add(Reshape{{1, 21, side * side}}, {head}));
  }
  const int joined = b.concat(strides, 2);
  b.graph.add_output(b.add(Transpose{{0, 2, 1}}, {joined}));
  EXPECT_TRUE(plan_for_cpu(b.graph).copies.empty());
  expect_planned(b);
  b.graph.add_output(joined);
  b.graph.add_output(y);
  b.graph.add_output(y);
  b.graph.add_output(x);
  expect_planned(b);
}

TEST(CpuPlanParts, WindowsOfOnePlaceMayReachBeyondTheMap) {
  for (const bool is_map : {true, false}) {
    NetworkBuilder b;
    int x = b.picture(12);
    if (!is_map) x = b.add(Reduce{Fold::sum, {2, 3}}, {x});
    const Shape& from = b.graph.shape(x);
    const Window window{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {from[2] + 2, from[3] + 1}};
    b.graph.add_output(b.add(Convolve{window, 1}, {b.silu(x), b.constant({5, 3, 1, 1}), b.constant({5})}));
    expect_planned(b);
  }
}

TEST(CpuPlanParts, WindowsReadMapsOfOnePlace) {
  NetworkBuilder b;
  const int mean = b.silu(b.add(Reduce{Fold::sum, {2, 3}}, {b.layer(b.picture(12), 20, 3)}));
  const int depthwise = b.layer(mean, 20, 3, 1, 0);
  b.graph.add_output(b.layer(b.sum(depthwise, b.max_pool(mean, 3)), 7, 3));
  expect_planned(b);
}

TEST(CpuPlanParts, OutputsHaveAnyOrderOfPoints) {
  NetworkBuilder b;
  const int x = b.layer(b.picture(20), 21, 1);  // tiles of more than a row
  b.graph.add_output(b.add(Transpose{{0, 3, 2, 1}}, {x}));
  b.graph.add_output(b.layer(b.graph.inputs()[0], 5, 1));
  expect_planned(b);
}

TEST(CpuPlanParts, JoinedMapsHaveRowsOfTheirOwn) {
  // A later window pads the rows of one of them alone.
  NetworkBuilder b;
  const int x = b.layer(b.picture(9), 20, 3), y = b.layer(x, 20, 3, 1, 0);
  b.graph.add_output(b.add(Reduce{Fold::sum, {2, 3}}, {b.concat({x, y})}));
  b.graph.add_output(b.layer(b.concat({b.slice(y, 1, 3, 9), x}), 17, 1));
  expect_planned(b);
}

TEST(CpuPlanParts, ProductsComputeTheMapsOfTheirSums) {
  NetworkBuilder b;
  const int x = b.map(Function::relu, {b.convolve(b.picture(30), 20, 3, 2)});
  const int first = b.convolve(x, 20, 3), second = b.convolve(x, 20, 1),
            depthwise = b.convolve(x, 20, 3, 1, 0);
  const int after = b.sum(x, b.silu(first)), before = b.map(Function::relu, {b.sum(second, after)});
  const int sums = b.convolve(before, 20, 3, 1, 5);
  b.graph.add_output(
      b.sum(b.map(Function::hard_swish, {sums}), b.map(Function::clip, {depthwise}, {0.5F, 4.0F})));
  b.graph.add_output(b.map(Function::multiply, {before, b.map(Function::sigmoid, {before})}));
  expect_planned(b);
}

TEST(CpuPlanParts, ProductsScaleTheirSums) {
  NetworkBuilder b;
  const auto number = [&](float value) { return b.graph.add_constant("", Tensor::of<float>({1}, {value})); };
  const int relu = b.map(Function::relu, {b.convolve(b.picture(30), 20, 3)});
  const int first = b.map(Function::add, {b.map(Function::multiply, {relu, number(1.7F)}), number(-0.3F)});
  const int second = b.map(Function::multiply, {number(-0.3F), b.convolve(first, 20, 3, 1, 0)});
  b.graph.add_output(b.map(Function::add, {b.convolve(second, 20, 1), number(0.1F)}));
  expect_planned(b);
  for (const auto& wave : plan_for_cpu(b.graph).waves) {
    for (const auto& work : wave) {
      for (const char* const map : {"relu", "multiply", "add", "map"}) {
        for (const char* const before : {": ", " + "})
          EXPECT_EQ(work->name().find(before + std::string(map)), std::string::npos) << work->name();
      }
    }
  }
}

TEST(CpuPlanParts, ShuffledChannelsAndUpsampledMapsAreRead) {
  NetworkBuilder b;
  const int x = b.layer(b.picture(12), 24, 3);
  const int both = b.concat({x, b.layer(x, 24, 1)});
  const int turned = b.add(Transpose{{0, 2, 1, 3, 4}}, {b.add(Reshape{{1, 2, 24, 12, 12}}, {both})});
  const int shuffled = b.add(Reshape{{1, 48, 12, 12}}, {turned});
  b.graph.add_output(b.layer(b.slice(shuffled, 1, 5, 30), 16, 3, 1));
  b.graph.add_output(b.layer(b.concat({b.upsample(b.layer(x, 8, 3, 2)), x}), 8, 1));
  expect_planned(b);
}

TEST(CpuPlanParts, WindowsReadBlocksOfMixedLanes) {
  NetworkBuilder b;
  const int x = b.layer(b.picture(12), 20, 3), y = b.layer(x, 20, 3, 1, 0);
  const int both = b.slice(b.concat({x, y, x}), 1, 3, 50);
  b.graph.add_output(b.convolve(both, 50, 3, 2, 0));
  b.graph.add_output(b.max_pool(both, 3));
  expect_planned(b);
}

TEST(CpuPlanParts, HeadsAreMerged) {
  NetworkBuilder b;
  const int x = b.layer(b.picture(9), 20, 3);
  const auto convolve = [&](int from, std::int64_t outputs, std::int64_t kernel, std::int64_t groups) {
    const auto seed = static_cast<std::uint32_t>(b.graph.tensors().size());
    const int weights =
        b.graph.add_constant("weights", made({outputs, b.channels(from) / groups, kernel, kernel}, seed));
    const Convolve one{{{kernel, kernel}, {1, 1}, {1, 1}, {kernel / 2, kernel / 2}, {9, 9}}, groups};
    std::vector<int> inputs{from, weights};
    if (outputs > 2) inputs.push_back(b.graph.add_constant("start", made({outputs}, seed + 1)));
    return b.add(one, inputs);
  };
  for (const std::int64_t outputs : {1, 10, 4, 2}) {
    const int head = convolve(convolve(x, outputs, 1, 1), outputs, 3, outputs);
    b.graph.add_output(outputs < 3 ? b.map(Function::sigmoid, {head}) : b.flattened(head));
  }
  // Not these: an activation follows, or the window is another.
  b.graph.add_output(b.layer(x, 3, 1));
  b.graph.add_output(convolve(x, 3, 3, 1));
  const CpuPlan plan = plan_for_cpu(b.graph);
  EXPECT_EQ(std::ranges::count_if(
                plan.graph.nodes(),
                [](const GraphNode& node) { return std::holds_alternative<Convolve>(node.primitive); }),
            5);
  expect_planned(b);
}

}  // namespace
}  // namespace sightline::nn
