// Reference implementation in plain scalar code; the SIMD form is checked against it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "detectors/filterbank/network/network.hpp"

namespace sightline::filterbank::reference {
namespace {

struct Values {
  Size size;
  int channels = 0;
  std::vector<int> at;  ///< [y][x][channel]
  const int* pixel(int x, int y) const {
    return at.data() + (static_cast<std::ptrdiff_t>(y) * size.width + x) * channels;
  }
  bool contains(int x, int y) const { return x >= 0 && x < size.width && y >= 0 && y < size.height; }
};

Values normalise(GrayView window) {
  const std::int64_t n = static_cast<std::int64_t>(window.width()) * window.height();
  Values values{window.size(), 1, {}};
  for (int y = 0; y < window.height(); ++y)
    values.at.insert(values.at.end(), window.row(y), window.row(y) + window.width());
  std::int64_t sum = 0;
  for (const int p : values.at) sum += p;
  const int mean = static_cast<int>((sum + n / 2) / n);
  std::int64_t deviation = 0;
  for (const int p : values.at) deviation += std::abs(p - mean);
  const int gain = static_cast<int>(32 * 1024 * n / std::max(deviation, 4 * n));
  for (int& p : values.at) p = std::clamp(((p - mean) * gain + 512) >> 10, -127, 127);
  return values;
}

Values convolve(const Convolution& c, const Values& input) {
  const Size size = c.output_size(input.size);
  Values output{size, c.outputs, {}};
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const std::int8_t* weight = c.weights.data();
      for (int o = 0; o < c.outputs; ++o) {
        std::int32_t sum = c.bias[o];
        for (int ky = 0; ky < c.size; ++ky) {
          for (int kx = 0; kx < c.size; ++kx, weight += c.inputs) {
            const int from_x = x * c.stride + kx - c.size / 2;
            const int from_y = y * c.stride + ky - c.size / 2;
            if (!input.contains(from_x, from_y)) continue;
            const int* value = input.pixel(from_x, from_y);
            for (int i = 0; i < c.inputs; ++i) sum += weight[i] * value[i];
          }
        }
        const float rounded = std::nearbyint(static_cast<float>(sum) * c.scale[o]);
        output.at.push_back(static_cast<int>(std::clamp(rounded, 0.0F, 255.0F)));
      }
    }
  }
  return output;
}

}  // namespace

NetworkSums run_network(const Network& network, GrayView window) {
  Values values = normalise(window);
  for (const Convolution& c : network.convolutions) values = convolve(c, values);
  const auto sum_of = [&](const NetworkHead& head) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < head.weights.size(); ++i) sum += head.weights[i] * values.at[i];
    return sum;
  };
  NetworkSums sums{sum_of(network.head), {}};
  for (std::size_t i = 0; i < network.box.size(); ++i) sums.box[i] = sum_of(network.box[i]);
  return sums;
}

}  // namespace sightline::filterbank::reference
