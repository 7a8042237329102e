// The SIMD forms of conversions to RGB; `colour.cpp` holds the scalar references.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/colour_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "image/colour.hpp"
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

// One sample for two pixels: the same in even and odd lanes, 256 (sample - 128).
struct HalfChroma {
  template <class D16, class V16>
  HWY_INLINE void operator()(D16 d, const std::uint8_t* row, int x, V16& even, V16& odd) const {
    const hn::Rebind<std::uint8_t, D16> d8;
    const auto wide = hn::PromoteTo(d, hn::LoadU(d8, row + x / 2));
    even = odd = hn::ShiftLeft<8>(hn::Sub(wide, hn::Set(d, 128)));
  }
};
// One for each pixel.
struct FullChroma {
  template <class D16, class V16>
  HWY_INLINE void operator()(D16 d, const std::uint8_t* row, int x, V16& even, V16& odd) const {
    const hn::RebindToUnsigned<D16> du;
    const hn::Repartition<std::uint8_t, D16> d8;
    const auto samples = hn::BitCast(du, hn::LoadU(d8, row + x));
    const auto half = hn::Set(du, 0x8000), high = hn::Set(du, 0xFF00);
    even = hn::BitCast(d, hn::Xor(hn::ShiftLeft<8>(samples), half));
    odd = hn::BitCast(d, hn::Xor(hn::And(samples, high), half));
  }
};

// Pixels [0, whole vectors); `store(red, green, blue, x)` takes them. Returns how many they are.
template <class Chroma, class Store>
HWY_INLINE int yuv_pixels(const std::uint8_t* HWY_RESTRICT y, const std::uint8_t* HWY_RESTRICT u,
                          const std::uint8_t* HWY_RESTRICT v, int width, const YuvWeights& weights,
                          const Chroma& chroma, const Store& store) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::int16_t, decltype(d8)> d16;
  const hn::RebindToUnsigned<decltype(d16)> du16;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const auto luma_weight = hn::Set(d16, weights.luma), offset = hn::Set(d16, weights.offset);
  const auto red_v = hn::Set(d16, weights.red_v), blue_u = hn::Set(d16, weights.blue_u);
  const auto green_u = hn::Set(d16, weights.green_u), green_v = hn::Set(d16, weights.green_v);
  using V16 = hn::VFromD<decltype(d16)>;
  const auto luma = [&](auto samples) {  // of 0..255 in unsigned 16-bit lanes
    return hn::Add(hn::MulFixedPoint15(hn::BitCast(d16, hn::ShiftLeft<7>(samples)), luma_weight), offset);
  };
  const auto green_of = [&](V16 cu, V16 cv) {
    return hn::Add(hn::MulFixedPoint15(cu, green_u), hn::MulFixedPoint15(cv, green_v));
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto samples = hn::BitCast(du16, hn::LoadU(d8, y + x));
    const V16 even = luma(hn::And(samples, hn::Set(du16, 0xFF))), odd = luma(hn::ShiftRight<8>(samples));
    V16 even_u, odd_u, even_v, odd_v;
    chroma(d16, u, x, even_u, odd_u);
    chroma(d16, v, x, even_v, odd_v);
    store(levels(hn::SaturatedAdd(even, hn::MulFixedPoint15(even_v, red_v)),
                 hn::SaturatedAdd(odd, hn::MulFixedPoint15(odd_v, red_v))),
          levels(hn::SaturatedAdd(even, green_of(even_u, even_v)),
                 hn::SaturatedAdd(odd, green_of(odd_u, odd_v))),
          levels(hn::SaturatedAdd(even, hn::MulFixedPoint15(even_u, blue_u)),
                 hn::SaturatedAdd(odd, hn::MulFixedPoint15(odd_u, blue_u))),
          x);
  }
  return x;
}

int bgra_row(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, int width,
             const YuvWeights& weights, std::uint8_t* bgra) {
  const hn::ScalableTag<std::uint8_t> d8;
  return yuv_pixels(y, u, v, width, weights, HalfChroma(), [&](auto red, auto green, auto blue, int x) {
    hn::StoreInterleaved4(blue, green, red, hn::Set(d8, 255), d8, bgra + 4 * static_cast<std::ptrdiff_t>(x));
  });
}

int planar_row(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, bool is_half, int width,
               const YuvWeights& weights, std::uint8_t* red, std::uint8_t* green, std::uint8_t* blue) {
  const hn::ScalableTag<std::uint8_t> d8;
  const auto store = [&](auto r, auto g, auto b, int x) {
    hn::StoreU(r, d8, red + x);
    hn::StoreU(g, d8, green + x);
    hn::StoreU(b, d8, blue + x);
  };
  return is_half ? yuv_pixels(y, u, v, width, weights, HalfChroma(), store)
                 : yuv_pixels(y, u, v, width, weights, FullChroma(), store);
}

// Pixels [0, whole vectors) of packed colour; returns how many were written.
int split_row(const std::uint8_t* packed, int step, int width, std::uint8_t* first, std::uint8_t* second,
              std::uint8_t* third) {
  const hn::ScalableTag<std::uint8_t> d8;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::VFromD<decltype(d8)> a, b, c, unused;
    if (step == 3) {
      hn::LoadInterleaved3(d8, packed + 3 * x, a, b, c);
    } else {
      hn::LoadInterleaved4(d8, packed + 4 * x, a, b, c, unused);
    }
    hn::StoreU(a, d8, first + x);
    hn::StoreU(b, d8, second + x);
    hn::StoreU(c, d8, third + x);
  }
  return x;
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(bgra_row);
HWY_EXPORT(planar_row);
HWY_EXPORT(split_row);

void yuv_to_bgra(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, int width,
                 const YuvWeights& weights, std::uint8_t* bgra) {
  const int done = HWY_DYNAMIC_DISPATCH(bgra_row)(y, u, v, width, weights, bgra);
  yuv_to_bgra_reference(y + done, u + done / 2, v + done / 2, width - done, weights,
                        bgra + 4 * static_cast<std::ptrdiff_t>(done));
}

namespace {

struct PlanarRow {
  std::uint8_t *red, *green, *blue;
};

// Chroma that is not in rows of its own, one sample for each pixel or for two, is brought into such rows part
// by part.
int convert_row(const PictureView& picture, int y, const PlanarRow& to) {
  constexpr int kPart = 512;
  std::uint8_t u_part[kPart], v_part[kPart];
  const ChromaView& chroma = *picture.chroma();
  const std::uint8_t* const luma = picture.gray().row(y);
  const std::uint8_t *const u_row = chroma.u_row(y), *const v_row = chroma.v_row(y);
  const bool is_half = chroma.shift_x == 1 && chroma.x % 2 == 0;
  const bool is_ready = chroma.step == 1 && (is_half || chroma.shift_x == 0);
  for (int x = 0; x < picture.width();) {
    const int width = std::min(kPart, picture.width() - x);
    const int first = chroma.sample_of(x);
    const std::uint8_t *u = u_row + first, *v = v_row + first;
    if (!is_ready) {
      if (is_half) {  // pairs
        const bool u_is_first = u < v;
        split_pairs(std::min(u, v), (width + 1) / 2, u_is_first ? u_part : v_part,
                    u_is_first ? v_part : u_part);
      } else {
        for (int i = 0; i < width; ++i) {
          u_part[i] = u_row[chroma.sample_of(x + i)];
          v_part[i] = v_row[chroma.sample_of(x + i)];
        }
      }
      u = u_part;
      v = v_part;
    }
    const int done = HWY_DYNAMIC_DISPATCH(planar_row)(luma + x, u, v, is_half, width, chroma.weights,
                                                      to.red + x, to.green + x, to.blue + x);
    x += done;
    if (done < width) return x;
  }
  return picture.width();
}

int split_packed(const PackedView& packed, int y, const PlanarRow& to) {
  const bool red_first = red_byte(packed.format) == 0;
  return HWY_DYNAMIC_DISPATCH(split_row)(packed.row(y), bytes_per_pixel(packed.format), packed.width,
                                         red_first ? to.red : to.blue, to.green,
                                         red_first ? to.blue : to.red);
}

}  // namespace

void to_planar_rgb(const PictureView& picture, ImageView<std::uint8_t> rgb, int y_begin, int y_end) {
  const int height = picture.height();
  for (int y = y_begin; y < y_end; ++y) {
    const PlanarRow to{rgb.row(y), rgb.row(y + height), rgb.row(y + 2 * height)};
    int done = picture.width();
    if (!picture.is_gray()) {
      done = split_packed(picture.colour(), y, to);
    } else if (picture.chroma()) {
      done = convert_row(picture, y, to);
    } else {
      for (std::uint8_t* const row : {to.red, to.green, to.blue})
        std::memcpy(row, picture.gray().row(y), static_cast<std::size_t>(picture.width()));
    }
    to_planar_rgb_reference(picture, rgb, y, y + 1, done);
  }
}

}  // namespace sightline
#endif  // HWY_ONCE
