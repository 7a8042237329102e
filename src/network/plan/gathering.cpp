#include "network/plan/gathering.hpp"

#include <cstring>

namespace sightline::nn {

Gathering::Gathering(const Graph& graph, const Stored& stored, int tensor) : data_(graph.type(tensor).data) {
  const Shape& shape = graph.shape(tensor);
  if (elements_of(shape) == 0) return;
  // All elements are points, in row-major order.
  const Layout row_major{elements_of(shape), factored(shape, strides_of(shape)), false};
  stored.for_each_address(tensor, shape, row_major,
                          [&](std::int64_t to, std::int64_t /*channel*/, int source, std::int32_t address) {
                            add(source, address, to);
                          });
}

void Gathering::add(int tensor, std::int64_t from, std::int64_t to) {
  if (!rows_.empty()) {
    Row& last = rows_.back();
    const std::int64_t step = last.count == 1 ? from - last.from : last.step;
    if (last.tensor == tensor && to == last.to + last.count && from == last.from + last.count * step) {
      last.step = step;
      ++last.count;
      return;
    }
  }
  rows_.push_back({tensor, from, to, 1, 1});
}

void Gathering::copy(std::byte* const* tensors, std::byte* to) const {
  with_bytes(data_, [&]<typename T>() {
    for (const Row& row : rows_) {
      const T* const from = reinterpret_cast<const T*>(tensors[row.tensor]) + row.from;
      T* const target = reinterpret_cast<T*>(to) + row.to;
      if (row.step == 1) {
        std::memcpy(target, from, static_cast<std::size_t>(row.count) * sizeof(T));
      } else {
        for (std::int64_t i = 0; i < row.count; ++i) target[i] = from[i * row.step];
      }
    }
  });
}

}  // namespace sightline::nn
