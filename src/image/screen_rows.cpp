#include "image/screen_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sightline {

void packed_to_bgra(const std::uint8_t* packed, PackedFormat format, int width, std::uint8_t* bgra) {
  if (format == PackedFormat::bgra) {
    std::memcpy(bgra, packed, static_cast<std::size_t>(width) * 4);
    return;
  }
  const int step = bytes_per_pixel(format), red = red_byte(format), blue = 2 - red;
  for (int x = 0; x < width; ++x, packed += step, bgra += 4) {
    bgra[0] = packed[blue];
    bgra[1] = packed[1];
    bgra[2] = packed[red];
    bgra[3] = 255;
  }
}

void split_pairs(const std::uint8_t* pairs, int width, std::uint8_t* first, std::uint8_t* second) {
  for (int x = 0; x < width; ++x) {
    first[x] = pairs[2 * x];
    second[x] = pairs[2 * x + 1];
  }
}

void halve_rows(const std::uint8_t* a, const std::uint8_t* b, int width, int channels, std::uint8_t* out) {
  if (channels == 1) return halve_rows(a, b, width, out);
  for (int x = 0; x < width; ++x, a += channels, b += channels)
    for (int c = 0; c < channels; ++c, ++a, ++b)
      *out++ = static_cast<std::uint8_t>((a[0] + a[channels] + b[0] + b[channels] + 2) >> 2);
}

Columns::Columns(int from, int to, double ratio) {
  for (int x = 0; x < to; ++x) {
    const double at = std::clamp((x + 0.5) * ratio - 0.5, 0.0, from - 1.0);
    first.push_back(static_cast<std::int32_t>(at));
    weight.push_back(static_cast<std::int32_t>(std::lround((at - first.back()) * kMixOne)));
  }
  for (std::size_t x = 0; x + 8 <= first.size(); x += 8) {
    Group group{first[x], {}, {}};
    if (first[x + 7] + 1 - group.base > 15) return;
    for (std::size_t i = 0; i < 8; ++i) {
      group.pairs[2 * i] = static_cast<std::uint8_t>(first[x + i] - group.base);
      group.pairs[2 * i + 1] = static_cast<std::uint8_t>(group.pairs[2 * i] + 1);
      group.weight[i] = static_cast<std::int16_t>(weight[x + i]);
    }
    groups.push_back(group);
  }
}

void mix_columns_bgra(const std::uint8_t* row, const Columns& columns, std::uint8_t* out) {
  // Two channels at a time in the halves of a word.
  constexpr std::uint32_t kEven = 0x00FF00FF, kRound = 0x00400040;
  for (std::size_t x = 0; x < columns.first.size(); ++x, out += 4) {
    std::uint32_t a, b;
    std::memcpy(&a, row + 4 * static_cast<std::ptrdiff_t>(columns.first[x]), 4);
    std::memcpy(&b, row + 4 * static_cast<std::ptrdiff_t>(columns.first[x]) + 4, 4);
    const auto right = static_cast<std::uint32_t>(columns.weight[x]), left = kMixOne - right;
    const std::uint32_t even = ((a & kEven) * left + (b & kEven) * right + kRound) >> 7 & kEven;
    const std::uint32_t odd = ((a >> 8 & kEven) * left + (b >> 8 & kEven) * right + kRound) >> 7 & kEven;
    const std::uint32_t mixed = even | odd << 8;
    std::memcpy(out, &mixed, 4);
  }
}

}  // namespace sightline
