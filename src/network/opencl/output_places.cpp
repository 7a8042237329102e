#include "network/opencl/output_places.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "network/opencl/device_kernels.hpp"

namespace sightline::nn {
namespace {

constexpr std::int32_t kNowhere = std::numeric_limits<std::int32_t>::min();

// @param places  by point, then channel
std::optional<OutputPlace> output_place(const std::vector<std::int32_t>& places, std::int64_t channels,
                                        std::int64_t width) {
  OutputPlace place;
  std::vector<std::int32_t> points;
  for (std::size_t p = 0; p < places.size(); p += to_size(channels)) points.push_back(places[p] - places[0]);
  place.channels.assign(places.begin(), places.begin() + channels);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != points[i / to_size(channels)] + place.channels[i % to_size(channels)]) return {};
  }
  place.points = PointForm::of(points, width);
  place.channel_step = channels > 1 ? place.channels[1] - place.channels[0] : 1;
  bool is_even = place.channels[0] == 0;
  for (std::int64_t c = 0; c < channels; ++c)
    is_even = is_even && place.channels[to_size(c)] == c * place.channel_step;
  if (is_even) place.channels.clear();
  return place;
}

}  // namespace

std::optional<std::vector<std::pair<int, OutputPlace>>> places_in_output(const Graph& graph,
                                                                         const Stored& stored, int output) {
  const Shape& shape = graph.shape(output);
  if (graph.type(output).data != DataType::f32 || elements_of(shape) == 0) return {};
  std::map<int, std::vector<std::int32_t>> targets;  // by tensor: places by point, then channel
  bool fits = true;
  stored.for_each_address(output, shape, Layout::of_elements(shape),
                          [&](std::int64_t to, std::int64_t, int tensor, std::int32_t address) {
                            const Storage& memory = stored[tensor];
                            fits = fits && !memory.is_plain;
                            if (!fits) return;
                            std::vector<std::int32_t>& own = targets[tensor];
                            own.resize(to_size(memory.width * memory.channels), kNowhere);
                            const std::int64_t point = address % memory.block_step / kLanes,
                                               channel =
                                                   address / memory.block_step * kLanes + address % kLanes;
                            std::int32_t& target = own[to_size(point * memory.channels + channel)];
                            fits = target == kNowhere;
                            target = static_cast<std::int32_t>(to);
                          });
  if (!fits) return {};
  std::vector<std::pair<int, OutputPlace>> made;
  for (const auto& [tensor, places] : targets) {
    if (std::ranges::find(places, kNowhere) != places.end()) return {};
    auto place = output_place(places, stored[tensor].channels,
                              map_width(stored.planned(tensor).layout, graph.shape(tensor)));
    if (!place) return {};
    made.emplace_back(tensor, std::move(*place));
  }
  return made;
}

}  // namespace sightline::nn
