#include <algorithm>

#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

// A side that reaches to the end of an axis; kUnknown if that is.
std::int64_t side_to_end(std::int64_t first, std::int64_t step, std::int64_t side) {
  if (step < 0) return first / -step + 1;
  return side == kUnknown ? kUnknown : std::max<std::int64_t>(0, (side - first + step - 1) / step);
}

// Whether sums and products with it do not overflow.
bool is_small(std::int64_t number) {
  return number >= -kMaxElements && number <= kMaxElements;
}

void check_part(const Slice& part, const Shape& from) {
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const std::int64_t first = part.first[axis], side = part.shape[axis];
    if (!is_small(first) || !is_small(side))
      throw Problem("takes " + std::to_string(side) + " elements from " + std::to_string(first) + " of " +
                    text_of(from));
    const std::int64_t last = first + (side - 1) * part.step[axis];
    if (side == 0 || side == kUnknown || from[axis] == kUnknown) continue;
    if (side < 0 || std::min(first, last) < 0 || std::max(first, last) >= from[axis])
      throw Problem("takes elements " + std::to_string(first) + " to " + std::to_string(last) + " of axis " +
                    std::to_string(axis) + " of " + text_of(from));
  }
}

}  // namespace

Types Slice::infer(InputTypes inputs) const {
  check_count(inputs, 1, 2);
  const Shape& from = inputs[0].shape;
  if (first.size() != from.size() || step.size() != from.size() || shape.size() != from.size() ||
      std::ranges::find(step, 0) != step.end() || !std::ranges::all_of(step, is_small) ||
      !std::ranges::all_of(first, is_small))
    throw Problem("takes a part that does not fit " + text_of(from));
  Slice part = *this;
  if (inputs.size() > 1) {
    check_index(inputs, 1);
    check_shape(inputs, 1, {2, static_cast<std::int64_t>(from.size())});
  }
  for (std::size_t axis = 0; axis < from.size() && inputs.size() == 1; ++axis) {
    if (shape[axis] == kUnknown) part.shape[axis] = side_to_end(first[axis], step[axis], from[axis]);
  }
  if (inputs.size() == 1) check_part(part, from);
  return {{inputs[0].data, part.shape}};
}

void Slice::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  Slice part = *this;
  if (inputs.size() > 1) {
    const std::vector<std::int64_t> places = inputs[1]->integers();
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      if (part.first[axis] == kUnknown) part.first[axis] = places[axis];
      if (part.shape[axis] == kUnknown) part.shape[axis] = places[x.rank() + axis];
    }
    check_part(part, x.shape());
    outputs[0] = Tensor(x.data(), part.shape);
  }
  const Shape& to = outputs[0].shape();
  StridedElements source{strides_of(x.shape())};
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    source.start += part.first[axis] * source.strides[axis];
    source.strides[axis] *= part.step[axis];
  }
  copy_strided(to, x, source, outputs[0], {strides_of(to)});
}

}  // namespace sightline::nn
