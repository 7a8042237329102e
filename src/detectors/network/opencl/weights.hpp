#pragma once
/// Weights of a plan's steps on a device: one list, whatever the tiles and the number of frames.

#include <map>
#include <vector>

#include "detectors/network/plan_steps.hpp"
#include "opencl/api.hpp"

namespace sightline::network {

inline constexpr int kBlockChannels = static_cast<int>(kBlock);

inline int aligned_to(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Taps of a convolution's kernel.
inline int taps_of(const ConvolutionStep& step) {
  return static_cast<int>(step.window.kernel[0] * step.window.kernel[1]);
}

struct Weights {
  struct Place {
    cl_int first = 0, bias = 0, last = 0;  ///< the last one past
  };
  std::vector<float> floats;
  std::map<const Step*, Place> places;  ///< of the steps that suit devices
};

/// Lays out the weights in the order of the plan. Dense convolutions have theirs by column (tap and input, up
/// to a multiple of 4 inputs) and output. Throws Error (failed) where the kernels' indices do not reach them.
Weights weights_of(const Plan& plan);

}  // namespace sightline::network
