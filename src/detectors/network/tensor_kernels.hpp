#pragma once
/// Kernels on plain tensors, SIMD, dispatched at run time, and the nodes that they run. They give the same
/// bits as the scalar operators on processors with fused multiply-adds.

#include <cstdint>
#include <span>

#include "detectors/network/grid_sample.hpp"
#include "detectors/network/kernels.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {

/// Sums of products: row i, column j of `out` is the chain over k of a[i, k] * b[k, j], from its value on.
/// Rows of b and of out are contiguous.
struct MatrixProduct {
  const float* a = nullptr;
  std::int64_t a_row = 0, a_column = 1;  ///< floats from one to the next
  const float* b = nullptr;
  std::int64_t b_row = 0;
  float* out = nullptr;
  std::int64_t rows = 0, depth = 0, columns = 0;
};
void multiply_matrices(const MatrixProduct& product);

/// Rows along an axis: each of `count` numbers that are `step` floats apart. Each of `blocks`, which follow
/// each other, has `step` rows side by side.
struct AxisRows {
  std::int64_t blocks = 1, count = 1, step = 1;
};
/// The sum of each row, by tree_sum's order.
void sum_rows(const AxisRows& rows, const float* from, float* to);
/// Softmax of each row.
void softmax_rows(const AxisRows& rows, const float* from, float* to);

void exponential_run(const float* from, std::int64_t count, float* to);

/// out[i] = a op b; a step of 0 repeats one value, and 1 is the only other one. `out` may be a or b.
void binary_run(char op, const float* a, std::int64_t a_step, const float* b, std::int64_t b_step,
                std::int64_t count, float* out);

/// to[j, i] = from[i, j].
/// @param from_row  floats from row to row; rows of `to` have to_row
void transpose_matrix(const float* from, std::int64_t from_row, float* to, std::int64_t to_row,
                      std::int64_t rows, std::int64_t columns);

/// Bilinear samples of a plane.
void mix_samples(std::span<const Sample> samples, const float* plane, float* out);

/// Runs a node on tensors by these kernels. Returns false, without having done anything, where it has none.
bool run_by_kernels(const Call& call, std::span<Tensor> outputs);

}  // namespace sightline::network
