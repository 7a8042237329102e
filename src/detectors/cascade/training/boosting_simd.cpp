// Comparing cuts; `boosting.cpp` has the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/cascade/training/boosting_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "detectors/cascade/training/boosting.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::cascade::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void explained_by_cuts(const std::int32_t* weights, const std::int32_t* sums, double* explained) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const auto weight = hn::Set(d, weights[kBins - 1]), sum = hn::Set(d, sums[kBins - 1]);
  for (std::size_t i = 0; i < kBins; i += hn::Lanes(d)) {
    const auto lw = hn::PromoteTo(d, hn::LoadU(di, weights + i)),
               ls = hn::PromoteTo(d, hn::LoadU(di, sums + i));
    const auto rw = hn::Sub(weight, lw), rs = hn::Sub(sum, ls);
    const auto both = hn::Add(hn::Mul(hn::Mul(ls, ls), rw), hn::Mul(hn::Mul(rs, rs), lw));
    hn::StoreU(hn::Div(both, hn::Mul(lw, rw)), d, explained + i);
  }
}

}  // namespace sightline::cascade::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::cascade {
HWY_EXPORT(explained_by_cuts);

void explained_by_cuts(const std::int32_t* weights, const std::int32_t* sums, double* explained) {
  HWY_DYNAMIC_DISPATCH(explained_by_cuts)(weights, sums, explained);
}

}  // namespace sightline::cascade
#endif  // HWY_ONCE
