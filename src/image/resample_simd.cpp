// The SIMD form of exact bilinear resampling; `resample.cpp` holds the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/resample_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>

#include "image/resample.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::FixedTag<std::uint8_t, 16>;
using D16 = hn::FixedTag<std::uint16_t, 8>;
using V16 = hn::Vec<D16>;

// Eight samples of one row, 16 bits each: exact.
HWY_INLINE V16 sample(const std::uint8_t* row, const SamplePlan::Group& group) {
  const D8 d8;
  const D16 d16;
  const auto low = hn::LoadU(d8, row + group.base[0]);
  const auto high = hn::LoadU(d8, row + group.base[1]);
  const auto spread = [&](const std::uint8_t(&tables)[2][16]) HWY_ATTR {
    return hn::BitCast(d16, hn::Or(hn::TableLookupBytesOr0(low, hn::LoadU(d8, tables[0])),
                                   hn::TableLookupBytesOr0(high, hn::LoadU(d8, tables[1]))));
  };
  return hn::Add(hn::Mul(spread(group.left), hn::LoadU(d16, group.left_weight)),
                 hn::Mul(spread(group.right), hn::LoadU(d16, group.right_weight)));
}

// (a u + b v + 2^15) >> 16, exact, with nothing wider than 16 bits: the halves of the products, and the carry
// of the lower ones.
HWY_INLINE V16 mix(V16 a, V16 u, V16 b, V16 v) {
  const D16 d16;
  const V16 low_a = hn::Mul(a, u);
  const V16 low_b = hn::Mul(b, v);
  const V16 odd = hn::And(hn::Xor(low_a, low_b), hn::Set(d16, 1));
  const V16 half = hn::Sub(hn::AverageRound(low_a, low_b), odd);  // half the lower parts' sum, rounded down
  const V16 carry = hn::ShiftRight<1>(hn::Add(hn::ShiftRight<14>(half), hn::Set(d16, 1)));
  return hn::Add(hn::Add(hn::MulHigh(a, u), hn::MulHigh(b, v)), carry);
}

void resample_groups(const std::uint8_t* upper, const std::uint8_t* lower, int weight,
                     const SamplePlan::Group* groups, std::size_t count, std::uint8_t* target) {
  const D16 d16;
  const hn::RebindToSigned<D16> di16;
  const hn::FixedTag<std::uint8_t, 8> d_out;
  const V16 upper_weight = hn::Set(d16, static_cast<std::uint16_t>(kSampleOne - weight));
  const V16 lower_weight = hn::Set(d16, static_cast<std::uint16_t>(weight));
  for (std::size_t g = 0; g < count; ++g) {
    const V16 mixed = mix(sample(upper, groups[g]), upper_weight, sample(lower, groups[g]), lower_weight);
    hn::StoreU(hn::DemoteTo(d_out, hn::BitCast(di16, mixed)), d_out, target + 8 * g);
  }
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(resample_groups);

void resample_rows(GrayView source, const SamplePlan& plan, int y_begin, int y_end,
                   ImageView<std::uint8_t> target) {
  const int done = static_cast<int>(plan.groups.size()) * 8;
  for (int y = y_begin; y < y_end; ++y) {
    if (plan.is_copy) {
      std::copy_n(source.row(y), target.width(), target.row(y));
      continue;
    }
    const std::uint8_t* const upper = source.row(plan.rows.first[y]);
    const std::uint8_t* const lower = source.row(plan.rows.second[y]);
    const int weight = plan.rows.weight[y];
    HWY_DYNAMIC_DISPATCH(resample_groups)
    (upper, lower, weight, plan.groups.data(), plan.groups.size(), target.row(y));
    for (int x = done; x < target.width(); ++x)
      target.at(x, y) = sample_between(upper, lower, weight, plan.columns, x);
  }
}

}  // namespace sightline
#endif  // HWY_ONCE
