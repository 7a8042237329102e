#include "image/turn.hpp"

#include <algorithm>
#include <cstring>

namespace sightline {
namespace {

constexpr int kSquare = 32;  // pixels of a side; its rows and columns stay in the first cache

/// Walks the target in squares. `Bytes` 0: any number.
template <int Bytes>
void turn_squares(const StoredPixels& stored, const Turn& turn, std::uint8_t* target, std::ptrdiff_t stride) {
  const auto bytes = static_cast<std::size_t>(Bytes == 0 ? stored.bytes : Bytes);
  const Size size = turned(stored.size, turn);
  const auto pixel = static_cast<std::ptrdiff_t>(bytes);
  // Distances in the source between neighbours of a row and of a column of the target.
  std::ptrdiff_t step_x = turn.transpose ? stored.stride : pixel;
  std::ptrdiff_t step_y = turn.transpose ? pixel : stored.stride;
  const std::uint8_t* first = stored.data;
  if (turn.mirror_columns) first += (size.width - 1) * step_x, step_x = -step_x;
  if (turn.mirror_rows) first += (size.height - 1) * step_y, step_y = -step_y;
  for (int top = 0; top < size.height; top += kSquare) {
    const int bottom = std::min(top + kSquare, size.height);
    for (int left = 0; left < size.width; left += kSquare) {
      const int right = std::min(left + kSquare, size.width);
      for (int y = top; y < bottom; ++y) {
        const std::uint8_t* from = first + y * step_y + left * step_x;
        std::uint8_t* to = target + y * stride + left * pixel;
        for (int x = left; x < right; ++x, from += step_x, to += pixel) std::memcpy(to, from, bytes);
      }
    }
  }
}

}  // namespace

Turn turn_of_orientation(int orientation) {
  switch (orientation) {
    case 2:
      return {false, true, false};
    case 3:
      return {false, true, true};
    case 4:
      return {false, false, true};
    case 5:
      return {true, false, false};
    case 6:
      return {true, true, false};
    case 7:
      return {true, true, true};
    case 8:
      return {true, false, true};
    default:
      return {};
  }
}

void turn_pixels(const StoredPixels& stored, const Turn& turn, std::uint8_t* target, std::ptrdiff_t stride) {
  switch (stored.bytes) {
    case 1:
      return turn_squares<1>(stored, turn, target, stride);
    case 2:
      return turn_squares<2>(stored, turn, target, stride);
    case 3:
      return turn_squares<3>(stored, turn, target, stride);
    case 4:
      return turn_squares<4>(stored, turn, target, stride);
    default:
      return turn_squares<0>(stored, turn, target, stride);
  }
}

}  // namespace sightline
