#pragma once
/// Elements of tensors, and walks over them.

#include <algorithm>
#include <vector>

#include "detectors/network/tensor.hpp"

namespace sightline::network {

/// Elements from one to the next along each axis.
inline std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Elements of a tensor that only has the axes [begin, end) of a shape.
inline std::int64_t elements_between(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t count = 1;
  for (std::size_t axis = begin; axis < end; ++axis) count *= shape[axis];
  return count;
}

/// Calls `f` with pointers to the elements of tensors that are all of the first one's kind.
template <typename F, typename First, typename... Others>
void with_elements(const F& f, First& first, Others&... others) {
  first.kind() == Kind::real ? f(first.reals(), others.reals()...) : f(first.wholes(), others.wholes()...);
}

/// The shape that two shapes have together by NumPy's rule. Throws Problem where they do not fit.
inline Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape all(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw Problem("has inputs of shapes that do not fit: " + text_of(a) + " and " + text_of(b));
    all[all.size() - 1 - i] = x == 1 ? y : x;
  }
  return all;
}

/// Offsets into a tensor, while all places of a shape are passed in row-major order; each axis moves by its
/// own step.
class StridedWalk {
 public:
  StridedWalk(Shape shape, std::vector<std::int64_t> steps, std::int64_t start = 0)
      : shape_(std::move(shape)), steps_(std::move(steps)), place_(shape_.size(), 0), offset_(start) {}
  std::int64_t offset() const { return offset_; }
  const Shape& place() const { return place_; }
  void next() {
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      offset_ += steps_[axis];
      if (++place_[axis] < shape_[axis]) return;
      offset_ -= steps_[axis] * shape_[axis];
      place_[axis] = 0;
    }
  }

 private:
  Shape shape_;
  std::vector<std::int64_t> steps_;
  Shape place_;
  std::int64_t offset_;
};

/// Steps of a tensor of shape `of` that is repeated up to `shape`.
inline std::vector<std::int64_t> broadcast_steps(const Shape& shape, const Shape& of) {
  std::vector<std::int64_t> steps(shape.size(), 0);
  const std::vector<std::int64_t> strides = strides_of(of);
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] != 1) steps[shape.size() - of.size() + i] = strides[i];
  }
  return steps;
}

/// Offsets into a tensor that is repeated up to a shape.
struct BroadcastWalk : StridedWalk {
  BroadcastWalk(const Shape& shape, const Shape& of) : StridedWalk(shape, broadcast_steps(shape, of)) {}
};

}  // namespace sightline::network
