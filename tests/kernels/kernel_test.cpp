#include "kernels/kernel_test.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/hardware.hpp"

namespace sightline::test {

std::vector<std::string> instruction_sets() {
  std::vector<std::string> supported;
  for (const char* name : {"ssse3", "sse4", "avx2", "avx512", "avx512-vnni", "neon"}) {
    try {
      limit_instruction_set(name);
      supported.emplace_back(name);
    } catch (const Error&) {  // this processor lacks it
    }
  }
  limit_instruction_set("best");
  if (supported.empty()) supported.emplace_back("best");
  return supported;
}

void KernelTest::SetUp() {
  limit_instruction_set(GetParam());
}
void KernelTest::TearDown() {
  limit_instruction_set("best");
}

std::string target_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

filterbank::Dictionary random_dictionary(int count, unsigned seed) {
  Numbers numbers(seed);
  std::vector<filterbank::FloatFilter> filters(count);
  for (filterbank::FloatFilter& filter : filters) {
    float mean = 0;
    for (float& c : filter) mean += c = static_cast<float>(numbers.real());
    mean /= filterbank::kTaps;
    float energy = 0;
    for (float& c : filter) {
      c -= mean;
      energy += c * c;
    }
    for (float& c : filter) c /= std::sqrt(energy);
  }
  return {filterbank::quantise(filters), filters};
}

filterbank::Dictionary dictionary_of(const std::vector<filterbank::Filter>& filters) {
  std::vector<filterbank::FloatFilter> reference(filters.size());
  for (std::size_t k = 0; k < filters.size(); ++k) {
    float energy = 0;
    for (const int c : filters[k]) energy += static_cast<float>(c * c);
    for (int i = 0; i < filterbank::kTaps; ++i) {
      reference[k][i] = static_cast<float>(filters[k][i]) / std::sqrt(std::max(energy, 1.0F));
    }
  }
  return {filters, reference};
}

std::uint8_t pixel_of(Pattern pattern, int x, int y, Numbers& numbers) {
  switch (pattern) {
    case Pattern::noise:
      return static_cast<std::uint8_t>(numbers(0, 255));
    case Pattern::black:
      return 0;
    case Pattern::white:
      return 255;
    case Pattern::checkerboard:
      return (x + y) % 2 == 0 ? 255 : 0;
    case Pattern::stripes:
      return x % 2 == 0 ? 255 : 0;
    case Pattern::flat_areas:
      return static_cast<std::uint8_t>((x / 6 * 37 + y / 5 * 91) % 256);
    case Pattern::ramp:
      return static_cast<std::uint8_t>((3 * x + 7 * y) % 256);
  }
  return 0;
}

PaddedImage padded_image(Size size, Pattern pattern, unsigned seed) {
  Numbers numbers(seed);
  PaddedImage image;
  image.resize(size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) image.view().at(x, y) = pixel_of(pattern, x, y, numbers);
  }
  image.fill_border(0, size.height);
  return image;
}

}  // namespace sightline::test
