#include "network/plan/operand.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "network/plan/compose_views.hpp"
#include "network/plan/elements.hpp"

namespace sightline::nn {
namespace {

constexpr std::int32_t kUnset = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // that planning looks at, in seconds
constexpr std::int64_t kShortestRow = 4;                       // shorter ones are packed point by point

// Points of the rows in which offsets rise by one step.
std::int64_t linear_points(const std::vector<std::int32_t>& points) {
  auto linear = static_cast<std::int64_t>(points.size());
  for (std::size_t p = 1; p < points.size(); ++p) {
    if (points[p] - points[p - 1] != points[1] - points[0])
      linear = std::gcd(linear, static_cast<std::int64_t>(p));
  }
  return linear;
}

// Channels that no element has, behind the ends of rows, are none.
void finish(Operand& operand, std::int64_t points) {
  operand.linear = points;
  for (std::size_t c = 1; c < operand.channels.size(); ++c) {
    Operand::Channel& one = operand.channels[c];
    if (one.offset != kUnset) continue;
    one = operand.channels[c - 1];
    one.is_none = true;
    for (std::size_t e = c; e < operand.elements.size(); e += operand.channels.size())
      operand.elements[e] = operand.elements[e - 1];
  }
  for (OperandSource& source : operand.sources) {
    operand.linear = std::gcd(operand.linear, linear_points(source.points));
    source.step = points > 1 ? source.points[1] - source.points[0] : 0;
  }
}

/// Places of an axis, by what they add to the number of a point or a channel, and of an element.
struct AxisPlaces {
  std::vector<std::int64_t> number, element;
  friend bool operator==(const AxisPlaces&, const AxisPlaces&) = default;

  std::size_t count() const { return number.size(); }
  void add(std::int64_t n, std::int64_t e) {
    number.push_back(n);
    element.push_back(e);
  }
  /// Places from `first` on whose numbers are one apart, and whose elements are one step apart: how many.
  std::size_t even_places(std::size_t first) const {
    std::size_t end = first + 1;
    while (end < count() && number[end] == number[end - 1] + 1) ++end;
    return std::min(end - first, even_steps(element, first));
  }
};

/// Points and channels of a run that add up to its elements.
struct RunPlaces {
  std::vector<AxisPlaces> points, channels;          ///< by axis, from the run's first place on
  std::int64_t point = 0, channel = 0, element = 0;  ///< of the first place

  /// Adds an axis. Returns whether its points and channels add up.
  bool add_axis(std::span<const std::int64_t> point_numbers, std::span<const std::int64_t> channel_numbers,
                const std::vector<std::int64_t>& elements) {
    AxisPlaces all_points, all_channels;
    std::map<std::int64_t, std::int64_t> of_point, of_channel;
    const auto moved = [](const auto& numbers, std::size_t k) { return numbers[k] - numbers[0]; };
    for (std::size_t k = 0; k < elements.size(); ++k) {
      if (moved(channel_numbers, k) == 0) all_points.add(moved(point_numbers, k), moved(elements, k));
      if (moved(point_numbers, k) == 0) all_channels.add(moved(channel_numbers, k), moved(elements, k));
    }
    point += point_numbers[0];
    channel += channel_numbers[0];
    element += elements[0];
    bool adds_up = all_points.count() * all_channels.count() == elements.size();
    if (adds_up && all_points.count() > 1 && all_channels.count() > 1) {
      for (std::size_t i = 0; i < all_points.count(); ++i)
        of_point[all_points.number[i]] = all_points.element[i];
      for (std::size_t i = 0; i < all_channels.count(); ++i)
        of_channel[all_channels.number[i]] = all_channels.element[i];
      for (std::size_t k = 0; k < elements.size(); ++k)
        adds_up = adds_up && moved(elements, k) ==
                                 of_point[moved(point_numbers, k)] + of_channel[moved(channel_numbers, k)];
    }
    points.push_back(std::move(all_points));
    channels.push_back(std::move(all_channels));
    return adds_up;
  }
};

Shape axis_counts(const std::vector<AxisPlaces>& axes) {
  Shape counts;
  for (const AxisPlaces& one : axes) counts.push_back(static_cast<std::int64_t>(one.count()));
  return counts;
}

/// Finds the form of an operand's addresses where points and channels add up, without looking at all
/// elements.
class AdditiveOperand {
 public:
  AdditiveOperand(const Stored& stored, const Layout& layout) : stored_(stored), points_(layout.points) {
    operand_.channels.assign(static_cast<std::size_t>(channel_count(layout)), {0, kUnset});
  }

  /// Nothing where points and channels do not add up.
  std::optional<Operand> build(const View& view, const Shape& shape, const Layout& layout) {
    const FactoredAxes within = channels_of(layout);
    const std::size_t cut = view.axis + shape.size() - view.runs[0].axes.size();
    std::int64_t begin = 0;
    for (const Run& run : view.runs) {
      Shape part = shape;
      if (view.runs.size() > 1) part[cut] = side_of(run.axes[view.axis]);
      const FactoredAxes axes = expanded(run.axes, part);
      RunPlaces places;
      places.element = run.offset;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        const auto first = static_cast<std::size_t>(view.runs.size() > 1 && i == cut ? begin : 0);
        const auto side = static_cast<std::size_t>(part[i]);
        const std::vector<std::int64_t> points = offsets_of(layout.axes[i]), channels = offsets_of(within[i]);
        if (!places.add_axis(std::span(points).subspan(first, side), std::span(channels).subspan(first, side),
                             offsets_of(axes[i])))
          return {};
      }
      begin += view.runs.size() > 1 ? part[cut] : 0;
      if (!add_run(places, run.tensor)) return {};
    }
    const auto is_there = [](const Operand::Channel& one) { return one.offset != kUnset; };
    if (std::ranges::count_if(operand_.channels, is_there) != elements_of(shape) / points_) return {};
    finish(operand_, points_);
    return std::move(operand_);
  }

 private:
  bool add_run(const RunPlaces& places, int tensor) {
    if (places.point != 0 || elements_of(axis_counts(places.points)) != points_) return false;
    const ElementAddresses& addresses = stored_.element_addresses(tensor);
    const std::int64_t point = addresses.place(places.element).point;
    // Runs of one tensor often have the same points: those of a shuffle have one channel each.
    for (const KnownPoints& one : known_points_) {
      if (one.tensor == tensor && one.point == point && one.axes == places.points)
        return find_channels(places, addresses, one.source);
    }
    std::vector<std::int32_t> points(static_cast<std::size_t>(points_), kUnset);
    if (!find_points(places, addresses, points)) return false;
    const auto found = std::ranges::find(operand_.sources, tensor, &OperandSource::tensor);
    const auto source = static_cast<int>(found - operand_.sources.begin());
    if (found == operand_.sources.end()) {
      operand_.sources.push_back({tensor, stored_[tensor].memory == Memory::scratch, 0, std::move(points)});
    } else if (found->points != points) {
      return false;
    }
    known_points_.push_back({tensor, point, source, places.points});
    return find_channels(places, addresses, source);
  }

  // The floats of points behind the first one.
  bool find_points(const RunPlaces& places, const ElementAddresses& addresses,
                   std::vector<std::int32_t>& points) const {
    const std::int64_t origin = addresses.address(places.element);
    const std::int64_t channel = addresses.place(places.element).channel;
    // The last axis with points is the inner loop.
    Shape outer = axis_counts(places.points);
    std::size_t inner = outer.size();
    while (inner > 0 && outer[inner - 1] == 1) --inner;
    const AxisPlaces single{{0}, {0}};
    const AxisPlaces& row = inner == 0 ? single : places.points[inner - 1];
    if (inner > 0) outer[inner - 1] = 1;
    bool fits = true;
    for_each_index(outer, [&](const Shape& at) {
      std::int64_t point = 0, element = places.element;
      for (std::size_t i = 0; i < at.size(); ++i) {
        point += places.points[i].number[static_cast<std::size_t>(at[i])];
        element += places.points[i].element[static_cast<std::size_t>(at[i])];
      }
      for (std::size_t k = 0; fits && k < row.count();) {
        const auto even = static_cast<std::int64_t>(row.even_places(k));
        const std::int64_t first = element + row.element[k];
        const std::int64_t step = even > 1 ? row.element[k + 1] - row.element[k] : 0;
        const ElementAddresses::Row part = addresses.row(first, step, even);
        fits = part.is_in_channel && addresses.place(first).channel == channel;
        std::int64_t address = addresses.address(first) - origin;
        std::int32_t* const to = points.data() + point + row.number[k];
        for (std::int64_t i = 0; i < part.count; ++i, address += part.step)
          to[i] = static_cast<std::int32_t>(address);
        k += static_cast<std::size_t>(part.count);
      }
    });
    return fits;
  }

  bool find_channels(const RunPlaces& places, const ElementAddresses& addresses, int source) {
    const std::int64_t point = addresses.place(places.element).point;
    bool fits = true;
    for_each_index(axis_counts(places.channels), [&](const Shape& at) {
      std::int64_t channel = places.channel, element = places.element;
      for (std::size_t i = 0; i < at.size(); ++i) {
        channel += places.channels[i].number[static_cast<std::size_t>(at[i])];
        element += places.channels[i].element[static_cast<std::size_t>(at[i])];
      }
      fits = fits && addresses.place(element).point == point;
      operand_.channels[static_cast<std::size_t>(channel)] = {
          source, static_cast<std::int32_t>(addresses.address(element))};
    });
    return fits;
  }

  struct KnownPoints {
    int tensor;
    std::int64_t point;  ///< of the stored tensor, that the first one is
    int source;
    std::vector<AxisPlaces> axes;
  };

  const Stored& stored_;
  const std::int64_t points_;
  Operand operand_;
  std::vector<KnownPoints> known_points_;
};

/// Finds the form of an operand's addresses by looking at all elements.
class OperandBuilder {
 public:
  OperandBuilder(const Stored& stored, std::int64_t points, std::int64_t channels)
      : stored_(stored), points_(points) {
    operand_.channels.assign(static_cast<std::size_t>(channels), {0, kUnset});
  }

  Operand build(int tensor, const Shape& shape, const Layout& layout) {
    const auto each = [&](const auto& f) {
      int last = kNone, source = 0;
      stored_.for_each_address(tensor, shape, layout,
                               [&](std::int64_t p, std::int64_t c, int of, std::int32_t address) {
                                 if (of != last) source = source_of(last = of);
                                 f(static_cast<std::size_t>(p), static_cast<std::size_t>(c), source, address);
                               });
    };
    bool fits = true, has_missed = false;
    const auto check = [&](std::size_t p, std::size_t c, int source, std::int32_t address) {
      Operand::Channel& first = operand_.channels[c];
      if (p == 0) first = {source, address};
      has_missed = has_missed || first.offset == kUnset;
      std::int32_t& offset = operand_.sources[static_cast<std::size_t>(source)].points[p];
      if (offset == kUnset) offset = address - first.offset;
      fits = fits && first.source == source && offset == address - first.offset;
    };
    each(check);
    if (has_missed) {  // where a channel's first point does not come first
      for (OperandSource& source : operand_.sources) std::ranges::fill(source.points, kUnset);
      fits = true;
      each(check);
    }
    if (!fits) {
      operand_.elements.resize(static_cast<std::size_t>(points_) * operand_.channels.size());
      each([&](std::size_t p, std::size_t c, int source, std::int32_t address) {
        operand_.elements[p * operand_.channels.size() + c] = {source, address};
      });
    }
    finish(operand_, points_);
    return std::move(operand_);
  }

 private:
  int source_of(int tensor) {
    for (std::size_t i = 0; i < operand_.sources.size(); ++i) {
      if (operand_.sources[i].tensor == tensor) return static_cast<int>(i);
    }
    operand_.sources.push_back({tensor, stored_[tensor].memory == Memory::scratch, 0,
                                std::vector<std::int32_t>(static_cast<std::size_t>(points_), kUnset)});
    return static_cast<int>(operand_.sources.size()) - 1;
  }

  const Stored& stored_;
  const std::int64_t points_;
  Operand operand_;
};

}  // namespace

bool Operand::is_linear(std::int64_t points) const {
  return elements.empty() && (linear >= kShortestRow || linear == points);
}

std::int64_t Operand::common_step() const {
  for (const OperandSource& source : sources) {
    if (source.step != sources[0].step) return 0;
  }
  return sources[0].step;
}

bool Operand::has_block(std::int64_t block) const {
  const auto first = static_cast<std::size_t>(block * kLanes);
  const Channel& lane = channels[first];
  for (std::int64_t i = 0; i < channels_in(block); ++i) {
    const Channel& other = channels[first + static_cast<std::size_t>(i)];
    if (other.source != lane.source || other.offset != lane.offset + i) return false;
  }
  return true;
}

std::int64_t Operand::channels_in(std::int64_t block) const {
  std::int64_t in = std::min(kLanes, count() - block * kLanes);
  while (in > 1 && channels[static_cast<std::size_t>(block * kLanes + in - 1)].is_none) --in;
  return in;
}

Stored::Stored(const Graph& graph, std::span<const PlannedTensor> tensors)
    : graph_(graph), tensors_(tensors), storages_(graph.tensors().size()) {
  ViewComposer composer(graph);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].is_last) {
      composer.add_unknown();
    } else if (is_stored(static_cast<int>(t))) {
      composer.add_stored();
    } else {
      composer.add_view();
    }
  }
  views_ = std::move(composer).views();
}

void Stored::place_in(const Run& place, int tensor) {
  const auto view = [&](int of) -> std::optional<View>& { return views_[static_cast<std::size_t>(of)]; };
  view(tensor) = View{0, {place}};
  view(place.tensor) = View::of(place.tensor, graph_.shape(place.tensor));
}

bool Stored::is_stored(int tensor) const {
  const int maker = graph_.tensor(tensor).maker;
  return !planned(tensor).is_last && (maker == kNone || !is_view(graph_.node(maker).primitive));
}

Operand Stored::operand(int tensor, const Shape& shape, const Layout& layout) const {
  const std::optional<View>& view = views_[static_cast<std::size_t>(tensor)];
  if (view) {
    if (auto operand = AdditiveOperand(*this, layout).build(*view, shape, layout)) return std::move(*operand);
  }
  return operand_by_elements(tensor, shape, layout);
}

Operand Stored::operand_by_elements(int tensor, const Shape& shape, const Layout& layout) const {
  return OperandBuilder(*this, layout.points, channel_count(layout)).build(tensor, shape, layout);
}

const ElementAddresses& Stored::element_addresses(int tensor) const {
  const std::lock_guard lock(mutex_);
  auto& found = element_addresses_[tensor];
  if (!found) found.emplace((*this)[tensor], planned(tensor).layout, graph_.shape(tensor));
  return *found;
}

void Stored::count_elements(std::int64_t elements) const {
  elements_seen_ += elements;
  if (elements_seen_ > kMostElements)
    throw Problem("has too many elements in views that strides cannot express");
}

// Views move elements of any type: here, they move numbers of elements.
const Tensor& Stored::codes(int tensor) const {
  const auto [found, is_new] = codes_.try_emplace(tensor);
  if (!is_new) return found->second;
  count_elements(elements_of(graph_.shape(tensor)));
  if (is_stored(tensor)) {
    Tensor numbers(DataType::i64, graph_.shape(tensor));
    std::int64_t next = static_cast<std::int64_t>(tensor) << 32;
    for (std::int64_t& one : numbers.as<std::int64_t>()) one = next++;
    return found->second = std::move(numbers);
  }
  const GraphNode& view = graph_.node(graph_.tensor(tensor).maker);
  std::vector<const Tensor*> operands;
  for (const int input : view.inputs) operands.push_back(&codes(input));
  return found->second = std::move(evaluate(view.primitive, operands).front());
}

}  // namespace sightline::nn
