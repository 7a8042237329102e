// Samples of maps at places that the network computes.
#include <array>
#include <map>

#include "network/cpu/move.hpp"
#include "network/cpu/sample.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

/// One place of each point's grid: the same for all channels of a picture.
struct GridPlace {
  int column = 0, row = 0;    ///< channels of the grid
  std::vector<int> from, to;  ///< channels of the map and of the output, in the same order
};

/// Layout of the grid [N, h, w, 2] by the points of the output [N, C, h, w].
Layout layout_of_grid(const Layout& output) {
  return {output.points, {output.axes[0], output.axes[2], output.axes[3], {{2, 0}}}, false};
}

/// Layout of a map [N, C, H, W] whose points are those of one picture.
Layout layout_of_pictures(const Shape& shape) {
  return {shape[2] * shape[3], factored(shape, {0, 0, shape[3], 1}), false};
}

class GridSampleTile : public TileKernel {
 public:
  GridSampleTile(KernelContext& context, const GraphNode& node, const GridSample& how)
      : how_(how),
        x_(context.stored.operand(node.inputs[0], context.graph.shape(node.inputs[0]),
                                  layout_of_pictures(context.graph.shape(node.inputs[0])))),
        grid_(context.stored,
              context.stored.operand(node.inputs[1], context.graph.shape(node.inputs[1]),
                                     layout_of_grid(context.stored.planned(node.outputs[0]).layout)),
              context.stored.planned(node.outputs[0]).layout.points, context.linear),
        y_(context.graph, context.stored, node.outputs[0], context.linear) {
    const Shape& map = context.graph.shape(node.inputs[0]);
    map_ = {map[2], map[3], map[3]};
    for (const OperandSource& source : x_.sources)
      can_overread_.push_back(!context.stored[source.tensor].is_plain);
    find_places(context, node);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const auto count = static_cast<std::size_t>(tile.count);
    const Channels<const float> grid = grid_.at(tile, memory).channels();
    const TileResult::At y = y_.at(tile, memory);
    auto* const samples = memory.spare->take<Sample>(count);
    auto* const moved = memory.spare->take<Sample>(count);
    auto* const mixed = memory.spare->take<float>(count * kLanes);
    for (const GridPlace& place : places_) {
      find_samples(how_, map_, grid.first[place.column], grid.first[place.row], grid.step, {samples, count});
      int source = kNone;
      for (std::size_t c = 0; c < place.from.size();) {
        if (!x_.elements.empty()) {
          mix_elements(place.from[c], {samples, count}, memory, mixed);
          store(mixed, 1, 1, &place.to[c++], tile.count, y);
          continue;
        }
        const Operand::Channel& first = x_.channels[static_cast<std::size_t>(place.from[c])];
        if (first.source != source) move_samples(source = first.source, {samples, count}, moved);
        const int run = side_by_side(place.from, c),
                  lanes = run == kLanes || can_overread_[at(source)] ? kLanes : 1;
        mix_samples(memory.reals(x_.sources[at(source)].tensor) + first.offset, {moved, count}, lanes,
                    how_.nearest, mixed);
        const int taken = lanes == 1 ? 1 : run;
        store(mixed, lanes, taken, &place.to[c], tile.count, y);
        c += at(taken);
      }
    }
    y.finish();
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  void find_places(const KernelContext& context, const GraphNode& node) {
    const Shape& shape = context.graph.shape(node.outputs[0]);
    const Layout& to = context.stored.planned(node.outputs[0]).layout;
    const FactoredAxes channels = channels_of(to), in_grid = channels_of(layout_of_grid(to)),
                       in_map = channels_of(layout_of_pictures(context.graph.shape(node.inputs[0])));
    std::vector<std::vector<std::int64_t>> points, outputs;
    for (std::size_t i = 0; i < 4; ++i) {
      points.push_back(offsets_of(to.axes[i]));
      outputs.push_back(offsets_of(channels[i]));
    }
    const std::vector<std::int64_t> picture = offsets_of(in_map[0]), channel = offsets_of(in_map[1]);
    const std::array grid{offsets_of(in_grid[0]), offsets_of(in_grid[1]), offsets_of(in_grid[2])};
    const std::int64_t row = offsets_of(in_grid[3])[1];
    std::map<std::int64_t, std::size_t> numbers;
    for_each_index(shape, [&](const Shape& place) {
      const auto along = [&](const auto& offsets, std::size_t axis) {
        return offsets[static_cast<std::size_t>(place[axis])];
      };
      std::int64_t point = 0, output = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        point += along(points[i], i);
        output += along(outputs[i], i);
      }
      if (point != 0) return;
      const std::int64_t column = along(grid[0], 0) + along(grid[1], 2) + along(grid[2], 3);
      const auto [found, is_new] = numbers.try_emplace(column, places_.size());
      if (is_new) places_.push_back({static_cast<int>(column), static_cast<int>(column + row), {}, {}});
      places_[found->second].from.push_back(static_cast<int>(along(picture, 0) + along(channel, 1)));
      places_[found->second].to.push_back(static_cast<int>(output));
    });
  }

  // How many channels from number `c` of a list on lie side by side.
  int side_by_side(const std::vector<int>& list, std::size_t c) const {
    const Operand::Channel& first = x_.channels[at(list[c])];
    int run = 1;
    for (; run < kLanes && c + at(run) < list.size(); ++run) {
      const Operand::Channel& one = x_.channels[at(list[c + at(run)])];
      if (one.source != first.source || one.offset != first.offset + run) break;
    }
    return run;
  }

  // Samples have numbers of points; of a source's, they have offsets.
  void move_samples(int source, std::span<const Sample> samples, Sample* moved) const {
    const std::vector<std::int32_t>& points = x_.sources[at(source)].points;
    for (const Sample& sample : samples) {
      *moved = sample;
      for (std::int64_t& offset : moved->offset)
        offset = offset < 0 ? -1 : points[static_cast<std::size_t>(offset)];
      ++moved;
    }
  }

  // A channel whose points lie anywhere is copied first.
  void mix_elements(int channel, std::span<const Sample> samples, const WorkMemory& memory,
                    float* mixed) const {
    const SpareMemory::Mark mark = memory.spare->mark();
    const auto points = static_cast<std::size_t>(map_.height * map_.width);
    auto* const plane = memory.spare->take<float>(points);
    for (std::size_t p = 0; p < points; ++p) {
      const Operand::Channel& one = x_.elements[p * x_.channels.size() + at(channel)];
      plane[p] = memory.reals(x_.sources[at(one.source)].tensor)[one.offset];
    }
    mix_samples(plane, samples, 1, how_.nearest, mixed);
    memory.spare->release(mark);
  }

  // Lanes of mixed points, to channels of the output.
  static void store(const float* mixed, int step, int lanes, const int* to, int points,
                    const TileResult::At& y) {
    std::array<const float*, kLanes> from{};
    std::array<float*, kLanes> out{};
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
      from[lane] = mixed + lane;
      out[lane] = y.block(to[lane] / kLanes) + to[lane] % kLanes;
    }
    copy_channels({from.data(), step}, {out.data(), kLanes}, lanes, points);
  }

  GridSample how_;
  SampledMap map_;
  Operand x_;
  TileOperand grid_;
  TileResult y_;
  std::vector<bool> can_overread_;  ///< by source of x: whether 16 floats can be read from any channel on
  std::vector<GridPlace> places_;
};

}  // namespace

bool can_sample_by_tiles(const Layout& output) {
  return output.points > 1 && !output.has_points(0) && !output.has_points(1);
}

std::unique_ptr<TileKernel> make_grid_sample(KernelContext& context, const GraphNode& node,
                                             const GridSample& how) {
  return std::make_unique<GridSampleTile>(context, node, how);
}

}  // namespace sightline::nn
