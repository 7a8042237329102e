// The SIMD form of the pixels' local binary patterns, added to their responses.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/filterbank/patterns_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "detectors/filterbank/kernels.hpp"
#include "image/lbp_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U32 = hn::ScalableTag<std::uint32_t>;
using sightline::HWY_NAMESPACE::lbp_codes;
using sightline::HWY_NAMESPACE::uniform_lbp;

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
    hn::Store(uniform_lbp(d, lbp_codes(d, row + x, stride)), d, bins);
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
