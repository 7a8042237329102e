#include "support/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace sightline::test {

filterbank::Convolution random_convolution(int size, int stride, int inputs, int outputs,
                                           std::mt19937_64& engine) {
  filterbank::Convolution convolution{.size = size,
                                      .stride = stride,
                                      .inputs = inputs,
                                      .outputs = outputs,
                                      .weights = {},
                                      .bias = {},
                                      .scale = {}};
  convolution.weights.resize(static_cast<std::size_t>(outputs) * size * size * inputs);
  for (std::int8_t& w : convolution.weights) w = static_cast<std::int8_t>(random_int(engine, -64, 64));
  for (int i = 0; i < outputs; ++i) {
    convolution.bias.push_back(random_int(engine, -100'000, 100'000));
    convolution.scale.push_back(1.0f / static_cast<float>(random_int(engine, 100, 1000)));
  }
  return convolution;
}

filterbank::Network random_network(Size window, unsigned seed) {
  std::mt19937_64 engine(seed);
  filterbank::Network network;
  network.window = window;
  network.convolutions = {random_convolution(3, 2, 1, 16, engine), random_convolution(1, 1, 16, 32, engine),
                          random_convolution(5, 2, 32, 16, engine)};
  const Size size = network.output_size();
  network.head.weights.resize(static_cast<std::size_t>(size.width) * size.height * 16);
  for (std::int8_t& w : network.head.weights) w = static_cast<std::int8_t>(random_int(engine, -64, 64));
  network.head.bias = -54321;
  network.head.scale = 1.0 / 3000;
  network.first_stage_threshold = -1.1;
  network.weight = 0.3;
  network.limit = 7.7;
  network.provenance = R"({"network":"made up"})";
  return network;
}

void add_boxes(filterbank::Network& network, double largest, unsigned seed) {
  std::mt19937_64 engine(seed);
  for (std::size_t head = 0; head < filterbank::kBoxHeads; ++head) {
    filterbank::NetworkHead box;
    box.weights.resize(network.head.weights.size());
    for (std::int8_t& w : box.weights) w = static_cast<std::int8_t>(random_int(engine, -64, 64));
    // Assumes outputs of about 100; the deviation of a sum of products is the root of their number.
    box.bias = random_int(engine, -1000, 1000);
    box.scale = largest / (64 * 100 * std::sqrt(static_cast<double>(box.weights.size())));
    network.box.push_back(std::move(box));
  }
}

void centre_logit(filterbank::Network& network, GrayView picture) {
  std::vector<std::int32_t> sums;
  for (int y = 0; y + network.window.height <= picture.height(); y += 8) {
    for (int x = 0; x + network.window.width <= picture.width(); x += 8) {
      sums.push_back(filterbank::reference::run_network(network, {picture.row(y) + x, network.window.width,
                                                                  network.window.height, picture.stride()})
                         .logit);
    }
  }
  std::sort(sums.begin(), sums.end());
  const std::int32_t median = sums.at(sums.size() / 2);
  double deviation = 1;
  for (const std::int32_t sum : sums) deviation += std::abs(static_cast<double>(sum) - median);
  network.head.bias = -median;
  network.head.scale = static_cast<double>(sums.size()) / deviation;
}

}  // namespace sightline::test
