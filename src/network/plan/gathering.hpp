#pragma once
/// Copies of tensors, through views and from any storage, in row-major order.

#include <cstdint>
#include <vector>

#include "network/cpu/work.hpp"
#include "network/plan/operand.hpp"

namespace sightline::nn {

/// A tensor as rows of elements that lie one step apart in stored tensors.
class Gathering {
 public:
  Gathering(const Graph& graph, const Stored& stored, int tensor);

  /// Pieces of about equal size, which threads may copy at the same time.
  int pieces() const { return static_cast<int>(ends_.size()); }
  /// Writes a piece's elements to the tensor at `to`. @param tensors  memory of stored tensors, by tensor
  void copy_piece(int piece, std::byte* const* tensors, std::byte* to) const;
  /// Writes all elements.
  void copy(std::byte* const* tensors, std::byte* to) const;

 private:
  struct Row {
    int tensor;
    std::int64_t from, to;  ///< elements
    std::int64_t count, step;
  };
  void add_run(const Stored& stored, const Run& run, const Strides& to_strides, std::int64_t to);
  void add(const Row& row);
  void copy_rows(std::size_t begin, std::size_t end, std::byte* const* tensors, std::byte* to) const;

  DataType data_;
  std::vector<Row> rows_;
  std::vector<std::size_t> ends_;  ///< one past the last row, by piece
};

}  // namespace sightline::nn
