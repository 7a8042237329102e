#pragma once
/// Compares plans with the interpreter to the bit, on the CPU and on an OpenCL device.

#include <cstdint>
#include <vector>

#include "network/fill.hpp"
#include "network/onnx_builder.hpp"

namespace sightline::test {

inline constexpr std::int64_t kPlanMemory = std::int64_t{1} << 28;

/// How plans run on a device beside the CPU, if there is one: by the kernel that reads tables, and by kernels
/// for each level, which CPU devices take long to build.
enum class OnDevice { no, by_tables, by_level };

/// Whether the device is a GPU, whose users get kernels for each level.
bool is_gpu_there();

/// Expects that a network has a plan with the interpreter's outputs, with one thread and with several. Fills
/// follow each other in one memory, so that whatever reads another frame's values shows. Skips the test on
/// processors without fused multiply-adds.
void expect_plan_equals_interpreter(const OnnxBuilder& network, OnDevice on_device,
                                    const std::vector<Fill>& fills = kAllFills);

}  // namespace sightline::test
