#pragma once
/// Compares plans of networks with the reference, to the bit.

#include "network/onnx_builder.hpp"
#include "onnx_import/fill.hpp"

namespace sightline::test {

/// Expects that a network's plan for the CPU gives the reference's outputs, with one thread and with several.
/// Fills follow each other in one memory, so that whatever reads another frame's values shows.
/// @param on_device  whether its partitions run on an OpenCL device, too, if there is one
void expect_plan_equals_reference(const OnnxBuilder& network, const std::vector<Fill>& fills = kAllFills,
                                  bool on_device = false);

}  // namespace sightline::test
