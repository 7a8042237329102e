#include "faces/recognition/normalisation.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace sightline::recognition {
namespace {

constexpr std::uint8_t kNone[] = {0};
constexpr std::uint8_t kOne[] = {102, 62, 14, 1};
constexpr std::uint8_t kTwo[] = {50, 45, 31, 17, 7, 2, 1};
constexpr std::uint8_t kThree[] = {34, 32, 27, 21, 14, 9, 5, 2, 1};
constexpr std::uint8_t kFour[] = {26, 25, 22, 19, 16, 12, 8, 6, 3, 2, 1, 1};

constexpr int whole(std::span<const std::uint8_t> weights) {
  int sum = -weights[0];
  for (const int weight : weights) sum += 2 * weight;
  return sum;
}
static_assert(whole(kOne) == 256 && whole(kTwo) == 256 && whole(kThree) == 256 && whole(kFour) == 256);

// 2^16 a level.
std::vector<std::int64_t> blurred(GrayView crop, int deviation) {
  const std::span<const std::uint8_t> weights = blur_weights(deviation);
  const int reach = static_cast<int>(weights.size()) - 1;
  std::vector<std::int64_t> result;
  for (int y = 0; y < crop.height(); ++y) {
    for (int x = 0; x < crop.width(); ++x) {
      if (deviation == 0) {
        result.push_back(std::int64_t{crop.at(x, y)} << 16);
        continue;
      }
      std::int64_t sum = 0;
      for (int j = -reach; j <= reach; ++j) {
        for (int i = -reach; i <= reach; ++i) {
          sum += std::int64_t{weights[static_cast<std::size_t>(std::abs(i))]} *
                 weights[static_cast<std::size_t>(std::abs(j))] *
                 crop.at(std::clamp(x + i, 0, crop.width() - 1), std::clamp(y + j, 0, crop.height() - 1));
        }
      }
      result.push_back(sum);
    }
  }
  return result;
}

}  // namespace

void check(const Normalisation& normalisation) {
  for (const int deviation : {normalisation.inner, normalisation.outer}) {
    if (deviation != 0 && deviation != 1 && deviation != 2 && deviation != 3 && deviation != 4)
      throw Error(ExitCode::usage, "there is no blur of " + std::to_string(deviation) + " pixels for faces",
                  "use 0 (none), 1, 2, 3 or 4");
  }
  if (normalisation.is_relative && normalisation.outer == 0)
    throw Error(ExitCode::usage, "no difference of blurs that could be relative to the outer one");
}

std::span<const std::uint8_t> blur_weights(int deviation) {
  switch (deviation) {
    case 1:
      return kOne;
    case 2:
      return kTwo;
    case 3:
      return kThree;
    case 4:
      return kFour;
    default:
      return kNone;
  }
}

namespace reference {

void normalise(GrayView crop, const Normalisation& normalisation, ImageView<std::uint8_t> result) {
  const std::vector<std::int64_t> inner = blurred(crop, normalisation.inner);
  const auto width = static_cast<std::size_t>(crop.width());
  const auto write = [&](const auto& level) {
    for (std::size_t i = 0; i < inner.size(); ++i) {
      result.at(static_cast<int>(i % width), static_cast<int>(i / width)) =
          static_cast<std::uint8_t>(std::clamp<std::int64_t>(level(i), 0, 255));
    }
  };
  if (normalisation.outer == 0) {
    write([&](std::size_t i) { return (inner[i] + (1 << 15)) >> 16; });
    return;
  }
  std::vector<std::int64_t> differences = blurred(crop, normalisation.outer);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const std::int64_t away = differences[i];
    differences[i] = (inner[i] - away + 128) >> 8;
    if (normalisation.is_relative) {
      differences[i] = std::clamp<std::int64_t>(
          (differences[i] * (1 << kRelativeBits)) / ((away >> 8) + kDarkness), -kMostRelative, kMostRelative);
    }
    sum += std::abs(differences[i]);
  }
  const std::int64_t mean = std::max<std::int64_t>(sum / static_cast<std::int64_t>(inner.size()), kLeastMean);
  const std::int64_t gain = (kMeanDifference << 16) / mean;
  write([&](std::size_t i) {
    const std::int64_t most = kLargestDifference * mean;
    return 128 + ((std::clamp(differences[i], -most, most) * gain + (1 << 15)) >> 16);
  });
}

}  // namespace reference

}  // namespace sightline::recognition
