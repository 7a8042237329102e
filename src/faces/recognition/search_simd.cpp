// Distances of a block of templates in SIMD: templates lie in lanes, and their sums in registers while the
// pass goes over the dimensions.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "faces/recognition/search_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <hwy/cache_control.h>
#include <algorithm>

#include "faces/recognition/search_kernels.hpp"

HWY_BEFORE_NAMESPACE();
#include "base/dot4.hpp"
namespace sightline::recognition::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using sightline::HWY_NAMESPACE::dot4_signed;

using I32 = sightline::HWY_NAMESPACE::Words;
using U32 = hn::RebindToUnsigned<I32>;
using F32 = hn::RebindToFloat<I32>;
using VI32 = hn::VFromD<I32>;
using VF32 = hn::VFromD<F32>;

// Templates whose sums are kept in registers.
constexpr std::ptrdiff_t kBlock = TemplateSet::kBlock;
constexpr std::ptrdiff_t kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(I32()));
constexpr std::ptrdiff_t kVectors = std::min<std::ptrdiff_t>(8, kBlock / kLanes);
constexpr std::ptrdiff_t kAtOnce = kVectors * kLanes;
// Rows of a query's dimensions are not one after the other, and there is little to do for each: rows ahead
// that are fetched.
constexpr std::size_t kAhead = 24;

// Adds weight * (sum - offset) to sums.
HWY_INLINE void add_run(const VI32 (&sum)[kVectors], std::uint32_t offset, std::uint32_t weight,
                        std::uint32_t* sums) {
  const U32 d;
  for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
    const auto rest = hn::Sub(hn::BitCast(d, sum[v]), hn::Set(d, offset));
    const auto all = hn::Add(hn::LoadU(d, sums + v * kLanes), hn::Mul(rest, hn::Set(d, weight)));
    hn::StoreU(all, d, sums + v * kLanes);
  }
}

// 1.5 * 2^23: adding a number rounds it to an integer in the lower bits of the sum.
constexpr float kRound = 12582912.0F;
constexpr std::uint32_t kRoundBits = 0x4B400000;

// In the lower bits, 16 a^2 / sum to the nearest integer, halves up. `numerator` is 16 a^2 + kUp or kSmallUp
// (QueryPlan), exact for bytes. Quotients of integers by `sum` lie in the middle between two integers or at
// least 1 / (2 sum) from it: kUp / sum moves those in the middle up and none across, and so do, in spite of
// their errors, quotients that are off by less than the smaller of kUp / sum and (1/2 - kUp) / sum, which is
//   by Newton's step   16 * 255^2 * 2^-21.9 = 0.27 at most below and 0.13 above (the step errs to below)
//   by division        16 * 255^2 * 2^-24 = 0.07
//   of small counts    16 * 6^2 * 1.5 * 2^-12 = 0.22: a reciprocal as it is
template <bool kSmall>
HWY_INLINE VF32 rounded_quotient(VF32 numerator, VF32 sum) {
  const F32 d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  // Good to 1.5 * 2^-12. Fused operations.
  const VF32 near = hn::ApproximateReciprocal(sum);
  if constexpr (kSmall) return hn::MulAdd(numerator, near, hn::Set(d, kRound));
  return hn::MulAdd(hn::Mul(numerator, near), hn::NegMulAdd(sum, near, hn::Set(d, 2.0F)), hn::Set(d, kRound));
#else
  return hn::Add(hn::Div(numerator, sum), hn::Set(d, kRound));
#endif
}

// Adds dimensions [begin, end) of the plan.
template <bool kSmall>
HWY_INLINE void add_rests8_of(const std::uint8_t* block, const QueryPlan& plan, std::size_t begin,
                              const QueryPlan::Run& run, std::uint32_t* sums) {
  const I32 d;
  const F32 df;
  const hn::Rebind<std::uint8_t, I32> d8;
  VI32 sum[kVectors];
  for (VI32& s : sum) s = hn::Zero(d);
  for (std::size_t i = begin; i < run.end; ++i) {
    const std::uint8_t* row = block + plan.active[i].dim * kBlock;
    const VF32 value = hn::Set(df, plan.active[i].value);
    const VF32 numerator = hn::Set(df, plan.active[i].numerator);
    hwy::Prefetch(block + plan.active[std::min(i + kAhead, plan.active.size() - 1)].dim * kBlock);
    for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
      const VF32 b = hn::ConvertTo(df, hn::PromoteTo(d, hn::LoadU(d8, row + v * kLanes)));
      sum[v] = hn::Add(sum[v], hn::BitCast(d, rounded_quotient<kSmall>(numerator, hn::Add(b, value))));
    }
  }
  add_run(sum, static_cast<std::uint32_t>(run.end - begin) * kRoundBits, run.weight, sums);
}

HWY_INLINE void add_rests8_at(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  std::size_t begin = 0;
  for (const QueryPlan::Run& run : plan.runs) {
    if (run.small) {
      add_rests8_of<true>(block, plan, begin, run, sums);
    } else {
      add_rests8_of<false>(block, plan, begin, run, sums);
    }
    begin = run.end;
  }
}

// 16 a^2 / (a + b) of larger counts passes the integers that floats have: what the quotient of floats, off by
// little more than a half, leaves of `numerator` says whether to go one up or down.
HWY_INLINE void add_rests16_at(const std::uint16_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  const I32 d;
  const F32 df;
  const hn::Rebind<std::uint16_t, I32> d16;
  const VI32 one = hn::Set(d, 1);
  std::size_t i = 0;
  for (const QueryPlan::Run& run : plan.runs) {
    VI32 sum[kVectors];
    for (VI32& s : sum) s = hn::Zero(d);
    for (; i < run.end; ++i) {
      const std::uint16_t* row = block + plan.active[i].dim * kBlock;
      const std::int32_t a = plan.active[i].count;
      const VI32 numerator = hn::Set(d, 16 * a * a);
      for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
        const VI32 divisor = hn::Add(hn::PromoteTo(d, hn::LoadU(d16, row + v * kLanes)), hn::Set(d, a));
        const VI32 near = hn::NearestInt(hn::Div(hn::ConvertTo(df, numerator), hn::ConvertTo(df, divisor)));
        const VI32 left = hn::ShiftLeft<1>(hn::Sub(numerator, hn::Mul(near, divisor)));
        const VI32 up = hn::IfThenZeroElse(hn::Gt(divisor, left), one);
        const VI32 down = hn::IfThenElseZero(hn::Gt(hn::Neg(divisor), left), one);
        sum[v] = hn::Add(sum[v], hn::Sub(hn::Add(near, up), down));
      }
    }
    add_run(sum, 0, run.weight, sums);
  }
}

HWY_INLINE void add_products_at(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  const I32 d;
  const hn::Repartition<std::uint8_t, I32> d8;
  VI32 sum[kVectors];
  for (VI32& s : sum) s = hn::Zero(d);
  const std::uint8_t* row = block;
  for (const std::int32_t word : plan.words) {
    const VI32 weights = hn::Set(d, word);
    for (std::ptrdiff_t v = 0; v < kVectors; ++v)
      sum[v] = dot4_signed(hn::BitCast(d, hn::LoadU(d8, row + v * kLanes * 4)), weights, sum[v]);
    row += kBlock * 4;
  }
  add_run(sum, 0, 1, sums);
}

void add_rests8(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  for (std::ptrdiff_t at = 0; at < kBlock; at += kAtOnce) add_rests8_at(block + at, plan, sums + at);
}

void add_rests16(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  const auto* counts = reinterpret_cast<const std::uint16_t*>(block);
  for (std::ptrdiff_t at = 0; at < kBlock; at += kAtOnce) add_rests16_at(counts + at, plan, sums + at);
}

void add_products(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  for (std::ptrdiff_t at = 0; at < kBlock; at += kAtOnce) add_products_at(block + at * 4, plan, sums + at);
}

}  // namespace sightline::recognition::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::recognition {
HWY_EXPORT(add_rests8);
HWY_EXPORT(add_rests16);
HWY_EXPORT(add_products);

void add_rests8(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(add_rests8)(block, plan, sums);
}
void add_rests16(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(add_rests16)(block, plan, sums);
}
void add_products(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(add_products)(block, plan, sums);
}
}  // namespace sightline::recognition
#endif  // HWY_ONCE
