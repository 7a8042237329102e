#include "faces/recognition/crop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "faces/recognition/sampling.hpp"

namespace sightline::recognition {
namespace {

constexpr int kPointBits = 8;  // fraction bits of a point's coordinates

std::int64_t fixed(double value, double shift = 0) {
  return std::llround((value - shift) * (1 << kPointBits));
}

std::int64_t in_frame(double value) {
  if (!(std::abs(value) <= kFarthest))
    throw Error(ExitCode::failed, "a face is too far out in its frame to be recognised",
                "frames can have up to " + std::to_string(kFarthest) + " pixels a side");
  return fixed(value);
}

// Rounded to nearest, halves up.
std::int64_t quotient(std::int64_t dividend, std::int64_t divisor) {
  const std::int64_t twice = 2 * dividend + divisor;
  const std::int64_t result = twice / (2 * divisor);
  return twice < 0 && twice % (2 * divisor) != 0 ? result - 1 : result;
}

}  // namespace

std::array<Point, 5> crop_points(const CropGeometry& geometry) {
  const CropGeometry usual;
  std::array<Point, 5> points = kCropPoints;
  for (Point& point : points) {
    const double middle = kCropSize.width / 2.0;
    point.x = middle + (point.x - middle) * geometry.eye_distance / usual.eye_distance;
    point.y = geometry.eye_row + (point.y - usual.eye_row) * geometry.eye_distance / usual.eye_distance;
  }
  return points;
}

Similarity similarity_of(std::span<const Point> found, const std::array<Point, 5>& points) {
  const auto n = static_cast<std::int64_t>(found.size());
  std::int64_t found_x = 0, found_y = 0, target_x = 0, target_y = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    found_x += in_frame(found[i].x);
    found_y += in_frame(found[i].y);
    // From here on, integers are the middles of crop pixels.
    target_x += fixed(points[i].x, 0.5);
    target_y += fixed(points[i].y, 0.5);
  }
  // Sums over points from their middle, n times as far.
  std::int64_t along = 0, across = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::int64_t x = n * in_frame(found[i].x) - found_x, y = n * in_frame(found[i].y) - found_y;
    const std::int64_t u = n * fixed(points[i].x, 0.5) - target_x, v = n * fixed(points[i].y, 0.5) - target_y;
    along += u * x + v * y;
    across += u * y - v * x;
    norm += u * u + v * v;
  }
  const auto steps = [&](int octave) {
    return std::pair(quotient(along << kStepBits >> octave, norm),
                     quotient(across << kStepBits >> octave, norm));
  };
  Similarity result;
  const auto [whole_x, whole_y] = steps(0);
  const std::int64_t square = whole_x * whole_x + whole_y * whole_y;
  while (result.octave < kMostOctave && square >> 2 * (kStepBits + result.octave + 1) > 0) ++result.octave;
  const auto [step_x, step_y] = steps(result.octave);
  // The middle of the points goes to the middle of the points, in units of 2^-24 / n.
  const auto origin = [&](std::int64_t found_sum, std::int64_t offset) {
    const std::int64_t place = (found_sum << (kStepBits - result.octave)) - offset;
    constexpr std::int64_t kHalf = 1 << (kStepBits - 1), kRounding = 1 << (kStepBits - kWeightBits - 1);
    return static_cast<std::int32_t>(quotient(place, n << kPointBits) - kHalf + kRounding);
  };
  result.x = origin(found_x, step_x * target_x - step_y * target_y);
  result.y = origin(found_y, step_y * target_x + step_x * target_y);
  result.step_x = static_cast<std::int32_t>(step_x);
  result.step_y = static_cast<std::int32_t>(step_y);
  return result;
}

Similarity similarity_of(const Box& face) {
  const double height = face.y + 0.39 * face.height;
  const std::array<Point, 2> eyes{
      {{face.x + 0.31 * face.width, height}, {face.x + 0.69 * face.width, height}}};
  return similarity_of(eyes);
}

void Cropper::make_patch(GrayView frame, const Similarity& from, int left, int top, Size size) {
  patch_.resize(size.width, size.height);
  const int k = from.octave, side = 1 << k;
  const int width = size.width * side;
  sums_.resize(static_cast<std::size_t>(width));
  // Columns of the frame, and those to its left and right.
  const int first = left * side;
  const int inner_begin = std::clamp(-first, 0, width);
  const int inner_end = std::clamp(frame.width() - first, inner_begin, width);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* const target = patch_.view().row(y);
    std::uint16_t* const sums = sums_.data();
    const auto row_of = [&](int i) {
      return frame.row(std::clamp((top + y) * side + i, 0, frame.height() - 1));
    };
    if (k == 0) {
      const std::uint8_t* const row = row_of(0);
      if (inner_end > inner_begin)
        std::memcpy(target + inner_begin, row + first + inner_begin,
                    static_cast<std::size_t>(inner_end - inner_begin));
      std::fill_n(target, inner_begin, row[0]);
      std::fill(target + inner_end, target + width, row[frame.width() - 1]);
      continue;
    }
    // At most 256 pixels of 255 each: 16 bits hold their sum and what rounds it.
    std::fill_n(sums, width, std::uint16_t{0});
    for (int i = 0; i < side; ++i) {
      const std::uint8_t* const row = row_of(i);
      const auto add = [&](int x, int pixel) { sums[x] = static_cast<std::uint16_t>(sums[x] + pixel); };
      for (int x = inner_begin; x < inner_end; ++x) add(x, row[first + x]);
      for (int x = 0; x < inner_begin; ++x) add(x, row[0]);
      for (int x = inner_end; x < width; ++x) add(x, row[frame.width() - 1]);
    }
    for (int octave = 1, w = width / 2; octave <= k; ++octave, w /= 2) {
      for (int x = 0; x < w; ++x) sums[x] = static_cast<std::uint16_t>(sums[2 * x] + sums[2 * x + 1]);
    }
    for (int x = 0; x < size.width; ++x)
      target[x] = static_cast<std::uint8_t>((sums[x] + side * side / 2) >> (2 * k));
  }
}

void Cropper::crop(GrayView frame, const Similarity& from, ImageView<std::uint8_t> crop) {
  // Places are linear in column and row: the outermost ones are those of corners.
  const int columns[] = {0, crop.width() - 1, 0, crop.width() - 1};
  const int rows[] = {0, 0, crop.height() - 1, crop.height() - 1};
  int left = 0, right = 0, top = 0, bottom = 0;
  for (int i = 0; i < 4; ++i) {
    const Place at = place_of(from, columns[i], rows[i]);
    left = i == 0 ? at.x : std::min(left, at.x);
    right = i == 0 ? at.x : std::max(right, at.x);
    top = i == 0 ? at.y : std::min(top, at.y);
    bottom = i == 0 ? at.y : std::max(bottom, at.y);
  }
  const bool lies_inside = left >= 0 && top >= 0 && right + 1 < frame.width() && bottom + 1 < frame.height();
  const Size size{right + 2 - left, bottom + 2 - top};
  GrayView pixels;
  if (from.octave == 0 && lies_inside) {
    pixels = {frame.row(top) + left, size.width, size.height, frame.stride()};
  } else {
    make_patch(frame, from, left, top, size);
    pixels = patch_.view();
  }
  // Shifted by whole pixels, places keep their weights.
  const std::int32_t x = from.x - (left << kStepBits), y = from.y - (top << kStepBits);
  for (int row = 0; row < crop.height(); ++row) {
    sample_row({pixels.data(), pixels.stride(), x - from.step_y * row, y + from.step_x * row, from.step_x,
                from.step_y, crop.width()},
               crop.row(row));
  }
}

namespace reference {

void crop(GrayView frame, const Similarity& from, ImageView<std::uint8_t> crop) {
  const auto pixel = [&](int x, int y) {
    return int{frame.at(std::clamp(x, 0, frame.width() - 1), std::clamp(y, 0, frame.height() - 1))};
  };
  const auto mean = [&](int x, int y) {
    const int side = 1 << from.octave;
    int sum = 0;
    for (int i = 0; i < side * side; ++i) sum += pixel(x * side + i % side, y * side + i / side);
    return (sum + side * side / 2) >> (2 * from.octave);
  };
  for (int row = 0; row < crop.height(); ++row) {
    for (int column = 0; column < crop.width(); ++column) {
      const Place at = place_of(from, column, row);
      crop.at(column, row) =
          mix(mean(at.x, at.y), mean(at.x + 1, at.y), mean(at.x, at.y + 1), mean(at.x + 1, at.y + 1), at);
    }
  }
}

}  // namespace reference

}  // namespace sightline::recognition
