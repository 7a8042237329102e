#pragma once
/// Copies of rows of pixels into memory for transfers.

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/parallel.hpp"

namespace sightline::opencl {

/// Copies `row_bytes` from `row(y)` for every y in [begin, end) to `to` + y * `to_stride`. Where they are
/// many, on all threads: one core copies slower than a bus to a device.
template <typename Row>
void copy_rows(std::size_t begin, std::size_t end, std::size_t row_bytes, const Row& row, std::byte* to,
               std::size_t to_stride) {
  constexpr std::size_t kManyBytes = std::size_t{256} << 10, kTaskBytes = kManyBytes / 2;
  const auto copy = [&](std::size_t from, std::size_t until) {
    for (std::size_t y = from; y < until; ++y)
      std::memcpy(to + y * to_stride, row(static_cast<int>(y)), row_bytes);
  };
  if ((end - begin) * row_bytes < kManyBytes) return copy(begin, end);
  const std::size_t rows = std::max<std::size_t>(kTaskBytes / row_bytes, 1);
  parallel_for_isolated((end - begin + rows - 1) / rows, [&](std::size_t task) {
    copy(begin + task * rows, std::min(begin + (task + 1) * rows, end));
  });
}

}  // namespace sightline::opencl
