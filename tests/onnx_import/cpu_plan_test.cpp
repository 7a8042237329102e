// Plans of imported networks on the CPU: they equal the reference to the bit, with any number of threads.
#include "network/plan/cpu_plan.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <filesystem>

#include "base/error.hpp"
#include "network/plan/cpu_runner.hpp"
#include "network/reference.hpp"
#include "onnx/file.hpp"
#include "onnx/import.hpp"
#include "onnx_import/random_chain.hpp"
#include "onnx_import/random_network.hpp"
#include "onnx_import/random_operator.hpp"
#include "primitives/made_tensors.hpp"
#include "support/shared_data.hpp"
#include "support/thorough.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kMemoryOfPlans = std::int64_t{1} << 30;

std::vector<Tensor> plan_inputs(const Graph& graph, std::uint32_t seed) {
  std::vector<Tensor> inputs;
  for (const int input : graph.inputs()) {
    const bool is_odd = graph.type(input).data == DataType::f32 && seed % 2 == 1;
    inputs.push_back(is_odd ? made_odd(graph.shape(input), seed)
                            : with_type(graph.type(input).data,
                                        [&]<typename T>() { return made<T>(graph.shape(input), seed); }));
  }
  return inputs;
}

// What is wrong with the plan of a network; nothing where it fails with such inputs.
std::string wrong_in_plan(const test::OnnxBuilder& builder, std::uint32_t seed,
                          const CpuPlanOptions& options) {
  const std::string bytes = builder.bytes();
  const Graph graph = import_onnx(parse_onnx(bytes, "test.onnx"), kMemoryOfPlans);
  const std::vector<Tensor> inputs = plan_inputs(graph, seed);
  std::vector<const Tensor*> pointers;
  for (const Tensor& one : inputs) pointers.push_back(&one);
  std::vector<Tensor> wanted;
  try {
    wanted = run_reference(graph, pointers);
  } catch (const Error&) {
    return "";
  }
  const CpuPlan plan = plan_for_cpu(graph, options);
  for (const int threads : {1, 3}) {
    CpuRunner runner(plan);
    oneapi::tbb::task_arena arena(threads);
    const std::vector<Tensor>* got = nullptr;
    for (int frame = 0; frame < 2; ++frame) arena.execute([&] { got = &runner.run(pointers); });
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto result = same((*got)[i], wanted[i]);
      if (!result)
        return std::to_string(threads) + " threads, output " + std::to_string(i) + " " + result.message() +
               "\n" + text_of(plan.graph);
    }
  }
  return "";
}

void expect_equal(const CpuPlanOptions& options, std::uint32_t chains, std::uint32_t networks,
                  std::uint32_t operators) {
  for (std::uint32_t seed = 0; seed < chains; ++seed)
    EXPECT_EQ(wrong_in_plan(test::random_chain(seed), seed, options), "") << "chain " << seed;
  for (std::uint32_t seed = 0; seed < networks; ++seed)
    EXPECT_EQ(wrong_in_plan(test::random_network(seed), seed, options), "") << "network " << seed;
  for (const std::string_view name : test::random_operators()) {
    for (std::uint32_t seed = 0; seed < operators; ++seed)
      EXPECT_EQ(wrong_in_plan(test::random_operator(name, seed), seed, options), "") << name << " " << seed;
  }
}

// Places of tensors in blocks and in plain memory by turns.
void store_in_turns(Stored& stored, const Graph& graph) {
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const int tensor = static_cast<int>(t);
    if (!stored.is_stored(tensor) || elements_of(graph.shape(tensor)) == 0) continue;
    const Layout& layout = stored.planned(tensor).layout;
    const Shape& shape = graph.shape(tensor);
    const auto turn = static_cast<std::int64_t>(t % 4);
    const bool has_rows = shape.size() == 4 && layout.axes[3] == FactoredAxis{{shape[3], 1}};
    if (turn == 0 || graph.tensor(tensor).maker == kNone) {
      stored[tensor] = plain_storage(graph.type(tensor), Memory::arena);
    } else {
      stored[tensor] = block_storage(layout, has_rows ? shape[3] : layout.points, has_rows ? turn - 1 : 0);
    }
  }
}

// Compares what factors say of operands with their elements, one by one. Returns how many operands there are.
int check_operands(const Graph& graph) {
  const Fusion fusion = fuse(graph);
  Stored stored(fusion.graph, fusion.tensors);
  store_in_turns(stored, fusion.graph);
  int operands = 0;
  for (const GraphNode& node : fusion.graph.nodes()) {
    const PlannedTensor& made = stored.planned(node.outputs[0]);
    for (const int input : node.inputs) {
      if (made.is_last || stored.planned(input).is_last || elements_of(fusion.graph.shape(input)) == 0)
        continue;
      const bool is_map = std::holds_alternative<Map>(node.primitive);
      const Shape& shape = fusion.graph.shape(is_map ? node.outputs[0] : input);
      if (elements_of(shape) == 0) continue;
      for (const Layout& layout : {is_map ? made.layout : stored.planned(input).layout, Layout::of(shape)}) {
        EXPECT_EQ(stored.operand(input, shape, layout), stored.operand_by_elements(input, shape, layout))
            << node.name << "\n"
            << text_of(fusion.graph);
        ++operands;
      }
    }
  }
  return operands;
}

TEST(CpuPlan, FactorsSayWhereOperandsLie) {
  const auto graph_of = [](const test::OnnxBuilder& builder) {
    return import_onnx(parse_onnx(builder.bytes(), "test.onnx"), kMemoryOfPlans);
  };
  int operands = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed)
    operands += check_operands(graph_of(test::random_chain(seed)));
  for (std::uint32_t seed = 0; seed < 10; ++seed)
    operands += check_operands(graph_of(test::random_network(seed)));
  EXPECT_GT(operands, 2000);
}

TEST(CpuPlan, EqualsTheReferenceByNodesThatRunAlone) {
  CpuPlanOptions options;
  options.all_alone = true;
  expect_equal(options, 60, 4, 1);
}

TEST(CpuPlan, EqualsTheReferenceByTiles) {
  test::is_thorough() ? expect_equal({}, 18'000, 2'000, 100) : expect_equal({}, 450, 50, 3);
}

struct PlannedWaves {
  const char* file;
  std::size_t waves;
  int alone;  ///< nodes
};

TEST(CpuPlan, PublicNetworksHaveTheirWaves) {
  for (const auto& [name, waves, alone] :
       {PlannedWaves{"yolox_nano", 24, 0}, PlannedWaves{"nanodet_m_0.5x", 24, 0},
        PlannedWaves{"version-RFB-320", 17, 0}, PlannedWaves{"yunet_n_320_320", 23, 0},
        PlannedWaves{"deimv2_atto", 41, 6}}) {
    const std::filesystem::path file = test::shared_data() / "networks" / (std::string(name) + ".onnx");
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
    OnnxModel model = read_onnx(file, std::uint64_t{1} << 30);
    for (OnnxInput& input : model.graph.inputs)
      std::ranges::replace(input.type.shape, kUnknown, std::int64_t{1});
    const CpuPlan plan = plan_for_cpu(import_onnx(model, kMemoryOfPlans));
    EXPECT_EQ(plan.waves.size(), waves) << name;
    int nodes = 0;
    for (const auto& wave : plan.waves) {
      for (const auto& work : wave) nodes += work->name().starts_with("alone") ? 1 : 0;
    }
    EXPECT_EQ(nodes, alone) << name;
  }
}

}  // namespace
}  // namespace sightline::nn
