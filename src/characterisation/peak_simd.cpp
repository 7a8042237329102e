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
double multiply_adds(int rounds, float* sink) {
  const hn::ScalableTag<float> d;
  hn::VFromD<decltype(d)> sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = hn::Set(d, sink[0] + static_cast<float>(i));
  const auto a = hn::Set(d, 0.999F + sink[1]);
  const auto b = hn::Set(d, 0.001F);
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < kChains; ++i) sum[i] = hn::MulAdd(sum[i], a, b);
  }
  for (int i = 0; i < kChains; ++i) sink[0] += hn::GetLane(sum[i]);
  return static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(d));
}

double dot_products(int rounds, float* sink) {
#if SIGHTLINE_VNNI
  const hn::ScalableTag<std::int32_t> d;
  hn::VFromD<decltype(d)> sum[kChains];
  for (int i = 0; i < kChains; ++i) sum[i] = hn::Set(d, i);
  const auto a = hn::Set(d, 0x01020304 + static_cast<int>(sink[1]));
  const auto b = hn::Set(d, 0x01FF01FF);
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < kChains; ++i) sum[i].raw = _mm512_dpbusd_epi32(sum[i].raw, a.raw, b.raw);
  }
  for (int i = 0; i < kChains; ++i) sink[0] += static_cast<float>(hn::GetLane(sum[i]));
  return static_cast<double>(rounds) * kChains * 4 * static_cast<double>(hn::Lanes(d));
#else
  static_cast<void>(rounds);
  static_cast<void>(sink);
  return 0;
#endif
}

}  // namespace sightline::characterisation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace sightline::characterisation {
HWY_EXPORT(multiply_adds);
HWY_EXPORT(dot_products);

namespace {
template <typename Work>
double best_rate(const Work& work) {
  float sink[2] = {0, 0};
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double operations = work(1'000'000, sink);
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
  return best_rate([](int rounds, float* sink) { return HWY_DYNAMIC_DISPATCH(multiply_adds)(rounds, sink); });
}

double peak_dot_products() {
  return best_rate([](int rounds, float* sink) { return HWY_DYNAMIC_DISPATCH(dot_products)(rounds, sink); });
}
}  // namespace sightline::characterisation
#endif  // HWY_ONCE
