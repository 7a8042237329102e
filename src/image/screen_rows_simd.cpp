// The SIMD forms of what a screen's row costs most; `screen_rows.cpp` holds the rest and the references.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/screen_rows_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "image/screen_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums in 1/64, of even and of odd pixels in 16-bit lanes of their own, to bytes in order.
template <class V16>
HWY_INLINE auto levels(V16 even, V16 odd) {
  const hn::DFromV<V16> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const auto clamped = [&](V16 sum) {
    return hn::Min(hn::Max(hn::ShiftRight<6>(sum), hn::Zero(d)), hn::Set(d, 255));
  };
  return hn::BitCast(d8, hn::Or(clamped(even), hn::ShiftLeft<8>(clamped(odd))));
}

// Pixels [0, whole vectors); returns how many were written.
int yuv_row(const std::uint8_t* HWY_RESTRICT y, const std::uint8_t* HWY_RESTRICT u,
            const std::uint8_t* HWY_RESTRICT v, int width, const YuvWeights& weights,
            std::uint8_t* HWY_RESTRICT bgra) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::int16_t, decltype(d8)> d16;
  const hn::RebindToUnsigned<decltype(d16)> du16;
  const hn::Half<decltype(d8)> d8_half;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const auto luma_weight = hn::Set(d16, weights.luma), offset = hn::Set(d16, weights.offset);
  const auto red_v = hn::Set(d16, weights.red_v), blue_u = hn::Set(d16, weights.blue_u);
  const auto green_u = hn::Set(d16, weights.green_u), green_v = hn::Set(d16, weights.green_v);
  const auto opaque = hn::Set(d8, 255);
  const auto luma = [&](auto samples) {  // of 0..255 in unsigned 16-bit lanes
    return hn::Add(hn::MulFixedPoint15(hn::BitCast(d16, hn::ShiftLeft<7>(samples)), luma_weight), offset);
  };
  const auto chroma = [&](const std::uint8_t* samples) {
    const auto wide = hn::PromoteTo(d16, hn::LoadU(d8_half, samples));
    return hn::ShiftLeft<8>(hn::Sub(wide, hn::Set(d16, 128)));
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto samples = hn::BitCast(du16, hn::LoadU(d8, y + x));
    const auto even = luma(hn::And(samples, hn::Set(du16, 0xFF))), odd = luma(hn::ShiftRight<8>(samples));
    const auto cu = chroma(u + x / 2), cv = chroma(v + x / 2);
    const auto blue = hn::MulFixedPoint15(cu, blue_u), red = hn::MulFixedPoint15(cv, red_v);
    const auto green = hn::Add(hn::MulFixedPoint15(cu, green_u), hn::MulFixedPoint15(cv, green_v));
    hn::StoreInterleaved4(levels(hn::SaturatedAdd(even, blue), hn::SaturatedAdd(odd, blue)),
                          levels(hn::SaturatedAdd(even, green), hn::SaturatedAdd(odd, green)),
                          levels(hn::SaturatedAdd(even, red), hn::SaturatedAdd(odd, red)), opaque, d8,
                          bgra + 4 * static_cast<std::ptrdiff_t>(x));
  }
  return x;
}

int mix_row_columns(const std::uint8_t* HWY_RESTRICT row, const std::int32_t* HWY_RESTRICT columns,
                    const std::int32_t* HWY_RESTRICT weights, int width, std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto byte = hn::Set(du, 0xFF);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    // One load brings a sample and the next.
    const auto both = hn::BitCast(
        du, hn::GatherOffset(d, reinterpret_cast<const std::int32_t*>(row), hn::LoadU(d, columns + x)));
    const auto a = hn::BitCast(d16, hn::And(both, byte));
    const auto b = hn::BitCast(d16, hn::And(hn::ShiftRight<8>(both), byte));
    const auto weight = hn::BitCast(d16, hn::LoadU(d, weights + x));
    const auto step = hn::ShiftRight<7>(hn::Add(hn::Mul(hn::Sub(b, a), weight), hn::Set(d16, kMixOne / 2)));
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(d, hn::Add(a, step))), d8, out + x);
  }
  return x;
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(yuv_row);
HWY_EXPORT(mix_row_columns);

void yuv_to_bgra(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, int width,
                 const YuvWeights& weights, std::uint8_t* bgra) {
  const int done = HWY_DYNAMIC_DISPATCH(yuv_row)(y, u, v, width, weights, bgra);
  yuv_to_bgra_reference(y + done, u + done / 2, v + done / 2, width - done, weights,
                        bgra + 4 * static_cast<std::ptrdiff_t>(done));
}

void mix_columns(const std::uint8_t* row, const std::int32_t* columns, const std::int32_t* weights, int width,
                 std::uint8_t* out) {
  for (int x = HWY_DYNAMIC_DISPATCH(mix_row_columns)(row, columns, weights, width, out); x < width; ++x) {
    const int a = row[columns[x]], b = row[columns[x] + 1];
    out[x] = static_cast<std::uint8_t>(a + (((b - a) * weights[x] + kMixOne / 2) >> 7));
  }
}
}  // namespace sightline
#endif  // HWY_ONCE
