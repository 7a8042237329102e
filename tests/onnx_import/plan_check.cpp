#include "onnx_import/plan_check.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include "network/plan/cpu_runner.hpp"
#include "network/reference.hpp"
#include "primitives/device_test.hpp"

namespace sightline::test {
namespace {

std::vector<nn::Tensor> filled_inputs(const nn::Graph& graph, Fill fill) {
  std::vector<nn::Tensor> inputs;
  for (const int input : graph.inputs()) {
    nn::Tensor& one = inputs.emplace_back(graph.type(input));
    const bool is_real = one.data() == nn::DataType::f32;
    nn::with_type(one.data(), [&]<typename T>() {
      for (std::int64_t i = 0; i < one.size(); ++i) {
        const float value = is_real ? value_of(fill, i) : value_of(Fill::ordinary, i) * 3 + 9;
        one.as<T>()[static_cast<std::size_t>(i)] = static_cast<T>(value);
      }
    });
  }
  return inputs;
}

void expect_same(const std::vector<nn::Tensor>& got, const std::vector<nn::Tensor>& wanted,
                 const nn::Graph& graph, const std::string& where) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(nn::same(got[i], wanted[i])) << "output " << i << " " << where << "\n" << text_of(graph);
}

}  // namespace

void expect_plan_equals_reference(const OnnxBuilder& network, const std::vector<Fill>& fills,
                                  bool on_device) {
  const nn::Graph graph = network.imported();
  const nn::CpuPlan plan = nn::plan_for_cpu(graph);
  nn::CpuRunner one_thread(plan), three_threads(plan);
  const opencl::Context* const device = on_device ? nn::exact_device() : nullptr;
  std::optional<nn::PartitionRunner> partitions;
  if (device) partitions.emplace(graph, *device, nullptr, nn::shape_for(device->device(), 1));
  oneapi::tbb::task_arena one(1), three(3);
  for (const Fill fill : fills) {
    const std::string where = "with fill " + std::to_string(static_cast<int>(fill));
    const std::vector<nn::Tensor> inputs = filled_inputs(graph, fill);
    std::vector<const nn::Tensor*> pointers;
    for (const nn::Tensor& input : inputs) pointers.push_back(&input);
    const std::vector<nn::Tensor> wanted = nn::run_reference(graph, pointers);
    one.execute([&] { expect_same(one_thread.run(pointers), wanted, plan.graph, where); });
    three.execute(
        [&] { expect_same(three_threads.run(pointers), wanted, plan.graph, where + ", 3 threads"); });
    if (partitions)
      expect_same(partitions->run(pointers), wanted, partitions->partitions().graph, where + ", on a device");
  }
}

}  // namespace sightline::test
