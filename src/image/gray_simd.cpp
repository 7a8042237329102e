// The SIMD form of the conversion to luma; `gray.cpp` holds the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/gray_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "image/gray.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V16>
HWY_INLINE V16 weighted_sum(V16 red, V16 green, V16 blue) {
  const hn::DFromV<V16> d;
  const auto red_and_blue = hn::Add(hn::Mul(red, hn::Set(d, 77)), hn::Mul(blue, hn::Set(d, 29)));
  return hn::Add(hn::Add(red_and_blue, hn::Mul(green, hn::Set(d, 150))), hn::Set(d, 128));
}

// Pixels [0, whole vectors); returns how many were written. Even and odd bytes are summed in 16-bit lanes of
// their own: the odd ones' quotient is already in its place.
int gray_row(const std::uint8_t* source, int step, int red, std::uint8_t* target, int width) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const auto low = hn::Set(d16, 0xFF);
  const auto even = [&](auto bytes) { return hn::And(hn::BitCast(d16, bytes), low); };
  const auto odd = [&](auto bytes) { return hn::ShiftRight<8>(hn::BitCast(d16, bytes)); };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::VFromD<decltype(d8)> first, green, third, unused;
    if (step == 3) {
      hn::LoadInterleaved3(d8, source + 3 * x, first, green, third);
    } else {
      hn::LoadInterleaved4(d8, source + 4 * x, first, green, third, unused);
    }
    const auto r = red == 0 ? first : third;
    const auto b = red == 0 ? third : first;
    const auto low_luma = hn::ShiftRight<8>(weighted_sum(even(r), even(green), even(b)));
    const auto high_luma = hn::AndNot(low, weighted_sum(odd(r), odd(green), odd(b)));
    hn::StoreU(hn::BitCast(d8, hn::Or(low_luma, high_luma)), d8, target + x);
  }
  return x;
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(gray_row);

void to_gray(const PackedView& source, ImageView<std::uint8_t> target, int y_begin, int y_end) {
  const int step = bytes_per_pixel(source.format);
  for (int y = y_begin; y < y_end; ++y) {
    const int done = HWY_DYNAMIC_DISPATCH(gray_row)(source.row(y), step, red_byte(source.format),
                                                    target.row(y), source.width);
    const PackedView rest{source.row(y) + done * step, source.width - done, 1, 0, source.format};
    to_gray_reference(rest, {target.row(y) + done, rest.width, 1, 0}, 0, 1);
  }
}
}  // namespace sightline
#endif  // HWY_ONCE
