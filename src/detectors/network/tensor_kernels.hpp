#pragma once
/// Kernels on plain tensors, SIMD, dispatched at run time, and the nodes that they run. They give the same
/// bits as the scalar operators on processors with fused multiply-adds.

#include <cstdint>
#include <span>

#include "detectors/network/grid_sample.hpp"
#include "detectors/network/kernels.hpp"
#include "detectors/network/operators.hpp"
#include "network/cpu/matrix.hpp"
#include "network/cpu/move.hpp"

namespace sightline::network {

using nn::MatrixProduct;
using nn::multiply_matrices;

/// Rows along an axis, from number `first` on and before number `last`: each of `count` numbers that are
/// `step` floats apart. `step` rows begin side by side, and the next ones behind them.
struct AxisRows {
  std::int64_t count = 1, step = 1, first = 0, last = 0;
};
/// The sum of each row, by tree_sum's order: to[r] is that of row r.
void sum_rows(const AxisRows& rows, const float* from, float* to);
/// Softmax of each row.
void softmax_rows(const AxisRows& rows, const float* from, float* to);

void exponential_run(const float* from, std::int64_t count, float* to);

/// out[i] = a op b; a step of 0 repeats one value, and 1 is the only other one. `out` may be a or b.
void binary_run(char op, const float* a, std::int64_t a_step, const float* b, std::int64_t b_step,
                std::int64_t count, float* out);

using nn::transpose_matrix;

/// One of the parts of a node's work, which threads share.
struct Part {
  std::int64_t number = 0, count = 1;
  /// The first and the last one past of `all` rows that belong to the part.
  std::int64_t begin(std::int64_t all) const { return cut(all, number); }
  std::int64_t end(std::int64_t all) const { return cut(all, number + 1); }

 private:
  std::int64_t cut(std::int64_t all, std::int64_t at) const {
    constexpr std::int64_t kTogether = 48;  // a multiple of what kernels do at once
    return at == count ? all : all * at / count / kTogether * kTogether;
  }
};
/// Parts in which the kernel of a node with one output computes it. The types of its inputs are known.
std::int64_t parts_of(const Call& call, const TensorType& output);

/// Runs a node, or the part of it, on tensors by these kernels. Returns false, without having done anything,
/// where it has none.
/// @param part  one of as many as parts_of says, or the whole
bool run_by_kernels(const Call& call, std::span<Tensor> outputs, Part part = {});

}  // namespace sightline::network
