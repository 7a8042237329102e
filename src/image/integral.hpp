#pragma once
/// Integral images (F. Crow, "Summed-area tables for texture mapping", SIGGRAPH 1984) of a pyramid's levels,
/// which lie on a sheet (integral_sheet.hpp). Each function has a SIMD form, dispatched at run time to the
/// best instruction set, and a plain scalar one, `..._reference`, which the SIMD form and the OpenCL kernels
/// (kernels/image/integral.cl) equal bit for bit.
///
/// Row and column 0 of a level's integrals are zero: sums(X, Y) is the sum of the pixels with x < X and
/// y < Y, squares that of their squares, tilted(X, Y) that of the pixels with y < Y and |x - X + 1| < Y - y
/// (R. Lienhart and J. Maydt, "An extended set of Haar-like features for rapid object detection", ICIP 2002).
/// All of them wrap around, at 2^32 or, on a sheet of 2-byte elements, at 2^16. Differences are what is used,
/// and these are exact where what they stand for fits: the sum of up to kMaxSmallBlock pixels in 16 bits.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "image/integral_sheet.hpp"
#include "image/view.hpp"

namespace sightline {

/// Pixels of the largest block whose sum fits in 16 bits.
inline constexpr int kMaxSmallBlock = 65535 / 255;

/// Non-owning view of one plane of a level's integrals. `Sum` is std::uint32_t or std::uint16_t, const or
/// not. Thread-safety: like a pointer.
template <typename Sum>
class IntegralPlane {
 public:
  /// @param integrals  the sheet's memory; it and the sheet must outlive the view
  IntegralPlane(const IntegralSheet& sheet, const SheetLevel& level, Sum* integrals, int plane)
      : sheet_(sheet), step_(level.step), origin_(integrals + plane * sheet.plane + level.origin) {}

  /// Element (x, y), 0 <= x <= width of the image and 0 <= y <= its height.
  Sum& at(int x, int y) const {
    return origin_[static_cast<std::ptrdiff_t>(y) * sheet_.stride + sheet_.column(step_, x)];
  }
  /// Sum over the upright rectangle with its corner at pixel (x, y); wraps around.
  std::remove_const_t<Sum> sum(int x, int y, int width, int height) const {
    return static_cast<Sum>(at(x, y) - at(x + width, y) - at(x, y + height) + at(x + width, y + height));
  }
  /// Sum over the rectangle turned by 45 degrees whose corners are (x, y), (x + width, y + width),
  /// (x - height, y + height) and (x + width - height, y + width + height), in a tilted plane.
  std::remove_const_t<Sum> tilted_sum(int x, int y, int width, int height) const {
    return static_cast<Sum>(at(x, y) - at(x - height, y + height) - at(x + width, y + width) +
                            at(x + width - height, y + width + height));
  }

 private:
  const IntegralSheet& sheet_;
  int step_;
  Sum* origin_;
};

/// A level's part of a plane, of the image's rows [y_begin, y_end): writes rows y_begin (zero) to y_end of
/// the integrals, and may write padding of the level's place beside them.
/// @param image      of the level's size; whole kPixelUnits of its rows may be read
/// @param plane      0, kSquares or kTilted of the sheet
/// @param integrals  the sheet's memory: integral_bytes() and kSheetSlack elements
void integrate(GrayView image, const IntegralSheet& sheet, const SheetLevel& level, int plane, int y_begin,
               int y_end, std::byte* integrals);
void integrate_reference(GrayView image, const IntegralSheet& sheet, const SheetLevel& level, int plane,
                         int y_begin, int y_end, std::byte* integrals);

}  // namespace sightline
