// The matrix product of a projection in SIMD. Values may be as large as 255, of which two products would not
// fit the 16 bits that byte-wise multiplication has for them, so both are widened to 16 bits; it waits for
// memory anyway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "faces/recognition/projection_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "faces/recognition/projection_sums.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::recognition::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Values = hn::CappedTag<std::int16_t, 32>;
using Words = hn::RepartitionToWide<Values>;

// Sums of kRows rows of weights at once, which share the loaded values.
template <int kRows>
HWY_INLINE void sum_rows(const std::int16_t* values, const std::int8_t* weights, std::size_t count,
                         std::int32_t* sums) {
  const Values d;
  const Words dw;
  const hn::Rebind<std::int8_t, Values> d8;
  hn::VFromD<Words> total[kRows], rest[kRows];
  for (int r = 0; r < kRows; ++r) total[r] = rest[r] = hn::Zero(dw);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto value = hn::Load(d, values + i);
    for (int r = 0; r < kRows; ++r) {
      const auto weight = hn::PromoteTo(d, hn::Load(d8, weights + static_cast<std::size_t>(r) * count + i));
      total[r] = hn::ReorderWidenMulAccumulate(dw, value, weight, total[r], rest[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) sums[r] = hn::GetLane(hn::SumOfLanes(dw, hn::Add(total[r], rest[r])));
}

void sum_all(const std::int16_t* values, const std::int8_t* weights, std::size_t count, int dims,
             std::int32_t* sums) {
  constexpr int kRows = 4;
  int d = 0;
  for (; d + kRows <= dims; d += kRows)
    sum_rows<kRows>(values, weights + static_cast<std::size_t>(d) * count, count, sums + d);
  for (; d < dims; ++d) sum_rows<1>(values, weights + static_cast<std::size_t>(d) * count, count, sums + d);
}

}  // namespace sightline::recognition::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::recognition {
HWY_EXPORT(sum_all);

void weighted_sums(const std::int16_t* values, const std::int8_t* weights, std::size_t count, int dims,
                   std::int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(sum_all)(values, weights, count, dims, sums);
}
}  // namespace sightline::recognition
#endif  // HWY_ONCE
