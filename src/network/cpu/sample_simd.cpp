// Mixes and copies of points, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/sample_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <cmath>
#include <cstring>

#include "network/cpu/rest_simd.hpp"
#include "network/cpu/sample.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

// a + (b - a) * weight, as Resample mixes
HWY_INLINE Vector mixed(Vector a, Vector b, Vector weight) {
  return fused(hn::Sub(b, a), weight, a);
}
float mixed(float a, float b, float weight) {
  return std::fma(b - a, weight, a);
}

void resample(const ResampledRow& given) {
  const Floats d;
  const ResampledRow row = given;  // in registers: stores may change what `given` refers to
  if (row.lanes == 1) {
    for (int x = 0; x < row.width; ++x) {
      const auto in_row = [&](const float* from) {
        return mixed(from[row.first[x]], from[row.second[x]], row.weights[x]);
      };
      row.out[x] = mixed(in_row(row.upper), in_row(row.lower), row.weight);
    }
    return;
  }
  const float *const upper = row.upper, *const lower = row.lower;
  const Vector below = constant(row.weight);
  for (int x = 0; x < row.width; ++x) {
    const std::ptrdiff_t left = row.first[x] * kBlock, right = row.second[x] * kBlock;
    const Vector weight = constant(row.weights[x]);
#pragma GCC unroll 4
    for (int lane = 0; lane < kBlock; lane += kLanes) {
      const auto in_row = [&](const float* from) HWY_ATTR {
        return mixed(hn::LoadU(d, from + left + lane), hn::LoadU(d, from + right + lane), weight);
      };
      hn::StoreU(mixed(in_row(upper), in_row(lower), below), d, row.out + x * kBlock + lane);
    }
  }
}

void pick(const float* row, std::span<const std::int32_t> places, int lanes, float filling, float* out) {
  const Floats d;
  if (lanes == 1) {
    for (const std::int32_t place : places) *out++ = place < 0 ? filling : row[place];
    return;
  }
  const Vector fill = constant(filling);
  for (const std::int32_t place : places) {
#pragma GCC unroll 4
    for (int lane = 0; lane < kBlock; lane += kLanes, out += kLanes)
      hn::StoreU(place < 0 ? fill : hn::LoadU(d, row + place * kBlock + lane), d, out);
  }
}

void find(const GridSample& how, const SampledMap& map, const float* columns, const float* rows,
          std::ptrdiff_t step, std::span<Sample> samples) {
  for (Sample& sample : samples) {
    const float place[] = {*columns, *rows};
    sample = sample_at(how, place, map);
    columns += step;
    rows += step;
  }
}

void mix_plane(const float* map, std::span<const Sample> samples, bool nearest, float* out) {
  for (const Sample& sample : samples) {
    const auto value = [&](std::size_t k) { return sample.offset[k] < 0 ? 0.0F : map[sample.offset[k]]; };
    float all = nearest ? value(0) : sample.weight[0] * value(0);
    for (std::size_t k = 1; k < 4 && !nearest; ++k) all = std::fma(sample.weight[k], value(k), all);
    *out++ = all;
  }
}

void mix(const float* map, std::span<const Sample> samples, int lanes, bool nearest, float* out) {
  const Floats d;
  if (lanes == 1) return mix_plane(map, samples, nearest, out);
  static constexpr float kOutside[kBlock] = {};
  for (const Sample& sample : samples) {
    const auto point = [&](std::size_t k) {
      return sample.offset[k] < 0 ? kOutside : map + sample.offset[k];
    };
    const float* const points[4] = {point(0), point(1), point(2), point(3)};
#pragma GCC unroll 4
    for (int lane = 0; lane < kBlock; lane += kLanes, out += kLanes) {
      Vector all = hn::LoadU(d, points[0] + lane);
      if (!nearest) {
        all = hn::Mul(constant(sample.weight[0]), all);
#pragma GCC unroll 4
        for (std::size_t k = 1; k < 4; ++k)
          all = fused(constant(sample.weight[k]), hn::LoadU(d, points[k] + lane), all);
      }
      hn::StoreU(all, d, out);
    }
  }
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(resample);
HWY_EXPORT(pick);
HWY_EXPORT(find);
HWY_EXPORT(mix);

void resample_row(const ResampledRow& row) {
  HWY_DYNAMIC_DISPATCH(resample)(row);
}
void pick_points(const float* row, std::span<const std::int32_t> places, int lanes, float filling,
                 float* out) {
  HWY_DYNAMIC_DISPATCH(pick)(row, places, lanes, filling, out);
}
void find_samples(const GridSample& how, const SampledMap& map, const float* columns, const float* rows,
                  std::ptrdiff_t step, std::span<Sample> samples) {
  HWY_DYNAMIC_DISPATCH(find)(how, map, columns, rows, step, samples);
}
void mix_samples(const float* map, std::span<const Sample> samples, int lanes, bool nearest, float* out) {
  HWY_DYNAMIC_DISPATCH(mix)(map, samples, lanes, nearest, out);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
