// Verifying windows by small networks, on one thread: see filterbank_stages.cpp, whose program this is
// part of.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/random.hpp"
#include "characterisation/peak.hpp"
#include "detectors/filterbank/network/network.hpp"

namespace sightline::filterbank {

namespace {

int between(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<unsigned>(high - low + 1)));
}

Convolution random_convolution(int size, int stride, int inputs, int outputs, Random& random) {
  Convolution c{size, stride, inputs, outputs, {}, {}, {}};
  const int count = size * size * inputs;
  for (int i = 0; i < outputs * count; ++i)
    c.weights.push_back(static_cast<std::int8_t>(between(random, -kMaxNetworkWeight, kMaxNetworkWeight)));
  for (int i = 0; i < outputs; ++i) {
    c.bias.push_back(between(random, -1000, 1000));
    c.scale.push_back(1.0F / (16 * std::sqrt(static_cast<float>(count))));
  }
  return c;
}

// 64x128 pixels, three convolutions of stride 2 and one of stride 1.
Network random_network(int channels) {
  Random random(3);
  Network network{.window = {64, 128}, .convolutions = {}, .head = {}, .box = {}};
  network.convolutions.push_back(random_convolution(5, 2, 1, 16, random));
  network.convolutions.push_back(random_convolution(3, 2, 16, 32, random));
  network.convolutions.push_back(random_convolution(3, 2, 32, channels, random));
  network.convolutions.push_back(random_convolution(3, 1, channels, channels, random));
  for (int i = 0; i < 8 * 16 * channels; ++i)
    network.head.weights.push_back(
        static_cast<std::int8_t>(between(random, -kMaxNetworkWeight, kMaxNetworkWeight)));
  return network;
}

void BM_Network(benchmark::State& state) {
  const double dot_peak = characterisation::peak_dot_products();
  const double peak = dot_peak > 0 ? dot_peak : characterisation::peak_multiply_adds();
  const Network network = random_network(static_cast<int>(state.range(0)));
  if (!what_is_wrong(network).empty()) std::abort();
  const PackedNetwork packed(network);
  Image<std::uint8_t> picture(256, 192);
  Random random(4);
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x)
      picture.view().at(x, y) = static_cast<std::uint8_t>(90 + 60 * std::sin(x * 0.1) + 20 * random.unit());
  }
  AlignedBuffer<std::uint8_t> scratch(packed.scratch_bytes());
  int place = 0;
  for (auto _ : state) {
    const ImageView<const std::uint8_t> all = std::as_const(picture).view();
    const int x = place % 192;
    const int y = place % 64;
    place += 7;
    benchmark::DoNotOptimize(run_network(
        packed, {all.row(y) + x, network.window.width, network.window.height, all.stride()}, scratch.data()));
  }
  state.counters["GMAC/s"] =
      benchmark::Counter(network.multiply_adds() * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak_share"] =
      benchmark::Counter(network.multiply_adds() / peak, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["windows/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Network)->ArgName("channels")->Arg(32)->Arg(64)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace sightline::filterbank
