#pragma once
/// Products of matrices in row-major order, SIMD, dispatched at run time, for processors with fused
/// multiply-adds. Products whose rows are tiles of points in blocks are rows of product.hpp.

#include <cstdint>

#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// Sums of products: row i, column j of `out` is the chain over k of a[i, k] * b[k, j], from its value on.
/// Rows of b and of out are contiguous. Pointers need no alignment.
struct MatrixProduct {
  const float* a = nullptr;
  std::int64_t a_row = 0, a_column = 1;  ///< floats from one to the next
  const float* b = nullptr;
  std::int64_t b_row = 0;
  float* out = nullptr;
  std::int64_t rows = 0, depth = 0, columns = 0;
};
void multiply_matrices(const MatrixProduct& product);

/// As Product::evaluate, with the same bits.
void multiply_tensors(Inputs inputs, Outputs outputs);

}  // namespace sightline::nn
