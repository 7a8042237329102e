#pragma once
/// Models that describe faces, for tests.

#include "faces/recognition/model.hpp"
#include "kernels/kernel_test.hpp"

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

/// The same for hard light: both sides of a face by themselves, and the eyes further apart.
inline recognition::FaceModel light_model() {
  recognition::FaceModel model = plain_model();
  model.name = "light";
  model.geometry = {65, 42};
  model.channels[0].normalisation = {3, 4, true};
  model.channels[0].is_folded = false;
  const recognition::FaceDescriptor descriptor(model.channels);
  model.region_weights.assign(static_cast<std::size_t>(descriptor.regions()), 1);
  return model;
}

/// A projection of random numbers, all that a file may have.
inline recognition::Projection made_up_projection(int dims, int values, Numbers& numbers) {
  recognition::Projection projection;
  projection.dims = dims;
  projection.values = values;
  for (int i = 0; i < dims * values; ++i)
    projection.weights.push_back(static_cast<std::int8_t>(numbers(-128, 127)));
  for (int d = 0; d < dims; ++d) {
    projection.bias.push_back(numbers(-200000, 200000));
    projection.scale.push_back(static_cast<std::uint16_t>(numbers(0, 65535)));
  }
  return projection;
}

/// Histograms through such a projection.
inline recognition::FaceModel random_learned_model(unsigned seed, int dims = 64) {
  recognition::FaceModel model = plain_model();
  model.name = "learned";
  model.region_weights.clear();
  Numbers numbers(seed);
  model.projection = made_up_projection(dims, recognition::FaceDescriptor(model.channels).values(), numbers);
  return model;
}

}  // namespace sightline::test
