// Rows of convolutions of planes, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/planes_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>

#include "network/cpu/epilogue_simd.hpp"
#include "network/cpu/planes.hpp"
#include "network/cpu/rest_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

// Vectors of points of a tile with `outputs` outputs: as many sums as registers hold, twice that with
// AVX-512.
constexpr int most_vectors(int outputs) {
  const int vectors = outputs <= 2 ? 4 : outputs == 4 ? 2 : 1;
  return kVectors == 1 ? std::min(2 * vectors, 8) : vectors;
}

// V vectors of points from `first` on, for O outputs from `output` on. The last one has `rest` points.
template <int O, int V>
void planes_tile(const PlanesRow& row, int output, int first, int rest) {
  const Floats d;
  Vector sums[O][V];
#pragma GCC unroll 8
  for (int o = 0; o < O; ++o) {
    const Vector bias = constant(row.bias ? row.bias[output + o] : 0.0F);
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sums[o][v] = bias;
  }
  const float* weights = row.weights + output;
  const float* const* taps = row.taps;
  for (int ky = 0; ky < row.kernel_rows; ++ky, taps += row.inputs) {
    for (int kx = 0; kx < row.kernel_columns; ++kx) {
      const std::ptrdiff_t offset = kx * row.column_step + first;
      for (int c = 0; c < row.inputs; ++c, weights += row.outputs) {
        const float* const in = taps[c] + offset;
        Vector x[V];
#pragma GCC unroll 8
        for (int v = 0; v < V - 1; ++v) x[v] = hn::LoadU(d, in + v * kLanes);
        x[V - 1] = load_first(in + (V - 1) * kLanes, rest);
#pragma GCC unroll 8
        for (int o = 0; o < O; ++o) {
          const Vector w = constant(weights[o]);
#pragma GCC unroll 8
          for (int v = 0; v < V; ++v) sums[o][v] = hn::MulAdd(x[v], w, sums[o][v]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < O; ++o) {
    float* const out = row.out[output + o] + first;
#pragma GCC unroll 8
    for (int v = 0; v < V - 1; ++v) hn::StoreU(sums[o][v], d, out + v * kLanes);
    store_first(sums[o][V - 1], out + (V - 1) * kLanes, rest);
  }
}

// All points of O outputs, in tiles of V vectors, and smaller ones for the rest.
template <int O, int V>
void planes_outputs(const PlanesRow& row, int output, int first = 0) {
  for (; row.width - first > (V - 1) * kLanes; first += V * kLanes)
    planes_tile<O, V>(row, output, first, std::min(row.width - first - (V - 1) * kLanes, kLanes));
  if constexpr (V > 1) {
    if (first < row.width) planes_outputs<O, V / 2>(row, output, first);
  }
}

void convolve_all_planes(const PlanesRow& row) {
  int output = 0;
  for (; output + 8 <= row.outputs; output += 8) planes_outputs<8, most_vectors(8)>(row, output);
  for (; output + 4 <= row.outputs; output += 4) planes_outputs<4, most_vectors(4)>(row, output);
  for (; output + 2 <= row.outputs; output += 2) planes_outputs<2, most_vectors(2)>(row, output);
  for (; output < row.outputs; ++output) planes_outputs<1, most_vectors(1)>(row, output);
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(convolve_all_planes);

void convolve_planes(const PlanesRow& row) {
  HWY_DYNAMIC_DISPATCH(convolve_all_planes)(row);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
