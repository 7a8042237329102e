#include "network/opencl/device_operand.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace sightline::nn {
namespace {

constexpr std::size_t kMostChosen = 6;  // that text chooses from
constexpr std::int32_t kNoPlace = std::numeric_limits<std::int32_t>::min();

// The step of places that matter, where they rise evenly.
bool has_step(const std::vector<std::int32_t>& points, std::int64_t& step) {
  step = 0;
  for (std::size_t p = 1; p < points.size(); ++p) {
    if (points[p] != kNoPlace && points[0] != kNoPlace) {
      step = (points[p] - points[0]) / static_cast<std::int64_t>(p);
      break;
    }
  }
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (points[p] != kNoPlace && points[p] != static_cast<std::int64_t>(p) * step) return false;
  }
  return true;
}

bool find_pixels(const std::vector<std::int32_t>& points, std::int64_t width, PointForm& form) {
  const auto count = static_cast<std::int64_t>(points.size());
  if (width <= 1 || count % width != 0) return false;
  for (form.shift = 0; form.shift < 4; ++form.shift) {
    const std::int64_t one = std::int64_t{1} << form.shift;
    form.step = one < width ? points[to_size(one)] : 0;
    form.row_step = one * width < count ? points[to_size(one * width)] : 0;
    bool fits = true;
    for (std::int64_t p = 0; p < count && fits; ++p)
      fits = points[to_size(p)] ==
             (p / width >> form.shift) * form.row_step + (p % width >> form.shift) * form.step;
    if (fits) return true;
  }
  return false;
}

// Factors of places, innermost first; {}: there are too many, or none that fit.
std::vector<PointForm::Part> factors_of(std::vector<std::int32_t> points) {
  constexpr std::size_t kMostFactors = 5;
  std::vector<PointForm::Part> factors;
  for (std::int64_t inner = 1; points.size() > 1;) {
    const auto count = static_cast<std::int64_t>(points.size());
    const std::int64_t step = points[1] - points[0];
    std::int64_t size = count;
    for (std::int64_t p = 0; p < count; ++p) {  // the longest runs that all are even
      if (p % size != 0 && points[to_size(p)] != points[to_size(p - p % size)] + p % size * step)
        size = std::gcd(size, p);
    }
    if (size == 1 || factors.size() == kMostFactors) return {};
    for (std::int64_t p = 0; p < count; ++p) {
      if (points[to_size(p)] != points[to_size(p - p % size)] + p % size * step) return {};
    }
    factors.push_back({inner, size, step});
    inner *= size;
    for (std::int64_t p = 0; p < count / size; ++p) points[to_size(p)] = points[to_size(p * size)];
    points.resize(to_size(count / size));
  }
  return factors;
}

}  // namespace

PointForm PointForm::of(const std::vector<std::int32_t>& points, std::int64_t width) {
  PointForm form;
  if (has_step(points, form.step)) {
    form.kind = form.step == 0 ? Kind::none : Kind::own;
    return form;
  }
  if (find_pixels(points, width, form)) {
    form.kind = Kind::pixels;
    return form;
  }
  form = {};
  if (std::ranges::find(points, kNoPlace) == points.end()) form.factors = factors_of(points);
  form.kind = form.factors.empty() ? Kind::listed : Kind::factored;
  if (form.factors.empty()) form.list = points;
  return form;
}

bool PointForm::is_multiple_of(std::int64_t floats) const {
  return step % floats == 0 && row_step % floats == 0 &&
         std::ranges::all_of(factors, [&](const Part& one) { return one.step % floats == 0; }) &&
         std::ranges::all_of(list, [&](std::int32_t one) { return one % floats == 0; });
}

bool DeviceOperand::reads_local(int tensor) const {
  if (kind == Kind::elements) return false;
  return std::ranges::all_of(runs, [&](const ChannelRun& run) {
    const bool is_own = run.points.kind == PointForm::Kind::own && run.points.step == kLanes;
    return run.tensor != tensor || (run.is_block && (is_own || points == 1));
  });
}

namespace {

class OperandFinder {
 public:
  OperandFinder(const Graph& graph, const Stored& stored, Operand from, std::int64_t points,
                std::int64_t width)
      : graph_(graph), stored_(stored), from_(std::move(from)), width_(width) {
    made_.count = from_.count();
    made_.points = points;
  }

  DeviceOperand find() {
    const auto is_constant = [&](const OperandSource& one) { return graph_.constant(one.tensor) != nullptr; };
    if (std::ranges::all_of(from_.sources, is_constant)) {
      read_values();
    } else if (!from_.elements.empty()) {
      list_elements();
    } else {
      fill_rows();
      for (const OperandSource& source : from_.sources)
        forms_.push_back(PointForm::of(source.points, width_));
      find_runs();
    }
    return std::move(made_);
  }

 private:
  Operand::Channel element(std::int64_t p, std::int64_t c) const {
    if (!from_.elements.empty()) return from_.elements[to_size(p * from_.count() + c)];
    Operand::Channel channel = from_.channels[to_size(c)];
    if (!channel.is_none) channel.offset += from_.sources[to_size(channel.source)].points[to_size(p)];
    return channel;
  }

  // Channels that fill up a row are read behind the one before them, which a block has, or are that one.
  void fill_rows() {
    for (std::size_t c = 1; c < from_.channels.size(); ++c) {
      if (!from_.channels[c].is_none) continue;
      Operand::Channel& one = from_.channels[c] = from_.channels[c - 1];
      if (!storage(one).is_plain && one.offset % kLanes + 1 < kLanes) ++one.offset;
    }
  }

  void read_values() {
    made_.kind = DeviceOperand::Kind::constant;
    const auto value = [&](std::int64_t p, std::int64_t c) {
      const Operand::Channel one = element(p, c);
      if (one.is_none) return 0.0F;
      return graph_.constant(from_.sources[to_size(one.source)].tensor)->as<float>()[to_size(one.offset)];
    };
    const auto bits = [&](std::int64_t p, std::int64_t c) {
      return std::bit_cast<std::int32_t>(value(p, c));
    };
    for (std::int64_t p = 0; p < made_.points; ++p) {
      for (std::int64_t c = 0; c < made_.count; ++c) {
        made_.by_point = made_.by_point || bits(p, c) != bits(0, c);
        made_.by_channel = made_.by_channel || bits(p, c) != bits(p, 0);
      }
    }
    for (std::int64_t p = 0; p < (made_.by_point ? made_.points : 1); ++p) {
      for (std::int64_t c = 0; c < (made_.by_channel ? made_.count : 1); ++c)
        made_.values.push_back(value(p, c));
    }
  }

  void list_elements() {
    made_.kind = DeviceOperand::Kind::elements;
    for (std::int64_t p = 0; p < made_.points; ++p) {
      for (std::int64_t c = 0; c < made_.count; ++c) {
        const Operand::Channel one = element(p, c);
        made_.elements.push_back(one.is_none ? made_.elements.back() : one);
      }
    }
    for (const OperandSource& source : from_.sources) made_.tensors.push_back(source.tensor);
  }

  void find_runs() {
    const Operand::Channel& first = from_.channels[0];
    const bool is_single = std::ranges::all_of(from_.channels, [&](const Operand::Channel& one) {
      return one.source == first.source && one.offset == first.offset;
    });
    if (is_single) {
      made_.kind = DeviceOperand::Kind::channels;
      made_.runs = {run_from(0)};
      ChannelRun& run = made_.runs[0];
      run.end = from_.count();
      run.base = first.offset;
      run.lane = run.block_step = run.step = 0;
      return;
    }
    if (can_read_quads()) {
      made_.kind = DeviceOperand::Kind::quads;
      collect(4);
      if (made_.runs.size() <= kMostChosen) return;
    }
    collect(1);
    const bool can_list = std::ranges::all_of(forms_, [&](const PointForm& one) {
      return forms_.size() == 1 || one.kind == PointForm::Kind::none || one.kind == PointForm::Kind::own;
    });
    made_.kind =
        can_list && made_.runs.size() > 1 ? DeviceOperand::Kind::listed : DeviceOperand::Kind::channels;
    if (can_list || made_.runs.size() <= kMostChosen) return;
    made_.runs.clear();
    list_elements();
  }

  const Storage& storage(const Operand::Channel& channel) const {
    return stored_[from_.sources[to_size(channel.source)].tensor];
  }

  bool can_read_quads() const {
    for (std::int64_t c = 0; c < from_.count(); ++c) {
      const Operand::Channel &one = from_.channels[to_size(c)],
                             &first = from_.channels[to_size(c & ~std::int64_t{3})];
      if (one.source != first.source || one.offset != first.offset + (c & 3) || first.offset % 4 != 0 ||
          !forms_[to_size(first.source)].is_multiple_of(4))
        return false;
    }
    const Operand::Channel& last = from_.channels.back();
    return from_.count() % 4 == 0 || !storage(last).is_plain;
  }

  ChannelRun run_from(std::int64_t c) const {
    const Operand::Channel& first = from_.channels[to_size(c)];
    const Storage& memory = storage(first);
    ChannelRun run;
    run.begin = c;
    run.end = c + 1;
    run.tensor = from_.sources[to_size(first.source)].tensor;
    run.points = forms_[to_size(first.source)];
    if (memory.is_plain) {
      run.base = first.offset;
      return run;
    }
    run.lane = first.offset % kLanes;
    run.base = first.offset - run.lane;
    run.is_block = true;
    run.block_step = memory.block_step;
    run.number = first.offset / memory.block_step * kLanes + run.lane;
    return run;
  }

  std::int64_t address(const ChannelRun& run, std::int64_t c) const {
    const std::int64_t i = c - run.begin + run.lane;
    return run.base + (run.block_step == 0 ? i * run.step : i / kLanes * run.block_step + i % kLanes);
  }

  void collect(std::int64_t together) {
    made_.runs.clear();
    for (std::int64_t c = 0; c < from_.count(); c += together) {
      const Operand::Channel& one = from_.channels[to_size(c)];
      const int tensor = from_.sources[to_size(one.source)].tensor;
      if (!made_.runs.empty() && made_.runs.back().tensor == tensor) {
        ChannelRun& run = made_.runs.back();
        if (together == 1 && run.block_step == 0 && run.end == run.begin + 1)
          run.step = one.offset - run.base;
        if (address(run, c) == one.offset) {
          run.end = std::min(c + together, from_.count());
          continue;
        }
        if (run.end == run.begin + 1) run.step = 1;
      }
      made_.runs.push_back(run_from(c));
      made_.runs.back().end = std::min(c + together, from_.count());
    }
  }

  const Graph& graph_;
  const Stored& stored_;
  Operand from_;
  const std::int64_t width_;
  std::vector<PointForm> forms_;  ///< by source
  DeviceOperand made_;
};

}  // namespace

DeviceOperand device_operand(const Graph& graph, const Stored& stored, int tensor, const Shape& shape,
                             const Layout& layout, std::int64_t width) {
  return OperandFinder(graph, stored, stored.operand(tensor, shape, layout), layout.points, width).find();
}

}  // namespace sightline::nn
