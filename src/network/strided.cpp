#include "network/strided.hpp"

#include <algorithm>

namespace sightline::nn {

Strides strides_of(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

Strides broadcast_strides(const Shape& from, const Shape& shape) {
  const Strides all = strides_of(from);
  const std::size_t added = shape.size() - from.size();
  Strides strides(shape.size(), 0);
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    strides[added + axis] = from[axis] == 1 ? 0 : all[axis];
  return strides;
}

std::int64_t elements_between(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t axis = begin; axis < end; ++axis) count *= shape[axis];
  return count;
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape all = a.size() < b.size() ? b : a;
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1 && x != kUnknown && y != kUnknown)
      throw Problem("has inputs of shapes that do not fit: " + text_of(a) + " and " + text_of(b));
    all[all.size() - i] = x == 1 || (x == kUnknown && y != 1) ? y : x;
  }
  return all;
}

void copy_strided(const Shape& shape, const Tensor& from, const StridedElements& source, Tensor& to,
                  const StridedElements& target) {
  with_bytes(from.data(), [&]<typename T>() {
    const T* const x = from.raw<T>();
    T* const y = to.raw<T>();
    for_each_place<2>(shape, {source.strides, target.strides}, {source.start, target.start},
                      [&](std::int64_t in, std::int64_t out) { y[out] = x[in]; });
  });
}

}  // namespace sightline::nn
