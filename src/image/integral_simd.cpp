// The SIMD form of integral images; `integral.cpp` holds the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/integral_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>

#include "image/integral.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::FixedTag<std::uint16_t, 8>;
using D32 = hn::FixedTag<std::uint32_t, 4>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// Sums from the first lane to each.
HWY_INLINE V16 prefix(V16 v) {
  const D16 d;
  v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
  v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
  return hn::Add(v, hn::ShiftLeftLanes<4>(d, v));
}
HWY_INLINE V32 prefix(V32 v) {
  const D32 d;
  v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
  return hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
}

struct Values {
  static HWY_INLINE V16 of(V16 pixels) { return pixels; }
};
struct Squares {
  static HWY_INLINE V16 of(V16 pixels) { return hn::Mul(pixels, pixels); }
};

// Values of `Of` for the next pixels, as many as two vectors of sums have lanes.
template <class Of>
HWY_INLINE void load(const std::uint8_t* pixels, V16& low, V16& high) {
  const D16 d;
  const hn::FixedTag<std::uint8_t, 8> d8;
  low = Of::of(hn::PromoteTo(d, hn::LoadU(d8, pixels)));
  high = Of::of(hn::PromoteTo(d, hn::LoadU(d8, pixels + 8)));
}
template <class Of>
HWY_INLINE void load(const std::uint8_t* pixels, V32& low, V32& high) {
  const D32 d;
  const D16 d16;
  const hn::FixedTag<std::uint16_t, 4> d_half;
  const hn::FixedTag<std::uint8_t, 8> d8;
  const V16 values = Of::of(hn::PromoteTo(d16, hn::LoadU(d8, pixels)));
  low = hn::PromoteTo(d, hn::LowerHalf(d_half, values));
  high = hn::PromoteTo(d, hn::UpperHalf(d_half, values));
}

// A vector of a row's sums, on top of those of the row above.
template <class V, typename Sum>
HWY_INLINE void add_to_above(V sums, std::ptrdiff_t stride, Sum* row) {
  const hn::DFromV<V> d;
  hn::StoreU(hn::Add(sums, hn::LoadU(d, row - stride)), d, row);
}

// `even` and `odd` are where columns 0 and 1 of the row lie; `carry` is the sum of the row up to here, in all
// lanes.
template <class Of, int kStep, typename Sum>
HWY_INLINE void integrate_row(const std::uint8_t* pixels, int width, std::ptrdiff_t stride, Sum* even,
                              Sum* odd) {
  constexpr int kLanes = 16 / sizeof(Sum);
  const hn::FixedTag<Sum, kLanes> d;
  auto carry = hn::Zero(d);
  for (int x = 0; x < width; x += 2 * kLanes) {
    hn::Vec<decltype(d)> low, high;
    load<Of>(pixels + x, low, high);
    low = hn::Add(prefix(low), carry);
    carry = hn::Broadcast<kLanes - 1>(low);
    high = hn::Add(prefix(high), carry);
    carry = hn::Broadcast<kLanes - 1>(high);
    if constexpr (kStep == 1) {
      add_to_above(low, stride, even + x + 1);
      add_to_above(high, stride, even + x + 1 + kLanes);
    } else {
      add_to_above(hn::ConcatEven(d, high, low), stride, odd + x / 2);
      add_to_above(hn::ConcatOdd(d, high, low), stride, even + x / 2 + 1);
    }
  }
}

template <class Of, typename Sum>
HWY_INLINE void integrate_upright(GrayView image, const IntegralSheet& sheet, const SheetLevel& level,
                                  Sum* plane, int y_begin, int y_end) {
  const std::ptrdiff_t stride = sheet.stride;
  const int columns = image.width() + 1;
  Sum* even = plane + level.origin + y_begin * stride;
  Sum* odd = even + sheet.column(level.step, 1);
  std::fill_n(even, level.step == 1 ? columns : (columns + 1) / 2, Sum{0});
  if (level.step == 2) std::fill_n(odd, columns / 2, Sum{0});
  for (int y = y_begin; y < y_end; ++y) {
    even += stride;
    odd += stride;
    *even = 0;
    if (level.step == 1) {
      integrate_row<Of, 1>(image.row(y), image.width(), stride, even, odd);
    } else {
      integrate_row<Of, 2>(image.row(y), image.width(), stride, even, odd);
    }
  }
}

void integrate_small(GrayView image, const IntegralSheet& sheet, const SheetLevel& level,
                     std::uint16_t* plane, int y_begin, int y_end) {
  integrate_upright<Values>(image, sheet, level, plane, y_begin, y_end);
}
void integrate_values(GrayView image, const IntegralSheet& sheet, const SheetLevel& level,
                      std::uint32_t* plane, int y_begin, int y_end) {
  integrate_upright<Values>(image, sheet, level, plane, y_begin, y_end);
}
void integrate_squares(GrayView image, const IntegralSheet& sheet, const SheetLevel& level,
                       std::uint32_t* plane, int y_begin, int y_end) {
  integrate_upright<Squares>(image, sheet, level, plane, y_begin, y_end);
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(integrate_small);
HWY_EXPORT(integrate_values);
HWY_EXPORT(integrate_squares);

void integrate(GrayView image, const IntegralSheet& sheet, const SheetLevel& level, int plane, int y_begin,
               int y_end, std::byte* integrals) {
  if (sheet.element_bytes == 2) {
    HWY_DYNAMIC_DISPATCH(integrate_small)
    (image, sheet, level, reinterpret_cast<std::uint16_t*>(integrals), y_begin, y_end);
    return;
  }
  std::uint32_t* const sums = reinterpret_cast<std::uint32_t*>(integrals) + plane * sheet.plane;
  if (plane == IntegralSheet::kTilted) {
    integrate_reference(image, sheet, level, plane, y_begin, y_end, integrals);
  } else if (plane == IntegralSheet::kSquares) {
    HWY_DYNAMIC_DISPATCH(integrate_squares)(image, sheet, level, sums, y_begin, y_end);
  } else {
    HWY_DYNAMIC_DISPATCH(integrate_values)(image, sheet, level, sums, y_begin, y_end);
  }
}

}  // namespace sightline
#endif  // HWY_ONCE
