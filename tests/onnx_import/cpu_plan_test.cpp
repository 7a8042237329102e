// Plans of imported networks on the CPU: they equal the reference to the bit, with any number of threads.
#include "network/plan/cpu_plan.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include "base/error.hpp"
#include "network/plan/cpu_runner.hpp"
#include "network/random_chain.hpp"
#include "network/random_network.hpp"
#include "network/reference.hpp"
#include "onnx/file.hpp"
#include "onnx/import.hpp"
#include "onnx_import/random_operator.hpp"
#include "primitives/made_tensors.hpp"

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

TEST(CpuPlan, EqualsTheReferenceByNodesThatRunAlone) {
  expect_equal({true}, 60, 4, 1);
}

TEST(CpuPlan, EqualsTheReferenceByTiles) {
  expect_equal({}, 200, 20, 3);
}

}  // namespace
}  // namespace sightline::nn
