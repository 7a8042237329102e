#include "faces/recognition/training/channels.hpp"

namespace sightline::recognition {
namespace {

// Eight points at a distance, in squares side by side.
Channel in_squares(const Normalisation& normalisation, double radius, int side) {
  Channel channel;
  channel.normalisation = normalisation;
  channel.descriptor.circles = {{8, radius}};
  channel.descriptor.margin = 5;
  channel.descriptor.region = {side, side};
  channel.descriptor.step = {side, side};
  return channel;
}

}  // namespace

std::vector<Channel> learned_channels() {
  Channel sharp, even;
  sharp.normalisation = {1, 0};
  sharp.descriptor.region = {18, 20};
  sharp.descriptor.step = {9, 9};
  even.normalisation = {2, 4};
  even.descriptor.circles = {{8, 3}};
  even.descriptor.margin = 3;
  even.descriptor.region = {16, 18};
  even.descriptor.step = {9, 9};
  return {sharp, even};
}

std::vector<Channel> plain_channels() {
  return {in_squares({2, 4, true}, 4, 10)};
}

std::vector<Channel> light_channels() {
  Channel apart = in_squares({3, 4, true}, 3, 8);
  apart.is_folded = false;
  return {apart};
}

}  // namespace sightline::recognition
