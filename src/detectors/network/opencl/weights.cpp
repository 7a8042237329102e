#include "detectors/network/opencl/weights.hpp"

#include "opencl/data.hpp"

namespace sightline::network {
namespace {

void append(std::vector<float>& floats, const std::vector<float>& values) {
  floats.insert(floats.end(), values.begin(), values.end());
}

// Inputs up to a multiple of 4 have weights of -0: adding 0 * -0 changes no sum.
void append_by_column(std::vector<float>& floats, const ConvolutionStep& step) {
  const int inputs = static_cast<int>(step.in.map().channels.size());
  for (int t = 0; t < taps_of(step); ++t) {
    for (int c = 0; c < aligned_to(inputs, 4); ++c) {
      for (int o = 0; o < step.out.blocks() * kBlockChannels; ++o)
        floats.push_back(c < inputs ? step.weight(o, t, c) : -0.0F);
    }
  }
}

void place(Weights& weights, const Step& step) {
  const auto end = [&] { return static_cast<cl_int>(weights.floats.size()); };
  Weights::Place placed{end(), 0, 0};
  if (const auto* const convolution = dynamic_cast<const ConvolutionStep*>(&step)) {
    if (dynamic_cast<const DepthwiseStep*>(&step)) {
      append(weights.floats, convolution->weights);
    } else {
      append_by_column(weights.floats, *convolution);
    }
    placed.bias = end();
    append(weights.floats, convolution->bias);
  } else if (const auto* const binary = dynamic_cast<const BinaryStep*>(&step)) {
    append(weights.floats, binary->constant);
  }
  placed.last = end();
  weights.places[&step] = placed;
}

}  // namespace

Weights weights_of(const Plan& plan) {
  Weights weights;
  for (const PlanSegment& segment : plan.segments) {
    if (!segment.suits_devices) continue;
    for (std::size_t level = segment.first_level; level < segment.last_level; ++level) {
      for (const Chain& chain : plan.levels[level].chains) {
        for (const ChainStep& one : chain.steps) place(weights, *one.step);
      }
    }
  }
  opencl::checked(static_cast<std::int64_t>(weights.floats.size()));
  return weights;
}

}  // namespace sightline::network
