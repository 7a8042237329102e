#include "image/lbp_operator.hpp"

#include <charconv>

#include "base/error.hpp"
#include "image/lbp.hpp"

namespace sightline {

namespace {

// Sums over the neighbours that are at least as bright as the pixel, and over the darker ones, in units of
// 1/kLbpSampleOne.
struct Sums {
  int pixel = 0;
  int brighter = 0;  // neighbours at least as bright
  int brighter_sum = 0;
  int darker = 0;
  int darker_sum = 0;

  void add(int neighbour) {
    if (neighbour >= pixel) {
      ++brighter;
      brighter_sum += neighbour;
    } else {
      ++darker;
      darker_sum += neighbour;
    }
  }
  // The largest numerator, of 24 points: 16 * 12 * 12 * 255 * 128 and as much again for rounding.
  int contrast() const {
    if (brighter == 0 || darker == 0) return 0;
    const int divisor = kLbpSampleOne * brighter * darker;
    const int difference = brighter_sum * darker - darker_sum * brighter;
    return (kContrastOne * difference + divisor / 2) / divisor;
  }
};

int sample_of(const LbpSample& s, GrayView image, int x, int y) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (s.weights[i] > 0) sum += s.weights[i] * image.at(x + s.x + i % 2, y + s.y + i / 2);
  }
  return sum;
}

}  // namespace

LbpOperator LbpOperator::parse(std::string_view text) {
  if (text == "grid") return {};
  const char* const end = text.data() + text.size();
  int points = 0;
  double radius = 0;
  const auto after_points = std::from_chars(text.data(), end, points);
  if (after_points.ec == std::errc() && after_points.ptr != end && *after_points.ptr == ',') {
    const auto after_radius = std::from_chars(after_points.ptr + 1, end, radius);
    if (after_radius.ec == std::errc() && after_radius.ptr == end) return {points, radius};
  }
  throw Error(ExitCode::usage, "'" + std::string(text) + "' is no operator",
              "give 'grid', or points and radius of a circle as in '8,1' or '16,2.5'");
}

std::string LbpOperator::name() const {
  if (is_grid()) return "grid";
  char radius[32];
  const auto end = std::to_chars(std::begin(radius), std::end(radius), radius_).ptr;
  return std::to_string(points()) + ',' + std::string(radius, end);
}

std::uint32_t LbpOperator::code(GrayView image, int x, int y) const {
  return circle_ ? circle_->code(image, x, y) : lbp_code(image, x, y);
}

int LbpOperator::contrast(GrayView image, int x, int y) const {
  Sums sums{.pixel = kLbpSampleOne * image.at(x, y)};
  if (circle_) {
    for (const LbpSample& sample : circle_->samples()) sums.add(sample_of(sample, image, x, y));
  } else {
    for (const auto& [dx, dy] : kLbpNeighbours) sums.add(kLbpSampleOne * image.at(x + dx, y + dy));
  }
  return sums.contrast();
}

}  // namespace sightline
