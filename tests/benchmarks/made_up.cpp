#include "made_up.hpp"

#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace sightline::benchmarks {

using filterbank::FloatFilter;
using filterbank::kTaps;

filterbank::Dictionary made_up_dictionary(int count) {
  Random random(1);
  std::vector<FloatFilter> filters(static_cast<std::size_t>(count));
  for (FloatFilter& filter : filters) {
    float mean = 0;
    for (float& c : filter) mean += c = static_cast<float>(random.unit() + random.unit() - random.unit());
    float energy = 0;
    for (float& c : filter) {
      c -= mean / kTaps;
      energy += c * c;
    }
    for (float& c : filter) c /= std::sqrt(energy);
  }
  return {filterbank::quantise(filters), filters};
}

PaddedImage made_up_frame(Size size) {
  PaddedImage image;
  image.resize(size);
  Random random(2);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const double wave = 60 * std::sin(x * 0.1 + y * 0.07) + ((x / 40 + y / 60) % 2) * 40;
      image.view().at(x, y) = static_cast<std::uint8_t>(90 + wave + 20 * random.unit());
    }
  }
  image.fill_border(0, size.height);
  return image;
}

}  // namespace sightline::benchmarks
