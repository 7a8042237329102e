// Scalar reference implementation of integral images.
#include "image/integral.hpp"

namespace sightline {
namespace {

struct PixelValue {
  template <typename Sum>
  static Sum of(std::uint8_t pixel) {
    return pixel;
  }
};
struct Square {
  template <typename Sum>
  static Sum of(std::uint8_t pixel) {
    return static_cast<Sum>(pixel * pixel);
  }
};

// Sums of what `Of` makes of the pixels.
template <typename Of, typename Sum>
void integrate_upright(GrayView image, const IntegralPlane<Sum>& sums, int y_begin, int y_end) {
  for (int x = 0; x <= image.width(); ++x) sums.at(x, y_begin) = 0;
  for (int y = y_begin; y < y_end; ++y) {
    Sum row = 0;
    sums.at(0, y + 1) = 0;
    for (int x = 0; x < image.width(); ++x) {
      row = static_cast<Sum>(row + Of::template of<Sum>(image.at(x, y)));
      sums.at(x + 1, y + 1) = static_cast<Sum>(sums.at(x + 1, y) + row);
    }
  }
}

// A triangle is the two that hang from its upper neighbours, less what these share, and the two pixels that
// neither has. Beyond the edges, T(-1, Y) = T(0, Y - 1) and T(width + 1, Y) = T(width, Y - 1).
void integrate_tilted(GrayView image, const IntegralPlane<std::uint32_t>& tilted, int y_begin, int y_end) {
  const int width = image.width();
  const auto above = [&](int x, int y) -> std::uint32_t {
    if (x < 0 || x > width) {
      x = x < 0 ? 0 : width;
      --y;
    }
    return y <= y_begin ? 0 : tilted.at(x, y);
  };
  const auto pixel = [&](int x, int y) -> std::uint32_t { return x < 0 || y < y_begin ? 0 : image.at(x, y); };
  for (int x = 0; x <= width; ++x) tilted.at(x, y_begin) = 0;
  for (int y = y_begin + 1; y <= y_end; ++y) {
    for (int x = 0; x <= width; ++x) {
      tilted.at(x, y) = above(x - 1, y - 1) + above(x + 1, y - 1) - above(x, y - 2) + pixel(x - 1, y - 1) +
                        pixel(x - 1, y - 2);
    }
  }
}

}  // namespace

void integrate_reference(GrayView image, const IntegralSheet& sheet, const SheetLevel& level, int plane,
                         int y_begin, int y_end, std::byte* integrals) {
  if (sheet.element_bytes == 2) {
    const IntegralPlane sums(sheet, level, reinterpret_cast<std::uint16_t*>(integrals), plane);
    integrate_upright<PixelValue>(image, sums, y_begin, y_end);
    return;
  }
  const IntegralPlane sums(sheet, level, reinterpret_cast<std::uint32_t*>(integrals), plane);
  if (plane == IntegralSheet::kTilted) {
    integrate_tilted(image, sums, y_begin, y_end);
  } else if (plane == IntegralSheet::kSquares) {
    integrate_upright<Square>(image, sums, y_begin, y_end);
  } else {
    integrate_upright<PixelValue>(image, sums, y_begin, y_end);
  }
}

}  // namespace sightline
