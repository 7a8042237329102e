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

  /// Writes the elements to `to`. @param tensors  memory of stored tensors, by tensor
  void copy(std::byte* const* tensors, std::byte* to) const;

 private:
  struct Row {
    int tensor;
    std::int64_t from, to;  ///< elements
    std::int64_t count, step;
  };
  void add(int tensor, std::int64_t from, std::int64_t to);

  DataType data_;
  std::vector<Row> rows_;
};

}  // namespace sightline::nn
