// SIMD forms of the most expensive steps of a screen's row; `screen_rows.cpp` has the others and the
// references.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/screen_rows_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "image/screen_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// a + (b - a) weight / 128 in 16-bit lanes.
template <class V16>
HWY_INLINE V16 mix(V16 a, V16 b, V16 weight) {
  const auto half = hn::Set(hn::DFromV<V16>(), kMixOne / 2);
  return hn::Add(a, hn::ShiftRight<7>(hn::Add(hn::Mul(hn::Sub(b, a), weight), half)));
}

// Applies `f` to the even and the odd bytes of `inputs`, widened to 16 bits.
template <class D8, class F, class... V8>
HWY_INLINE hn::VFromD<D8> in_16_bits(D8 d8, F f, V8... inputs) {
  const hn::Repartition<std::uint16_t, D8> du16;
  const hn::Repartition<std::int16_t, D8> d16;
  const auto even = [&](auto v) {
    return hn::BitCast(d16, hn::And(hn::BitCast(du16, v), hn::Set(du16, 0xFF)));
  };
  const auto odd = [&](auto v) { return hn::BitCast(d16, hn::ShiftRight<8>(hn::BitCast(du16, v))); };
  return hn::BitCast(d8, hn::Or(f(even(inputs)...), hn::ShiftLeft<8>(f(odd(inputs)...))));
}

int mix_two_rows(const std::uint8_t* HWY_RESTRICT a, const std::uint8_t* HWY_RESTRICT b, int weight,
                 int bytes, std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::int16_t, decltype(d8)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const auto share = hn::Set(d16, static_cast<std::int16_t>(weight));
  int i = 0;
  for (; i + lanes <= bytes; i += lanes)
    hn::StoreU(
        in_16_bits(
            d8, [&](auto v, auto w) { return mix(v, w, share); }, hn::LoadU(d8, a + i), hn::LoadU(d8, b + i)),
        d8, out + i);
  return i;
}

int halve_two_rows(const std::uint8_t* HWY_RESTRICT a, const std::uint8_t* HWY_RESTRICT b, int width,
                   std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d_out;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto pair = [&](const std::uint8_t* from) {
    const auto samples = hn::BitCast(d16, hn::LoadU(d8, from));
    return hn::Add(hn::And(samples, hn::Set(d16, 0xFF)), hn::ShiftRight<8>(samples));
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto sum = hn::Add(hn::Add(pair(a + 2 * x), pair(b + 2 * x)), hn::Set(d16, 2));
    const hn::Repartition<std::int16_t, decltype(d8)> di16;
    hn::StoreU(hn::DemoteTo(d_out, hn::BitCast(di16, hn::ShiftRight<2>(sum))), d_out, out + x);
  }
  return x;
}

void mix_column_groups(const std::uint8_t* HWY_RESTRICT row, const Columns::Group* HWY_RESTRICT groups,
                       std::size_t count, std::uint8_t* HWY_RESTRICT out) {
  const hn::FixedTag<std::uint8_t, 16> d8;
  const hn::FixedTag<std::uint16_t, 8> du16;
  const hn::FixedTag<std::int16_t, 8> d16;
  const hn::FixedTag<std::uint8_t, 8> d_out;
  for (std::size_t g = 0; g < count; ++g) {
    const Columns::Group& group = groups[g];
    const auto pairs =
        hn::BitCast(du16, hn::TableLookupBytes(hn::LoadU(d8, row + group.base), hn::LoadU(d8, group.pairs)));
    const auto first = hn::BitCast(d16, hn::And(pairs, hn::Set(du16, 0xFF)));
    const auto second = hn::BitCast(d16, hn::ShiftRight<8>(pairs));
    hn::StoreU(hn::DemoteTo(d_out, mix(first, second, hn::LoadU(d16, group.weight))), d_out, out + 8 * g);
  }
}

int blend_pixels(std::uint8_t* HWY_RESTRICT bgra, int width, std::uint32_t color, int alpha) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const hn::Repartition<std::uint32_t, decltype(d8)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto share = [&](std::uint32_t channels) {  // share of two channels, with a half for rounding
    return hn::BitCast(d16, hn::Set(d32, channels * static_cast<std::uint32_t>(alpha) + 0x00800080u));
  };
  const auto even = share(color & 0x00FF00FF), odd = share(color >> 8 & 0x00FF00FF);
  const auto rest = hn::Set(d16, static_cast<std::uint16_t>(256 - alpha));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    std::uint8_t* at = bgra + 4 * static_cast<std::ptrdiff_t>(x);
    const auto pixels = hn::BitCast(d16, hn::LoadU(d8, at));
    const auto low = hn::Add(hn::Mul(hn::And(pixels, hn::Set(d16, 0xFF)), rest), even);
    const auto high = hn::Add(hn::Mul(hn::ShiftRight<8>(pixels), rest), odd);
    hn::StoreU(hn::BitCast(d8, hn::Or(hn::ShiftRight<8>(low), hn::And(high, hn::Set(d16, 0xFF00)))), d8, at);
  }
  return x;
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(mix_two_rows);
HWY_EXPORT(halve_two_rows);
HWY_EXPORT(mix_column_groups);
HWY_EXPORT(blend_pixels);

namespace {

std::uint8_t mix_scalar(int a, int b, int weight) {
  return static_cast<std::uint8_t>(a + (((b - a) * weight + kMixOne / 2) >> 7));
}

}  // namespace

void mix_rows(const std::uint8_t* a, const std::uint8_t* b, int weight, int bytes, std::uint8_t* out) {
  for (int i = HWY_DYNAMIC_DISPATCH(mix_two_rows)(a, b, weight, bytes, out); i < bytes; ++i)
    out[i] = mix_scalar(a[i], b[i], weight);
}

void halve_rows(const std::uint8_t* a, const std::uint8_t* b, int width, std::uint8_t* out) {
  for (int x = HWY_DYNAMIC_DISPATCH(halve_two_rows)(a, b, width, out); x < width; ++x)
    out[x] = static_cast<std::uint8_t>((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
}

void mix_columns(const std::uint8_t* row, const Columns& columns, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(mix_column_groups)(row, columns.groups.data(), columns.groups.size(), out);
  for (std::size_t x = 8 * columns.groups.size(); x < columns.first.size(); ++x)
    out[x] = mix_scalar(row[columns.first[x]], row[columns.first[x] + 1], columns.weight[x]);
}

void blend_color(std::uint8_t* bgra, int width, std::uint32_t color, int alpha) {
  const int done = HWY_DYNAMIC_DISPATCH(blend_pixels)(bgra, width, color, alpha);
  std::uint8_t* at = bgra + 4 * static_cast<std::ptrdiff_t>(done);
  for (int x = done; x < width; ++x)
    for (int shift = 0; shift < 32; shift += 8, ++at)
      *at = static_cast<std::uint8_t>(
          (*at * (256 - alpha) + static_cast<int>(color >> shift & 255) * alpha + 128) >> 8);
}
}  // namespace sightline
#endif  // HWY_ONCE
