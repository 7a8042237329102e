#include "network/plan/operand.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "network/plan/elements.hpp"

namespace sightline::nn {
namespace {

constexpr std::int32_t kUnset = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kShortestRow = 4;  // shorter ones are packed point by point

// Points of the rows in which offsets rise by one step.
std::int64_t linear_points(const std::vector<std::int32_t>& points) {
  auto linear = static_cast<std::int64_t>(points.size());
  for (std::size_t p = 1; p < points.size(); ++p) {
    if (points[p] - points[p - 1] != points[1] - points[0])
      linear = std::gcd(linear, static_cast<std::int64_t>(p));
  }
  return linear;
}

/// Finds the form of an operand's addresses.
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
    finish();
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

  void finish() {
    operand_.linear = points_;
    for (std::size_t c = 1; c < operand_.channels.size(); ++c) {
      Operand::Channel& one = operand_.channels[c];
      if (one.offset != kUnset) continue;
      one = operand_.channels[c - 1];
      one.is_none = true;
      for (std::size_t e = c; e < operand_.elements.size(); e += operand_.channels.size())
        operand_.elements[e] = operand_.elements[e - 1];
    }
    for (OperandSource& source : operand_.sources) {
      operand_.linear = std::gcd(operand_.linear, linear_points(source.points));
      source.step = points_ > 1 ? source.points[1] - source.points[0] : 0;
    }
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
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const int tensor = static_cast<int>(t), maker = graph.tensor(tensor).maker;
    views_.emplace_back();
    if (tensors[t].is_last) continue;
    if (is_stored(tensor)) {
      views_.back() = View::of(tensor, graph.shape(tensor));
      continue;
    }
    std::vector<const View*> operands;
    for (const int input : graph.node(maker).inputs) {
      const std::optional<View>& view = views_[static_cast<std::size_t>(input)];
      if (view) operands.push_back(&*view);
    }
    if (operands.size() == graph.node(maker).inputs.size())
      views_.back() = view_of(graph.node(maker).primitive, operands, graph.shape(tensor));
  }
}

bool Stored::is_stored(int tensor) const {
  const int maker = graph_.tensor(tensor).maker;
  return !planned(tensor).is_last && (maker == kNone || !is_view(graph_.node(maker).primitive));
}

Operand Stored::operand(int tensor, const Shape& shape, const Layout& layout) const {
  return OperandBuilder(*this, layout.points, channel_count(layout)).build(tensor, shape, layout);
}

const std::vector<std::int32_t>& Stored::addresses(int tensor) const {
  const auto [found, is_new] = addresses_.try_emplace(tensor);
  if (is_new) found->second = addresses_of((*this)[tensor], planned(tensor).layout, graph_.shape(tensor));
  return found->second;
}

// Views move elements of any type: here, they move numbers of elements.
const Tensor& Stored::codes(int tensor) const {
  const auto [found, is_new] = codes_.try_emplace(tensor);
  if (!is_new) return found->second;
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
