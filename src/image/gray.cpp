#include "image/gray.hpp"

namespace sightline {

void to_gray_reference(const PackedView& source, ImageView<std::uint8_t> target, int y_begin, int y_end) {
  const int step = bytes_per_pixel(source.format);
  const int red = red_byte(source.format);
  for (int y = y_begin; y < y_end; ++y) {
    const std::uint8_t* pixel = source.row(y);
    for (int x = 0; x < source.width; ++x, pixel += step) {
      target.at(x, y) =
          static_cast<std::uint8_t>((77 * pixel[red] + 150 * pixel[1] + 29 * pixel[2 - red] + 128) >> 8);
    }
  }
}

}  // namespace sightline
