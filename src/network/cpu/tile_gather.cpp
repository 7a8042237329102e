// Kernels of Gather along an axis, and of TopK within a point.
#include <map>

#include "network/cpu/tile_kernels.hpp"
#include "network/primitives/indices.hpp"
#include "network/primitives/rows.hpp"
#include "network/reference.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kMostTaken = 16;                        // which are sorted by insertion
constexpr std::int64_t kMostGathered = std::int64_t{1} << 20;  // elements, of which there are tables

std::int64_t sum_of(const std::vector<std::vector<std::int64_t>>& offsets, const Shape& place) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < place.size(); ++i) sum += offsets[i][static_cast<std::size_t>(place[i])];
  return sum;
}

/// The gathered axis as points, all else within them.
Layout layout_along(const Shape& shape, std::size_t axis) {
  Shape strides(shape.size(), 0);
  strides[axis] = 1;
  return {shape[axis], factored(shape, strides), false};
}

class GatherTile : public TileKernel {
 public:
  GatherTile(KernelContext& context, const GraphNode& node, const Gather& gather)
      : node_(node),
        side_(context.graph.shape(node.inputs[0])[gather.axis]),
        is_long_(context.graph.type(node.inputs[1]).data == DataType::i64),
        x_(context.stored.operand(node.inputs[0], context.graph.shape(node.inputs[0]),
                                  layout_along(context.graph.shape(node.inputs[0]), gather.axis))),
        y_(context.graph, context.stored, node.outputs[0], context.linear) {
    const Shape& indices = context.graph.shape(node.inputs[1]);
    indices_.resize(static_cast<std::size_t>(elements_of(indices)));
    context.stored.for_each_address(
        node.inputs[1], indices, Layout::of_elements(indices),
        [&](std::int64_t index, std::int64_t /*channel*/, int tensor, std::int32_t address) {
          indices_[static_cast<std::size_t>(index)] = {tensor, address};
        });
    find_elements(context, node, gather);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    try {
      gather(tile, memory);
    } catch (const Problem& problem) {
      throw node_failure(node_, problem);
    }
  }

 private:
  struct Index {
    int tensor = kNone;
    std::int32_t address = 0;
  };
  struct Element {
    std::int32_t index = kNone, channel = 0;  ///< numbers of an index, and of a channel of x
  };

  void gather(const Tile& tile, const WorkMemory& memory) const {
    const TileResult::At y = y_.at(tile, memory);
    for (std::int64_t c = 0; c < channels_; ++c) {
      float* const to = y.block(c / kLanes) + c % kLanes;
      for (int i = 0; i < tile.count; ++i) {
        const Element& element = elements_[static_cast<std::size_t>((tile.first + i) * channels_ + c)];
        if (element.index != kNone) to[i * kLanes] = value(element, memory);
      }
    }
    y.finish();
  }

  void find_elements(const KernelContext& context, const GraphNode& node, const Gather& gather) {
    const Shape &shape = context.graph.shape(node.outputs[0]), &from = context.graph.shape(node.inputs[0]);
    const std::size_t added = gather.by == By::element ? 1 : context.graph.shape(node.inputs[1]).size();
    const Layout& layout = context.stored.planned(node.outputs[0]).layout;
    channels_ = channel_count(layout);
    elements_.resize(static_cast<std::size_t>(layout.points * channels_));
    const auto points = offsets_of(layout.axes), channels = offsets_of(channels_of(layout)),
               in_x = offsets_of(channels_of(layout_along(from, gather.axis)));
    std::int32_t number = 0;
    for_each_index(shape, [&](const Shape& place) {
      std::int64_t index = gather.by == By::element ? number++ : 0;
      for (std::size_t i = gather.axis; gather.by == By::index && i < gather.axis + added; ++i)
        index = index * shape[i] + place[i];
      Shape in(from.size(), 0);
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = i == gather.axis ? 0 : place[i < gather.axis ? i : i + added - 1];
      elements_[static_cast<std::size_t>(sum_of(points, place) * channels_ + sum_of(channels, place))] = {
          static_cast<std::int32_t>(index), static_cast<std::int32_t>(sum_of(in_x, in))};
    });
  }

  float value(const Element& element, const WorkMemory& memory) const {
    const Index& index = indices_[static_cast<std::size_t>(element.index)];
    const std::byte* const numbers = memory.tensors[index.tensor];
    const std::int64_t number = is_long_ ? reinterpret_cast<const std::int64_t*>(numbers)[index.address]
                                         : reinterpret_cast<const std::int32_t*>(numbers)[index.address];
    const auto point = static_cast<std::size_t>(checked_index(number, side_)),
               channel = static_cast<std::size_t>(element.channel);
    const bool has_form = x_.elements.empty();
    const Operand::Channel& at =
        has_form ? x_.channels[channel] : x_.elements[point * x_.channels.size() + channel];
    const OperandSource& source = x_.sources[static_cast<std::size_t>(at.source)];
    return memory.reals(source.tensor)[at.offset + (has_form ? source.points[point] : 0)];
  }

  const GraphNode node_;
  std::int64_t side_;  ///< of the gathered axis
  bool is_long_;
  Operand x_;
  TileResult y_;
  std::int64_t channels_ = 0;
  std::vector<Index> indices_;     ///< in row-major order
  std::vector<Element> elements_;  ///< by point, then channel; none where no channel is
};

/// The values alone, within each point.
class TopKTile : public TileKernel {
 public:
  TopKTile(KernelContext& context, const GraphNode& node, const TopK& top)
      : largest_(top.largest),
        x_(context.stored,
           context.stored.operand(node.inputs[0], context.graph.shape(node.inputs[0]),
                                  context.stored.planned(node.inputs[0]).layout),
           context.stored.planned(node.outputs[0]).layout.points, context.linear),
        y_(context.graph, context.stored, node.outputs[0], context.linear) {
    // The rows of the first point.
    std::map<Shape, Row> rows;
    const auto find = [&](int tensor, std::vector<int> Row::*list) {
      const Layout& layout = context.stored.planned(tensor).layout;
      const auto points = offsets_of(layout.axes), channels = offsets_of(channels_of(layout));
      for_each_index(context.graph.shape(tensor), [&](const Shape& place) {
        if (sum_of(points, place) == 0)
          (rows[with_ones(place, std::array{top.axis})].*list)
              .push_back(static_cast<int>(sum_of(channels, place)));
      });
    };
    find(node.inputs[0], &Row::from);
    find(node.outputs[0], &Row::to);
    for (auto& [place, row] : rows) rows_.push_back(std::move(row));
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const Channels<const float> x = x_.at(tile, memory).channels();
    const TileResult::At y = y_.at(tile, memory);
    for (const Row& row : rows_) {
      for (int i = 0; i < tile.count; ++i) {
        std::array<float, kMostTaken> best{};
        take(row, x, i, best);
        for (std::size_t k = 0; k < row.to.size(); ++k)
          y.block(row.to[k] / kLanes)[row.to[k] % kLanes + i * kLanes] = best[k];
      }
    }
    y.finish();
  }

 private:
  struct Row {
    std::vector<int> from, to;  ///< channels
  };

  void take(const Row& row, const Channels<const float>& x, int point,
            std::array<float, kMostTaken>& best) const {
    const auto stands_before = [&](float a, float b) { return largest_ ? is_before(a, b) : is_before(b, a); };
    std::size_t taken = 0;
    for (const int c : row.from) {
      const float value = x.first[c][point * x.step];
      if (taken == row.to.size() && !stands_before(value, best[taken - 1])) continue;
      std::size_t i = taken < row.to.size() ? taken++ : taken - 1;
      for (; i > 0 && stands_before(value, best[i - 1]); --i) best[i] = best[i - 1];
      best[i] = value;
    }
  }

  bool largest_;
  TileOperand x_;
  TileResult y_;
  std::vector<Row> rows_;
};

}  // namespace

bool can_gather_by_tiles(const Gather& gather, const Layout& output, const Shape& shape) {
  return gather.by != By::tuple && output.points > 1 && elements_of(shape) <= kMostGathered;
}

bool can_take_by_tiles(const TopK& top) {
  return top.count > 0 && top.count <= kMostTaken;
}

std::unique_ptr<TileKernel> make_gather(KernelContext& context, const GraphNode& node, const Gather& gather) {
  return std::make_unique<GatherTile>(context, node, gather);
}

std::unique_ptr<TileKernel> make_top_k(KernelContext& context, const GraphNode& node, const TopK& top) {
  return std::make_unique<TopKTile>(context, node, top);
}

}  // namespace sightline::nn
