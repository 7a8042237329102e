#include "image/resample.hpp"

#include <algorithm>
#include <cmath>

namespace sightline {

SampleAxis::SampleAxis(int source, int target) {
  const double ratio = 1.0 / (static_cast<double>(target) / source);
  for (int i = 0; i < target; ++i) {
    const double position = ratio * (i + 0.5) - 0.5;
    const int whole = static_cast<int>(std::floor(position));
    const int inside = std::clamp(whole, 0, source - 1);
    const bool between = whole >= 0 && whole + 1 < source;
    // Half to even, as OpenCV rounds.
    const auto fraction = between ? std::lrint((position - whole) * kSampleOne) : 0L;
    first.push_back(inside);
    second.push_back(std::min(inside + 1, source - 1));
    weight.push_back(static_cast<std::uint16_t>(fraction));
  }
}

SamplePlan::SamplePlan(Size source, Size target)
    : columns(source.width, target.width), rows(source.height, target.height), is_copy(source == target) {
  constexpr int kGroup = 8;
  constexpr int kHalf = kGroup / 2;
  constexpr int kLoad = 16;
  for (int x = 0; x + kGroup <= target.width; x += kGroup) {
    Group group{};
    for (int half = 0; half < 2; ++half) {
      std::fill_n(group.left[half], kLoad, std::uint8_t{0x80});
      std::fill_n(group.right[half], kLoad, std::uint8_t{0x80});
      const int first = columns.first[x + half * kHalf];
      const int base = std::max(std::min(first, source.width - kLoad), 0);
      group.base[half] = base;
      for (int i = half * kHalf; i < (half + 1) * kHalf; ++i) {
        const int left = columns.first[x + i] - base;
        const int right = columns.second[x + i] - base;
        if (right >= kLoad || source.width < kLoad) return;  // too far apart, from here on
        group.left[half][2 * i] = static_cast<std::uint8_t>(left);
        group.right[half][2 * i] = static_cast<std::uint8_t>(right);
        group.right_weight[i] = columns.weight[x + i];
        group.left_weight[i] = static_cast<std::uint16_t>(kSampleOne - columns.weight[x + i]);
      }
    }
    groups.push_back(group);
  }
}

void resample_rows_reference(GrayView source, const SampleAxis& columns, const SampleAxis& rows, int y_begin,
                             int y_end, ImageView<std::uint8_t> target) {
  for (int y = y_begin; y < y_end; ++y) {
    const std::uint8_t* const upper = source.row(rows.first[y]);
    const std::uint8_t* const lower = source.row(rows.second[y]);
    for (int x = 0; x < target.width(); ++x)
      target.at(x, y) = sample_between(upper, lower, rows.weight[y], columns, x);
  }
}

}  // namespace sightline
