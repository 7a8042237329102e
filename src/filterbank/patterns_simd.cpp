// Local binary patterns in SIMD: a byte a pixel. The table of 256 bins is looked up sixteen entries at a
// time, by the lower half of a code, and what belongs to its upper half is kept.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/patterns_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "filterbank/kernels.hpp"
#include "filterbank/patterns.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U32 = hn::ScalableTag<std::uint32_t>;

template <class D, class V = hn::VFromD<D>>
HWY_INLINE V bins_of(D d, V codes) {
  const V low = hn::And(codes, hn::Set(d, std::uint8_t{15}));
  const V high = hn::ShiftRight<4>(codes);
  V bins = hn::Zero(d);
  for (std::size_t i = 0; i < 16; ++i) {
    const V entries = hn::TableLookupBytes(hn::LoadDup128(d, kUniformPatterns.data() + 16 * i), low);
    bins = hn::Or(bins, hn::IfThenElseZero(hn::Eq(high, hn::Set(d, static_cast<std::uint8_t>(i))), entries));
  }
  return bins;
}

// Pixels [x, end) of a row in whole vectors, as many as fit, or, where `d` has no more than sixteen lanes,
// the last one past the end. Returns the first pixel left.
template <class D>
HWY_INLINE int add_to_row(D d, const std::uint8_t* row, std::ptrdiff_t stride, int x, int end,
                          std::uint32_t* response_map) {
  const U32 d32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int lanes32 = static_cast<int>(hn::Lanes(d32));
  HWY_ALIGN std::uint8_t bins[HWY_MAX_BYTES];
  const int last = lanes <= 16 ? end : end - lanes + 1;
  for (; x < last; x += lanes) {
    const auto middle = hn::LoadU(d, row + x);
    auto codes = hn::Zero(d);
    for (int i = 0; i < 8; ++i) {
      const auto [dx, dy] = kPatternNeighbours[i];
      const auto neighbour = hn::LoadU(d, row + dy * stride + x + dx);
      const auto bit = hn::Set(d, static_cast<std::uint8_t>(1U << i));
      codes = hn::Or(codes, hn::IfThenElseZero(hn::Eq(hn::Max(neighbour, middle), neighbour), bit));
    }
    hn::Store(bins_of(d, codes), d, bins);
    for (int i = 0; i < lanes; i += lanes32) {
      const auto pattern = hn::PromoteTo(d32, hn::LoadU(hn::Rebind<std::uint8_t, U32>(), bins + i));
      std::uint32_t* const packed_response = response_map + x + i;
      hn::StoreU(hn::Or(hn::LoadU(d32, packed_response), hn::ShiftLeft<24>(pattern)), d32, packed_response);
    }
  }
  return x;
}

void add_patterns(GrayView image, int y_begin, int y_end, ImageView<std::uint32_t> response_map) {
  for (int y = y_begin; y < y_end; ++y) {
    const std::uint8_t* const row = image.row(y);
    const int x = add_to_row(hn::ScalableTag<std::uint8_t>(), row, image.stride(), 0, image.width(),
                             response_map.row(y));
    add_to_row(hn::CappedTag<std::uint8_t, 16>(), row, image.stride(), x, image.width(), response_map.row(y));
  }
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(add_patterns);

void add_patterns(GrayView image, int y_begin, int y_end, ImageView<std::uint32_t> response_map) {
  HWY_DYNAMIC_DISPATCH(add_patterns)(image, y_begin, y_end, response_map);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
