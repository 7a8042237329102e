#include "recognition/training/channels.hpp"

namespace sightline::recognition {

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
  Channel even;
  even.normalisation = {2, 4, true};
  even.descriptor.circles = {{8, 4}};
  even.descriptor.margin = 5;
  even.descriptor.region = {10, 10};
  even.descriptor.step = {10, 10};
  return {even};
}

std::vector<Channel> light_channels() {
  Channel apart;
  apart.normalisation = {3, 4, true};
  apart.descriptor.circles = {{8, 3}};
  apart.descriptor.margin = 5;
  apart.descriptor.region = {8, 8};
  apart.descriptor.step = {8, 8};
  apart.is_folded = false;
  return {apart};
}

}  // namespace sightline::recognition
