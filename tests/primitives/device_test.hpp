#pragma once
/// Tests of networks on OpenCL devices.

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "made_tensors.hpp"
#include "network/reference.hpp"
#include "primitives/partition_runner.hpp"

namespace sightline::nn {

/// A device whose results are exact; null where there is none.
inline const opencl::Context* exact_device() {
  static const std::unique_ptr<opencl::Context> context = []() -> std::unique_ptr<opencl::Context> {
    for (const opencl::DeviceInfo& one : opencl::list_devices()) {
      if (one.correctly_rounded_divide_sqrt && one.fused_multiply_add)
        return std::make_unique<opencl::Context>(opencl::ChosenDevice{one, 0, "test"});
    }
    return nullptr;
  }();  // PoCL is slow to open one
  return context.get();
}

/// A test on a device whose results are exact; skipped where there is none.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    context_ = exact_device();
    if (!context_) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  }

  DeviceShape shape() const { return shape_for(context_->device(), 1); }

  /// What is wrong with a graph's partitions, in two frames; "" if they equal the reference.
  std::string wrong_on_device(const Graph& graph, Inputs inputs, const DeviceShape& shape) {
    const std::vector<Tensor> wanted = run_reference(graph, inputs);
    PartitionRunner runner(graph, *context_, nullptr, shape);
    for (const Partition& part : runner.partitions().parts)
      (part.on_device ? device_parts_ : cpu_parts_) += 1;
    for (int frame = 0; frame < 2; ++frame) {
      const std::vector<Tensor> got = runner.run(inputs);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto result = same(got[i], wanted[i]);
        if (!result)
          return "output " + std::to_string(i) + " " + result.message() + "\n" +
                 text_of(runner.partitions().graph);
      }
    }
    return "";
  }

  int device_parts_ = 0, cpu_parts_ = 0;

 private:
  const opencl::Context* context_ = nullptr;
};

}  // namespace sightline::nn
