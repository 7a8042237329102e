#include <algorithm>

#include "network/primitives/checks.hpp"
#include "network/primitives/fold.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

/// The sum of numbers in 16 lanes, as Reduce says.
template <typename T>
T tree_sum(const T* x, const std::vector<std::int64_t>& offsets) {
  constexpr std::size_t kLanes = 16;
  std::array<T, kLanes> lanes{};
  for (std::size_t i = 0; i < offsets.size(); ++i)
    lanes[i % kLanes] = functions::add(lanes[i % kLanes], x[offsets[i]]);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] = functions::add(lanes[l], lanes[l + half]);
  }
  return lanes[0];
}

}  // namespace

Types Reduce::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  check_number(inputs, 0);
  for (const std::size_t axis : axes) check_axis(inputs, axis);
  return {{inputs[0].data, with_ones(inputs[0].shape, axes)}};
}

void Reduce::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  const Strides strides = strides_of(x.shape());
  // The reduced elements, as offsets from the first one.
  Shape reduced(x.rank(), 1);
  for (const std::size_t axis : axes) reduced[axis] = x.dim(axis);
  std::vector<std::int64_t> offsets;
  for_each_place<1>(reduced, {strides}, [&](std::int64_t offset) { offsets.push_back(offset); });
  with_number(x.data(), [&]<typename T>() {
    const auto y = outputs[0].as<T>();
    for_each_place<2>(outputs[0].shape(), {strides, strides_of(outputs[0].shape())},
                      [&](std::int64_t from, std::int64_t to) {
                        const T* const first = x.as<T>().data() + from;
                        if (fold == Fold::sum) {
                          y[to] = tree_sum(first, offsets);
                          return;
                        }
                        T all = initial<T>(fold);
                        for (const std::int64_t offset : offsets) all = folded(fold, all, first[offset]);
                        y[to] = all;
                      });
  });
}

}  // namespace sightline::nn
