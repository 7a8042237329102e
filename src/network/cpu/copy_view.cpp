#include <cstring>
#include <vector>

#include "network/cpu/move.hpp"

namespace sightline::nn {
namespace {

// Places that lie `from` and `to` elements apart.
struct Loop {
  std::int64_t size = 1, from = 0, to = 0;
};

// The loops over a view, outermost first, as few as possible.
std::vector<Loop> loops_of(const FactoredAxes& axes, const Strides& to_strides) {
  std::vector<Loop> loops;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    std::int64_t to = to_strides[axis] * side_of(axes[axis]);
    for (const Factor& factor : axes[axis]) {
      to = factor.size == 0 ? 0 : to / factor.size;
      if (factor.size == 1) continue;
      const Loop inner{factor.size, factor.stride, to};
      if (!loops.empty() && loops.back().from == inner.from * inner.size &&
          loops.back().to == inner.to * inner.size) {
        loops.back() = {loops.back().size * inner.size, inner.from, inner.to};
      } else {
        loops.push_back(inner);
      }
    }
  }
  return loops;
}

template <typename T>
void run_loops(const Loop* loop, const Loop* end, const T* from, T* to) {
  if (loop == end) {
    *to = *from;
  } else if (loop + 1 == end && loop->from == 1 && loop->to == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(loop->size) * sizeof(T));
  } else if (loop + 1 == end) {
    for (std::int64_t i = 0; i < loop->size; ++i) to[i * loop->to] = from[i * loop->from];
  } else {
    if constexpr (sizeof(T) == sizeof(float)) {
      // The last two loops may be a matrix, transposed.
      if (loop + 2 == end && loop[0].from == 1 && loop[1].to == 1)
        return transpose_matrix(reinterpret_cast<const float*>(from), loop[1].from,
                                reinterpret_cast<float*>(to), loop[0].to, loop[1].size, loop[0].size);
    }
    for (std::int64_t i = 0; i < loop->size; ++i)
      run_loops(loop + 1, end, from + i * loop->from, to + i * loop->to);
  }
}

template <typename T>
void copy_elements(const std::vector<Loop>& loops, const void* from, void* to) {
  run_loops(loops.data(), loops.data() + loops.size(), static_cast<const T*>(from), static_cast<T*>(to));
}

}  // namespace

void copy_view(std::size_t bytes, const void* from, const FactoredAxes& axes, void* to,
               const Strides& to_strides) {
  for (const FactoredAxis& axis : axes) {
    if (side_of(axis) == 0) return;
  }
  const std::vector<Loop> loops = loops_of(axes, to_strides);
  switch (bytes) {
    case 8:
      return copy_elements<std::uint64_t>(loops, from, to);
    case 4:
      return copy_elements<std::uint32_t>(loops, from, to);
    default:
      return copy_elements<std::uint8_t>(loops, from, to);
  }
}

}  // namespace sightline::nn
