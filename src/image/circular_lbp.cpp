#include "image/circular_lbp.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "base/error.hpp"
#include "image/lbp.hpp"

namespace sightline {
namespace {

constexpr int kOffsetOne = 256;
constexpr int kMostTablePoints = 16;

constexpr bool agrees_with_the_square() {
  for (unsigned code = 0; code < kLbpCodes; ++code) {
    if (uniform_lbp_bin(code, 8) != kUniformLbp[code]) return false;
  }
  return true;
}
static_assert(agrees_with_the_square(), "bins of 8 points are those of lbp.hpp");

// Weights of pixels (0, 0), (1, 0), (0, 1) and (1, 1) for a point at x, y / 256, 0 <= x, y < 256: each
// rounded to nearest, and what that leaves added to the heaviest.
std::array<std::uint8_t, 4> weights_of(int x, int y) {
  const int products[] = {(kOffsetOne - x) * (kOffsetOne - y), x * (kOffsetOne - y), (kOffsetOne - x) * y,
                          x * y};
  constexpr int kUnit = kOffsetOne * kOffsetOne / kLbpSampleOne;
  std::array<int, 4> rounded{};
  for (int i = 0; i < 4; ++i) rounded[i] = (products[i] + kUnit / 2) / kUnit;
  const int left = kLbpSampleOne - std::accumulate(rounded.begin(), rounded.end(), 0);
  rounded[std::ranges::max_element(products) - products] += left;
  std::array<std::uint8_t, 4> weights{};
  std::ranges::copy(rounded, weights.begin());
  return weights;
}

// The point at a distance to the right of and below the middle (either may be negative), in 1/256 pixel. Made
// in one quadrant and mirrored.
LbpSample sample_at(int right, int down) {
  const int x = std::abs(right), y = std::abs(down);
  std::array<std::uint8_t, 4> weights = weights_of(x % kOffsetOne, y % kOffsetOne);
  LbpSample sample{x / kOffsetOne, y / kOffsetOne, {}};
  // Mirrored, the further pixel is the left one (or the upper one); where it has no weight, it is left out.
  if (right < 0) {
    sample.x = -sample.x;
    if (weights[1] + weights[3] > 0) {
      --sample.x;
      std::swap(weights[0], weights[1]);
      std::swap(weights[2], weights[3]);
    }
  }
  if (down < 0) {
    sample.y = -sample.y;
    if (weights[2] + weights[3] > 0) {
      --sample.y;
      std::swap(weights[0], weights[2]);
      std::swap(weights[1], weights[3]);
    }
  }
  sample.weights = weights;
  // A sample that rounds to a neighbour of the pixel becomes that neighbour.
  for (int i = 1; i < 4; ++i) {
    if (sample.weights[i] == kLbpSampleOne)
      return {sample.x + i % 2, sample.y + i / 2, {kLbpSampleOne, 0, 0, 0}};
  }
  return sample;
}

std::uint32_t least_rotation(std::uint32_t code, int points) {
  std::uint32_t least = code;
  for (int i = 1; i < points; ++i) {
    code = (code >> 1) | ((code & 1U) << (points - 1));
    least = std::min(least, code);
  }
  return least;
}

}  // namespace

CircularLbp::CircularLbp(int points, double radius) {
  if (points != 8 && points != 16 && points != 24)
    throw Error(ExitCode::usage,
                "there are no local binary patterns of " + std::to_string(points) + " points",
                "there are those of 8, 16 and 24");
  if (!(radius >= 1 && radius <= kLargestLbpRadius))
    throw Error(ExitCode::usage, "a radius of local binary patterns is 1 to 32 pixels");
  reach_ = static_cast<int>(std::ceil(radius));
  // All samples derive from one quarter of the circle, so that rounding is the same in each.
  const int quarter = points / 4;
  const auto part = [&](int step) {
    return static_cast<int>(
        std::lround(radius * kOffsetOne * std::cos(2 * std::numbers::pi * step / points)));
  };
  for (int p = 0; p < points; ++p) {
    const int along = part(p % quarter), across = part(quarter - p % quarter);
    switch (p / quarter) {
      case 0:
        samples_.push_back(sample_at(along, -across));
        break;
      case 1:
        samples_.push_back(sample_at(-across, -along));
        break;
      case 2:
        samples_.push_back(sample_at(-along, across));
        break;
      default:
        samples_.push_back(sample_at(across, along));
        break;
    }
  }
}

std::uint32_t CircularLbp::code(GrayView image, int x, int y) const {
  const int middle = kLbpSampleOne * image.at(x, y);
  std::uint32_t code = 0;
  for (std::size_t p = 0; p < samples_.size(); ++p) {
    const LbpSample& s = samples_[p];
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
      if (s.weights[i] > 0) sum += s.weights[i] * image.at(x + s.x + i % 2, y + s.y + i / 2);
    }
    code |= std::uint32_t{sum >= middle} << p;
  }
  return code;
}

const char* to_string(LbpMapping mapping) {
  constexpr const char* kNames[] = {"plain", "u2", "ri", "riu2"};
  return kNames[static_cast<std::size_t>(mapping)];
}

std::optional<LbpMapping> parse_lbp_mapping(std::string_view text) {
  for (const LbpMapping mapping :
       {LbpMapping::plain, LbpMapping::uniform, LbpMapping::rotation, LbpMapping::rotation_uniform}) {
    if (text == to_string(mapping)) return mapping;
  }
  return std::nullopt;
}

LbpBins::LbpBins(int points, LbpMapping mapping) : points_(points), mapping_(mapping) {
  const bool is_uniform = mapping == LbpMapping::uniform || mapping == LbpMapping::rotation_uniform;
  if (!is_uniform && (points > kMostTablePoints || (points > 8 && mapping == LbpMapping::plain)))
    throw Error(ExitCode::usage,
                "local binary patterns of " + std::to_string(points) +
                    " points have too many codes for mapping '" + to_string(mapping) + "'",
                "take u2 or riu2");
  const std::uint32_t codes = points <= kMostTablePoints ? 1U << points : 0;
  table_.resize(codes);
  switch (mapping) {
    case LbpMapping::plain:
      count_ = static_cast<int>(codes);
      std::iota(table_.begin(), table_.end(), std::uint16_t{0});
      return;
    case LbpMapping::rotation: {
      std::map<std::uint32_t, std::uint16_t> bins;
      for (std::uint32_t code = 0; code < codes; ++code) {
        // The least of its rotations comes first of them.
        const auto next = static_cast<std::uint16_t>(bins.size());
        table_[code] = bins.try_emplace(least_rotation(code, points), next).first->second;
      }
      count_ = static_cast<int>(bins.size());
      return;
    }
    case LbpMapping::uniform:
      count_ = uniform_lbp_bins(points);
      break;
    case LbpMapping::rotation_uniform:
      count_ = points + 2;
      break;
  }
  std::vector<std::uint16_t> table(codes);
  for (std::uint32_t code = 0; code < codes; ++code) table[code] = static_cast<std::uint16_t>(bin(code));
  table_ = std::move(table);
}

int LbpBins::bin(std::uint32_t code) const {
  switch (mapping_) {
    case LbpMapping::plain:
    case LbpMapping::rotation:
      return table_[code];
    case LbpMapping::uniform:
      return uniform_lbp_bin(code, points_);
    case LbpMapping::rotation_uniform:
      break;
  }
  return is_uniform_lbp(code, points_) ? std::popcount(code) : points_ + 1;
}

}  // namespace sightline
