#include <algorithm>
#include <numeric>

#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

// The place of the input that a place of an axis shows; kUnknown: none.
std::int64_t source_of(std::int64_t at, std::int64_t side, Padding mode) {
  if (at >= 0 && at < side) return at;
  if (mode == Padding::constant || side == 0) return kUnknown;
  if (mode == Padding::edge || side == 1) return std::clamp<std::int64_t>(at, 0, side - 1);
  const std::int64_t period = mode == Padding::wrap ? side : 2 * (side - 1);
  const std::int64_t folded = (at % period + period) % period;
  return folded < side ? folded : period - folded;
}

}  // namespace

Types Pad::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  Shape shape = inputs[0].shape;
  const auto is_out_of_range = [](std::int64_t count) { return count < 0 || count > kMaxElements; };
  if (before.size() != shape.size() || behind.size() != shape.size() ||
      std::ranges::any_of(before, is_out_of_range) || std::ranges::any_of(behind, is_out_of_range))
    throw Problem("pads " + text_of(shape) + " by " + text_of(before) + " and " + text_of(behind));
  if (mode == Padding::constant && value.data() != inputs[0].data)
    throw Problem("pads " + text_of(inputs[0]) + " with " + std::string(text_of(value.data())));
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] = shape[axis] == kUnknown ? kUnknown : before[axis] + shape[axis] + behind[axis];
  return {{inputs[0].data, shape}};
}

void Pad::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  const Shape& shape = outputs[0].shape();
  // Offsets into x, by axis; of places that show none, one so far below 0 that no sum of others reaches it.
  constexpr std::int64_t kNowhere = -(std::int64_t{1} << 40);
  std::vector<std::vector<std::int64_t>> offsets(x.rank());
  const Strides strides = strides_of(x.shape());
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    for (std::int64_t at = 0; at < shape[axis]; ++at) {
      const std::int64_t from = source_of(at - before[axis], x.dim(axis), mode);
      offsets[axis].push_back(from == kUnknown ? kNowhere : from * strides[axis]);
    }
  }
  with_type(x.data(), [&]<typename T>() {
    const T filling = mode == Padding::constant ? value.as<T>() : T{};
    T* to = outputs[0].as<T>().data();
    for_each_index(shape, [&](const Shape& place) {
      std::int64_t from = 0;
      for (std::size_t axis = 0; axis < place.size(); ++axis)
        from += offsets[axis][static_cast<std::size_t>(place[axis])];
      *to++ = from < 0 ? filling : x.as<T>()[from];
    });
  });
}

}  // namespace sightline::nn
