// Imported networks on OpenCL devices: they equal the reference to the bit, and equal groups share kernels.
#include "network/opencl/device_plan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "network/opencl/partition_runner.hpp"
#include "network/random_chain.hpp"
#include "network/random_network.hpp"
#include "network/reference.hpp"
#include "onnx/file.hpp"
#include "onnx/import.hpp"
#include "onnx_import/random_operator.hpp"
#include "primitives/made_tensors.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kMemoryOfNetwork = std::int64_t{1} << 30;

class DevicePlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const opencl::DeviceInfo& one : opencl::list_devices()) {
      if (one.correctly_rounded_divide_sqrt && one.fused_multiply_add) device_ = one;
    }
    if (!device_) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
    context_ = std::make_unique<opencl::Context>(opencl::ChosenDevice{*device_, 0, "test"});
  }

  // What is wrong with a network's partitions; nothing where the reference fails with such inputs.
  std::string wrong_on_device(const test::OnnxBuilder& builder, std::uint32_t seed, int groups) {
    const std::string bytes = builder.bytes();
    const Graph graph = import_onnx(parse_onnx(bytes, "test.onnx"), kMemoryOfNetwork);
    std::vector<Tensor> inputs;
    for (const int input : graph.inputs())
      inputs.push_back(with_type(graph.type(input).data,
                                 [&]<typename T>() { return made<T>(graph.shape(input), seed); }));
    std::vector<const Tensor*> pointers;
    for (const Tensor& one : inputs) pointers.push_back(&one);
    std::vector<Tensor> wanted;
    try {
      wanted = run_reference(graph, pointers);
    } catch (const Error&) {
      return "";
    }
    DeviceShape shape = shape_for(*device_, 1);
    shape.groups = groups;
    PartitionRunner runner(graph, *context_, nullptr, shape);
    for (const Partition& part : runner.partitions().parts) device_parts_ += part.on_device ? 1 : 0;
    for (int frame = 0; frame < 2; ++frame) {
      const std::vector<Tensor> got = runner.run(pointers);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto result = same(got[i], wanted[i]);
        if (!result)
          return "output " + std::to_string(i) + " " + result.message() + "\n" +
                 text_of(runner.partitions().graph);
      }
    }
    return "";
  }

  std::optional<opencl::DeviceInfo> device_;
  std::unique_ptr<opencl::Context> context_;
  int device_parts_ = 0;
};

TEST_F(DevicePlanTest, ChainsEqualTheReference) {
  
  const char* const last = std::getenv("LAST");
  for (std::uint32_t seed = first ? std::atoi(first) : 0; seed < (last ? std::atoi(last) : 16U); ++seed)
    EXPECT_EQ(wrong_on_device(test::random_chain(seed), seed, seed % 2 == 0 ? 2 : 40), "") << "chain " << seed;
  EXPECT_GT(device_parts_, 8);
}

}  // namespace
}  // namespace sightline::nn
