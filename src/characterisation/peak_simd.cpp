#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "characterisation/peak_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <chrono>
#include <cstdint>

#include "characterisation/peak.hpp"

HWY_BEFORE_NAMESPACE();
#include "base/vnni_target.hpp"
namespace sightline::characterisation::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kChains = 12;  // latency times throughput, with room

// Returns operations done; `sink` keeps the results alive.
template <typename D, typename Step>
HWY_INLINE double chains(D d, int rounds, float* sink, const Step& step) {
  using T = hn::TFromD<D>;
  hn::VFromD<D> sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = hn::Set(d, static_cast<T>(sink[1]) + static_cast<T>(i));
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < kChains; ++i) sum[i] = step(sum[i]);
  }
  for (int i = 0; i < kChains; ++i) sink[0] += static_cast<float>(hn::GetLane(sum[i]));
  return static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(d));
}

double multiply_adds(int rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999F + sink[1]);
  const auto b = hn::Set(d, 0.001F);
  return chains(d, rounds, sink, [&](auto x) HWY_ATTR { return hn::MulAdd(x, a, b); });
}

double double_multiply_adds(int rounds, float* sink) {
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const auto a = hn::Set(d, 0.999 + static_cast<double>(sink[1]));
  const auto b = hn::Set(d, 0.001);
  return chains(d, rounds, sink, [&](auto x) HWY_ATTR { return hn::MulAdd(x, a, b); });
#else
  static_cast<void>(rounds);
  static_cast<void>(sink);
  return 0;
#endif
}

double whole_multiply_adds(int rounds, float* sink) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto a = hn::Set(d, 3 + static_cast<std::uint32_t>(sink[1]));
  const auto b = hn::Set(d, 7);
  return chains(d, rounds, sink, [&](auto x) HWY_ATTR { return hn::Add(hn::Mul(x, a), b); });
}

double dot_products(int rounds, float* sink) {
#if SIGHTLINE_VNNI
  const hn::ScalableTag<std::int32_t> d;
  const auto a = hn::Set(d, 0x01020304 + static_cast<int>(sink[1]));
  const auto b = hn::Set(d, 0x01FF01FF);
  return 4 * chains(d, rounds, sink, [&](auto x) HWY_ATTR {
           x.raw = _mm512_dpbusd_epi32(x.raw, a.raw, b.raw);
           return x;
         });
#else
  static_cast<void>(rounds);
  static_cast<void>(sink);
  return 0;
#endif
}

// Vectors of an array that stays in the nearest cache, again and again; returns bytes read.
double cached_reads(int rounds, float* sink) {
  const hn::ScalableTag<std::uint32_t> d;
  constexpr std::size_t kWords = 2048;
  HWY_ALIGN std::uint32_t array[kWords];
  for (std::size_t i = 0; i < kWords; ++i)
    array[i] = static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(sink[1]);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  const std::size_t lanes = hn::Lanes(d);
  for (int r = 0; r < rounds; ++r) {
    asm volatile("" : : "r"(&array[0]) : "memory");  // it may have changed: read it again
    for (std::size_t i = 0; i < kWords; i += 4 * lanes) {
      s0 = hn::Add(s0, hn::Load(d, array + i));
      s1 = hn::Add(s1, hn::Load(d, array + i + lanes));
      s2 = hn::Add(s2, hn::Load(d, array + i + 2 * lanes));
      s3 = hn::Add(s3, hn::Load(d, array + i + 3 * lanes));
    }
  }
  sink[0] += static_cast<float>(hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  return static_cast<double>(rounds) * kWords * 4;
}

}  // namespace sightline::characterisation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace sightline::characterisation {
HWY_EXPORT(multiply_adds);
HWY_EXPORT(double_multiply_adds);
HWY_EXPORT(whole_multiply_adds);
HWY_EXPORT(dot_products);
HWY_EXPORT(cached_reads);

double run_peak(PeakWork work, int rounds, float* sink) {
  switch (work) {
    case PeakWork::float_numbers:
      return HWY_DYNAMIC_DISPATCH(multiply_adds)(rounds, sink);
    case PeakWork::double_numbers:
      return HWY_DYNAMIC_DISPATCH(double_multiply_adds)(rounds, sink);
    case PeakWork::whole_numbers:
      return HWY_DYNAMIC_DISPATCH(whole_multiply_adds)(rounds, sink);
    case PeakWork::bytes:
      return HWY_DYNAMIC_DISPATCH(dot_products)(rounds, sink);
    case PeakWork::cached_reads:
      return HWY_DYNAMIC_DISPATCH(cached_reads)(rounds, sink);
  }
  return 0;
}

namespace {
double best_rate(PeakWork work) {
  float sink[2] = {0, 0};
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double operations = run_peak(work, 1'000'000, sink);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::max(best, operations / elapsed.count());
    if (operations == 0) break;
  }
  volatile float keep = sink[0];
  static_cast<void>(keep);
  return best;
}
}  // namespace

double peak_multiply_adds() {
  return best_rate(PeakWork::float_numbers);
}

double peak_dot_products() {
  return best_rate(PeakWork::bytes);
}
}  // namespace sightline::characterisation
#endif  // HWY_ONCE
