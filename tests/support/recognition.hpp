#pragma once
/// Models that describe faces, for tests.

#include "kernels/kernel_test.hpp"
#include "recognition/model.hpp"

namespace sightline::test {

/// Histograms as they are: one channel, 12 x 14 regions.
inline recognition::FaceModel plain_model() {
  recognition::FaceModel model;
  model.name = "plain";
  recognition::Channel channel;
  channel.normalisation = {2, 4};
  channel.descriptor.margin = 5;
  channel.descriptor.region = channel.descriptor.step = {10, 10};
  model.channels = {channel};
  const recognition::FaceDescriptor descriptor(model.channels);
  model.region_weights.assign(static_cast<std::size_t>(descriptor.regions()), 1);
  return model;
}

/// A projection of random weights.
inline recognition::FaceModel random_learned_model(unsigned seed, int dims = 64) {
  recognition::FaceModel model = plain_model();
  model.name = "learned";
  model.region_weights.clear();
  Numbers numbers(seed);
  recognition::Projection projection;
  projection.dims = dims;
  projection.values = recognition::FaceDescriptor(model.channels).values();
  for (int i = 0; i < dims * projection.values; ++i)
    projection.weights.push_back(static_cast<std::int8_t>(numbers(-30, 30)));
  for (int i = 0; i < dims; ++i) {
    projection.bias.push_back(numbers(-1000, 1000));
    projection.scale.push_back(static_cast<std::uint16_t>(numbers(1000, 60'000)));
  }
  model.projection = std::move(projection);
  return model;
}

}  // namespace sightline::test
