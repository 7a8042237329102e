#include "network/plan/element_addresses.hpp"

#include <algorithm>
#include <limits>

namespace sightline::nn {
namespace {

// How many of some values that begin at `value` and are `step` apart lie below `size`.
std::int64_t steps_within(std::int64_t value, std::int64_t step, std::int64_t size) {
  return step > 0 ? (size - 1 - value) / step + 1 : value / -step + 1;
}

}  // namespace

ElementAddresses::ElementAddresses(const Storage& storage, const Layout& layout, const Shape& shape)
    : storage_(storage) {
  if (storage.bytes / static_cast<std::int64_t>(sizeof(float)) > std::numeric_limits<std::int32_t>::max())
    throw Problem("needs a tensor of " + std::to_string(storage.bytes) + " bytes, which is too large");
  if (storage.is_plain) return;
  const FactoredAxes channels = channels_of(layout);
  std::int64_t below = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    for (std::size_t f = layout.axes[axis].size(); f-- > 0;) {
      const Factor& point = layout.axes[axis][f];
      if (point.size == 1) continue;
      digits_.insert(digits_.begin(), {point.size, below, point.stride, channels[axis][f].stride});
      below *= point.size;
    }
  }
}

ElementAddresses::Place ElementAddresses::place(std::int64_t element) const {
  Place place;
  for (const Digit& digit : digits_) {
    const std::int64_t value = element / digit.below;
    element -= value * digit.below;
    place.point += value * digit.point;
    place.channel += value * digit.channel;
  }
  return place;
}

std::int64_t ElementAddresses::address(std::int64_t element) const {
  if (is_plain()) return element;
  const Place at = place(element);
  return storage_.address(at.point, at.channel);
}

ElementAddresses::Row ElementAddresses::row(std::int64_t element, std::int64_t step,
                                            std::int64_t count) const {
  if (is_plain()) return {count, step, true};
  if (step == 0) return {count, 0, true};
  const auto digit = std::ranges::find_if(digits_, [&](const Digit& one) { return step % one.below == 0; });
  const std::int64_t steps = step / digit->below;
  count = std::min(count, steps_within(element / digit->below % digit->size, steps, digit->size));
  const Place at = place(element);
  const bool is_in_channel = digit->channel == 0;
  // Places move within a row of points or a block, or from row to row or block to block.
  const std::int64_t moved = steps * (is_in_channel ? digit->point : digit->channel);
  const std::int64_t side = is_in_channel ? storage_.width : kLanes;
  if (moved % side == 0)
    return {count, moved / side * (is_in_channel ? storage_.row_step : storage_.block_step), is_in_channel};
  const std::int64_t first = (is_in_channel ? at.point : at.channel) % side;
  return {std::min(count, steps_within(first, moved, side)), is_in_channel ? moved * kLanes : moved,
          is_in_channel};
}

}  // namespace sightline::nn
