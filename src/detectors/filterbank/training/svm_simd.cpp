// The two loops of the support vector machine's training in SIMD: 8-bit features, weights in single
// precision.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/filterbank/training/svm_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "detectors/filterbank/training/svm.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sixteen partial sums whatever the width of a vector, added up in one order: training gives the same model
// on every machine.
constexpr std::size_t kSums = 16;
using F32 = hn::CappedTag<float, kSums>;

HWY_INLINE hn::VFromD<F32> load_features(const std::uint8_t* features) {
  const hn::RebindToSigned<F32> di;
  return hn::ConvertTo(F32(), hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::uint8_t, F32>(), features)));
}

float dot(const std::uint8_t* features, const float* weights, std::size_t count) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN float sums[kSums] = {};
  for (std::size_t part = 0; part < kSums; part += lanes) {
    auto sum = hn::Zero(d);
    for (std::size_t i = part; i < count; i += kSums) {
      // Not fused, since some instruction sets cannot.
      sum = hn::Add(sum, hn::Mul(load_features(features + i), hn::LoadU(d, weights + i)));
    }
    hn::Store(sum, d, sums + part);
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

void add_multiple(float factor, const std::uint8_t* features, std::size_t count, float* weights) {
  const F32 d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto product = hn::Mul(hn::Set(d, factor), load_features(features + i));
    hn::StoreU(hn::Add(hn::LoadU(d, weights + i), product), d, weights + i);
  }
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank::svm {
HWY_EXPORT(dot);
HWY_EXPORT(add_multiple);

float dot(const std::uint8_t* features, const float* weights, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(dot)(features, weights, count);
}
void add_multiple(float factor, const std::uint8_t* features, std::size_t count, float* weights) {
  HWY_DYNAMIC_DISPATCH(add_multiple)(factor, features, count, weights);
}
}  // namespace sightline::filterbank::svm
#endif  // HWY_ONCE
