#include "network/plan/within_points.hpp"

#include <map>
#include <utility>

#include "network/plan/storage.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

// Calls `f(place)` for all places that belong to the first point, in row-major order.
template <typename F>
void for_each_place_of_first_point(const Shape& shape, const Layout& layout, const F& f) {
  std::vector<std::vector<std::int64_t>> places(shape.size());
  Shape counts, place(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::vector<std::int64_t> points = offsets_of(layout.axes[i]);
    for (std::int64_t k = 0; k < shape[i]; ++k) {
      if (points[to_size(k)] == 0) places[i].push_back(k);
    }
    counts.push_back(static_cast<std::int64_t>(places[i].size()));
  }
  for_each_index(counts, [&](const Shape& at) {
    for (std::size_t i = 0; i < at.size(); ++i) place[i] = places[i][to_size(at[i])];
    f(std::as_const(place));
  });
}

}  // namespace

std::vector<std::vector<int>> folded_channels(const PlannedNode& reduce) {
  const int x = reduce.node.inputs[0];
  // What each place of an axis adds to the number of a channel.
  const auto from = offsets_of(channels_of(reduce.planned(x).layout)),
             to = offsets_of(channels_of(reduce.layout()));
  std::vector<std::vector<int>> folded(to_size(channel_count(reduce.layout())));
  for_each_place_of_first_point(reduce.graph.shape(x), reduce.planned(x).layout, [&](const Shape& place) {
    std::int64_t channel = 0, result = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      channel += from[i][to_size(place[i])];
      if (to[i].size() > 1) result += to[i][to_size(place[i])];
    }
    folded[to_size(result)].push_back(static_cast<int>(channel));
  });
  return folded;
}

PointProduct point_product(const PlannedNode& product) {
  const int x = product.node.inputs[0];
  const Shape &shape = product.shape(), &of = product.graph.shape(x),
              &weights = product.graph.shape(product.node.inputs[1]);
  const auto* const convolve = std::get_if<Convolve>(&product.node.primitive);
  PointProduct made;
  made.groups = convolve ? convolve->groups : 1;
  made.depth = convolve ? weights[1] : weights[weights.size() - 2];
  made.outputs = convolve ? weights[0] / made.groups : weights.back();
  const std::size_t axis = convolve ? 1 : shape.size() - 1, added = shape.size() - of.size();
  const auto channels = offsets_of(channels_of(product.layout())),
             inputs = offsets_of(channels_of(product.planned(x).layout));
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> numbers;  // by group and first input
  for_each_place_of_first_point(shape, product.layout(), [&](const Shape& place) {
    std::int64_t channel = 0, input = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      channel += channels[i][to_size(place[i])];
      if (i != axis && i >= added && of[i - added] > 1) input += inputs[i - added][to_size(place[i])];
    }
    const std::int64_t group = place[axis] / made.outputs;
    const auto [found, is_new] = numbers.try_emplace({group, input}, made.rows.size());
    if (is_new) {
      PointRows rows{group, {}, std::vector<int>(to_size(made.outputs))};
      for (std::int64_t k = 0; k < made.depth; ++k)
        rows.inputs.push_back(
            static_cast<int>(input + inputs[axis - added][to_size(group * made.depth + k)]));
      made.rows.push_back(std::move(rows));
    }
    made.rows[found->second].outputs[to_size(place[axis] % made.outputs)] = static_cast<int>(channel);
  });
  return made;
}

bool are_in_order(const std::vector<int>& channels) {
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (channels[i] != static_cast<int>(i)) return false;
  }
  return true;
}

}  // namespace sightline::nn
