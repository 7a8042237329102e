#include "detectors/network/opencl/level_tables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "detectors/network/plan_steps.hpp"
#include "opencl/data.hpp"

namespace sightline::network {
namespace {

constexpr int kBlockChannels = static_cast<int>(kBlock);
constexpr int kPitchPad = 4;  // floats between pixels in local memory, against conflicts of banks

int aligned_to(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// A work-item's part of a product.
struct Tile {
  int pixels = 0, outputs = 0;
};
constexpr std::array<Tile, 4> kTiles{{{4, 1}, {4, 2}, {4, 4}, {8, 4}}};  // of level.cl

// Local memory of a chain, while its tables are made.
class LocalMemory {
 public:
  int take(int floats) {
    int at = 0;
    for (const auto& [begin, end] : taken_) {
      if (at + floats <= begin) break;
      at = std::max(at, end);
    }
    taken_.insert(std::ranges::upper_bound(taken_, std::pair(at, 0)), {at, at + floats});
    most_ = std::max(most_, at + floats);
    return at;
  }
  void give_back(int at) {
    std::erase_if(taken_, [&](const auto& one) { return one.first == at; });
  }
  int most() const { return most_; }

 private:
  std::vector<std::pair<int, int>> taken_;  // sorted
  int most_ = 0;
};

// The local copy of a storage of one row.
struct LocalMap {
  int at = 0, pitch = 0;
};

class Tables : private StepVisitor {
 public:
  Tables(const Plan& plan, const LaunchShape& shape)
      : plan_(plan),
        shape_(shape),
        storages_(plan.storages),
        local_(plan.storages.size()),
        is_spilled_(plan.storages.size(), false),
        stands_for_(plan.storages.size(), -1) {}

  LevelTables make() {
    for (std::size_t pool = 0; pool < plan_.pool_floats.size(); ++pool) {
      made_.pools.push_back(made_.frame_floats);
      if (pool != kRowPool) made_.frame_floats += aligned(plan_.pool_floats[pool]);
    }
    for (const PlanSegment& segment : plan_.segments) {
      if (!segment.suits_devices) continue;
      for (std::size_t level = segment.first_level; level < segment.last_level; ++level)
        add_level(plan_.levels[level]);
    }
    opencl::checked(made_.frame_floats);
    opencl::checked(static_cast<std::int64_t>(made_.weights.size()));
    return std::move(made_);
  }

 private:
  static constexpr int kFewestPixels = 4, kFewestOfDense = 32;
  static constexpr int kMostStaged = 10240;  // floats of a tile

  static std::int64_t aligned(std::int64_t floats) { return (floats + 63) / 64 * 64; }
  Storage& storage(int number) { return storages_[static_cast<std::size_t>(number)]; }

  // --- levels and chains

  static int width_of(const Chain& chain, const std::vector<Storage>& storages) {
    const ChainStep& first = chain.steps.front();
    if (const auto* place = dynamic_cast<const PlaceStep*>(first.step)) return place->in.map().width;
    return storages[static_cast<std::size_t>(first.writes)].width;
  }

  void add_level(const Level& level) {
    LevelTables::Level added{static_cast<cl_int>(made_.chains.size()), 0, 0};
    std::int64_t pixels = 0;
    for (const Chain& chain : level.chains) pixels += std::int64_t{chain.height} * width_of(chain, storages_);
    for (const Chain& chain : level.chains) {
      const int width = width_of(chain, storages_), all = chain.height * width;
      // Tiles as large as local memory allows, but enough of them for all of the device.
      tile_ = shape_.most_pixels;
      while (tile_ > kFewestPixels && pixels * shape_.frames < std::int64_t{tile_} * shape_.groups)
        tile_ /= 2;
      while (tile_ > kFewestPixels && tile_ / 2 >= all) tile_ /= 2;
      const auto first_op = static_cast<cl_int>(made_.ops.size());
      const std::size_t first_weight = made_.weights.size();
      staged_ = kMostStaged;
      while (!add_chain(chain)) {
        if (staged_ == kMostStaged) {
          staged_ /= 2;
        } else if (tile_ > kFewestPixels) {
          tile_ /= 2;
          staged_ = kMostStaged;
        } else {
          spill(chain);
        }
      }
      const auto ops = static_cast<cl_int>(made_.ops.size()) - first_op;
      if (ops == 0) continue;                       // all of it stands for others
      constexpr std::size_t kMostAhead = 32 << 10;  // floats
      const std::size_t read = made_.weights.size() - first_weight;
      made_.chains.push_back(
          {added.groups, first_op, ops, std::countr_zero(static_cast<unsigned>(tile_)), all, width,
           static_cast<cl_uint>(((std::uint64_t{1} << 32) + width - 1) / width),
           static_cast<cl_int>(first_weight), static_cast<cl_int>(read <= kMostAhead ? read : 0), 0});
      added.groups += (all + tile_ - 1) / tile_;
      ++added.chains;
    }
    made_.levels.push_back(added);
  }

  // False where local memory does not suffice.
  bool add_chain(const Chain& chain) {
    const std::size_t ops = made_.ops.size(), places = made_.places.size(), tables = made_.tables.size(),
                      weights = made_.weights.size();
    memory_ = {};
    is_too_large_ = false;
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      const ChainStep& one = chain.steps[i];
      if (has_local_copy(chain, i) && !local(one.writes)) {
        const int pitch = storage(one.writes).blocks * kBlockChannels + kPitchPad;
        local(one.writes) = LocalMap{memory_.take(tile_ * pitch), pitch};
      }
      writes_ = one.writes;
      one.step->accept(*this);
      for (const int read : one.reads) {
        if (local(read) && !reads_later(chain, i, read)) memory_.give_back(local(read)->at);
      }
    }
    for (const ChainStep& one : chain.steps) {
      if (one.writes >= 0) local(one.writes).reset();
    }
    if (memory_.most() <= shape_.local_floats && !is_too_large_) return true;
    made_.ops.resize(ops);
    made_.places.resize(places);
    made_.tables.resize(tables);
    made_.weights.resize(weights);
    return false;
  }

  static bool reads_later(const Chain& chain, std::size_t i, int number) {
    return std::any_of(
        chain.steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, chain.steps.end(),
        [&](const ChainStep& later) { return std::ranges::find(later.reads, number) != later.reads.end(); });
  }
  // Whether what a step writes is kept in local memory, too.
  bool has_local_copy(const Chain& chain, std::size_t i) {
    const int number = chain.steps[i].writes;
    if (number < 0 || storage(number).lanes != kBlockChannels) return false;
    return is_local(number) ||
           (!is_spilled_[static_cast<std::size_t>(number)] && reads_later(chain, i, number));
  }
  bool is_local(int number) {
    return number >= 0 && storage(number).pool == kRowPool && storage(number).lanes == kBlockChannels;
  }
  std::optional<LocalMap>& local(int number) { return local_[static_cast<std::size_t>(number)]; }

  // Takes a storage out of local memory. (A chain of which no storage is local fits: what it stages is
  // limited.)
  void spill(const Chain& chain) {
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      if (!has_local_copy(chain, i)) continue;
      const int number = chain.steps[i].writes;
      is_spilled_[static_cast<std::size_t>(number)] = true;
      if (is_local(number)) keep_whole(storage(number));
      return;
    }
  }
  void keep_whole(Storage& s) {
    s.pool = kArenaPool;
    s.offset = made_.frame_floats - made_.pools[kArenaPool];
    made_.frame_floats += aligned(s.floats());
  }

  // --- places

  cl_int2 place_of(const ChannelPlace& place, int row_step) {
    if (const auto& at = local(place.storage)) return {{at->at + place.channel, -at->pitch}};
    if (const int other = stands_for_[static_cast<std::size_t>(place.storage)]; other >= 0)
      return place_of({other, place.channel, place.x, place.y}, row_step);
    if (storage(place.storage).pool == kRowPool) keep_whole(storage(place.storage));
    const RowPlace row = sightline::network::row_place(storages_, place, row_step);
    return {{static_cast<cl_int>(made_.pools[static_cast<std::size_t>(row.pool)] + row.offset),
             static_cast<cl_int>(row.row_step)}};
  }

  // Appends the places of every `step`th channel of a map, from `first` on. Returns the first's number.
  cl_int add_places(const Map& map, std::size_t first, std::size_t count, std::size_t step) {
    const auto at = static_cast<cl_int>(made_.places.size());
    for (std::size_t i = first; i < first + count; i += step)
      made_.places.push_back(place_of(map.channels[i], map.row_step));
    return at;
  }
  cl_int add_places(const InputRows& rows) {
    return add_places(rows.map(), 0, rows.map().channels.size(), rows.by_block() ? kBlock : 1);
  }

  void read_map(Op& op, const InputRows& rows) {
    op.places = add_places(rows);
    op.in_width = rows.map().width;
    op.in_height = rows.map().height;
    op.pixel_step = static_cast<cl_int>(rows.pixel_step());
  }

  // An operation that makes each quad of the step's blocks from a map.
  Op quads_from(OpKind kind, const InputRows& in, const OutputRows& out) {
    Op op;
    op.kind = kind;
    read_map(op, in);
    op.count = 4 * out.blocks();
    return op;
  }
  void add_quads(Op op) {
    write_blocks(op);
    made_.ops.push_back(op);
  }

  void read_window(Op& op, const WindowPlan& window) {
    op.stride_y = static_cast<cl_int>(window.stride[0]);
    op.stride_x = static_cast<cl_int>(window.stride[1]);
    op.before_y = static_cast<cl_int>(window.before[0]);
    op.before_x = static_cast<cl_int>(window.before[1]);
    op.dilation_y = static_cast<cl_int>(window.dilation[0]);
    op.dilation_x = static_cast<cl_int>(window.dilation[1]);
    op.kernel_y = static_cast<cl_int>(window.kernel[0]);
    op.kernel_x = static_cast<cl_int>(window.kernel[1]);
  }

  // Sets the place of the step's output.
  void write_blocks(Op& op) {
    const auto at = local(writes_);
    if (at) {
      op.out_local = at->at;
      op.out_pitch = at->pitch;
      if (is_local(writes_)) return;
    }
    local(writes_).reset();
    const cl_int2 place = place_of({writes_, 0}, 1);
    local(writes_) = at;
    op.out = place.s[0];
    op.out_row = place.s[1];
    op.out_block = static_cast<cl_int>(storage(writes_).block_floats());
  }

  static void set_activation(Op& op, const Activation& activation) {
    op.activation = static_cast<cl_int>(activation.kind);
    op.a = activation.a;
    op.b = activation.b;
  }
  void finish(Op& op, const ConvolutionStep& step) {
    set_activation(op, step.finish.activation);
    op.added_first = step.finish.adds_first;
    if (step.added.is_there) op.added = add_places(step.added.rows);
    write_blocks(op);
  }

  cl_int add_weights(const std::vector<float>& values) {
    const auto at = static_cast<cl_int>(made_.weights.size());
    made_.weights.insert(made_.weights.end(), values.begin(), values.end());
    return at;
  }

  // --- convolutions

  // Whether four channels lie side by side wherever a column of four begins.
  bool in_quads(const Map& map) {
    if (map.channels.size() % 4 != 0) return false;
    for (std::size_t i = 0; i < map.channels.size(); ++i) {
      const ChannelPlace &one = map.channels[i], &first = map.channels[i / 4 * 4];
      if (storage(one.storage).lanes != kBlockChannels || one.storage != first.storage || one.x != first.x ||
          one.y != first.y || first.channel % 4 != 0 ||
          one.channel != first.channel + static_cast<int>(i % 4))
        return false;
    }
    return true;
  }
  // The map's columns in local memory as they are; none where they are elsewhere, or have to be gathered.
  std::optional<LocalMap> columns_of(const Map& map) {
    const ChannelPlace& first = map.channels.front();
    const auto at = local(first.storage);
    if (!at || map.channels.size() % 4 != 0 || first.channel % 4 != 0) return {};
    for (std::size_t i = 0; i < map.channels.size(); ++i) {
      const ChannelPlace& one = map.channels[i];
      if (one.storage != first.storage || one.channel != first.channel + static_cast<int>(i)) return {};
    }
    return LocalMap{at->at + first.channel, at->pitch};
  }

  // The smallest part for each work-item with which they all do; none: too many outputs.
  std::optional<Tile> tile_for(int outputs) const {
    for (const Tile& tile : kTiles) {
      if (tile_ % tile.pixels == 0 && tile_ / tile.pixels * (outputs / tile.outputs) <= shape_.group)
        return tile;
    }
    return {};
  }

  static void set_tap(Op& op, int tap) {
    op.first_row = tap / op.kernel_x;
    op.first_column = tap % op.kernel_x;
  }

  void visit(const ConvolutionStep& step) override {
    const Map& map = step.in.map();
    const int inputs = static_cast<int>(map.channels.size()), columns = aligned_to(inputs, 4);
    const int taps = static_cast<int>(step.window.kernel[0] * step.window.kernel[1]);
    const int outputs = step.out.blocks() * kBlockChannels;
    int pass = outputs;
    while (!tile_for(pass) && pass > kBlockChannels) pass = aligned_to(pass / 2, kBlockChannels);
    const Tile tile = tile_for(pass).value_or(Tile{});
    // A smaller tile costs less than staging the sources again for a second pass.
    const int most = std::max(staged_ / tile_, 16);
    if (tile.pixels == 0 || (pass < outputs && taps * columns > most && tile_ > kFewestOfDense)) {
      is_too_large_ = true;
      return;
    }

    // Weights by column and output. What no input stands for is -0: adding 0 * -0 changes no sum.
    const auto weights = static_cast<cl_int>(made_.weights.size());
    for (int t = 0; t < taps; ++t) {
      for (int c = 0; c < columns; ++c) {
        for (int o = 0; o < outputs; ++o) made_.weights.push_back(c < inputs ? step.weight(o, t, c) : -0.0F);
      }
    }
    Op product;
    product.kind = OpKind::multiply;
    product.tile = tile.pixels << 8 | tile.outputs;
    product.weight_row = outputs;
    product.bias = add_weights(step.bias);
    finish(product, step);
    const auto multiply = [&](int first_column, int depth) {
      Op op = product;
      op.depth = depth;
      op.begins = first_column == 0;
      op.ends = first_column + depth == taps * columns;
      op.weights = weights + first_column * outputs;
      made_.ops.push_back(op);
    };
    const auto direct = taps == 1 && step.window.stride == Pair{1, 1} && step.window.before == Pair{0, 0}
                            ? columns_of(map)
                            : std::nullopt;
    const bool quads = in_quads(map);
    Op staging;
    read_window(staging, step.window);
    read_map(staging, step.in);
    staging.kind = quads ? OpKind::stage_quads : OpKind::stage;
    if (quads) {
      made_.places.resize(static_cast<std::size_t>(staging.places));
      add_places(map, 0, map.channels.size(), 4);
    }
    const int staged = std::min(most, taps * columns);
    std::optional<int> taken;
    if (direct) {
      product.local_at = direct->at;
      product.local_pitch = direct->pitch;
    } else {
      product.local_pitch = staging.local_pitch = aligned_to(staged, 8) + kPitchPad;
      taken = product.local_at = staging.local_at = memory_.take(tile_ * staging.local_pitch);
    }
    for (int first = 0; first < outputs; first += pass) {
      product.first_output = first;
      product.outputs = std::min(pass, outputs - first);
      if (direct) {
        multiply(0, columns);
      } else if (columns <= most) {
        const int together = most / columns;
        for (int t = 0; t < taps; t += together) {
          set_tap(staging, t);
          staging.taps = std::min(together, taps - t);
          staging.count = inputs;
          if (first == 0 || together < taps) made_.ops.push_back(staging);
          multiply(t * columns, staging.taps * columns);
        }
      } else {
        for (int t = 0; t < taps; ++t) {
          for (int c = 0; c < columns; c += most) {
            Op part = staging;
            set_tap(part, t);
            part.places += quads ? c / 4 : c;
            part.count = std::min(most, inputs - c);
            made_.ops.push_back(part);
            multiply(t * columns + c, aligned_to(part.count, 4));
          }
        }
      }
    }
    if (taken) memory_.give_back(*taken);
  }

  void visit(const DepthwiseStep& step) override {
    Op op = quads_from(OpKind::depthwise, step.in, step.out);
    read_window(op, step.window);
    op.weights = add_weights(step.weights);
    op.bias = add_weights(step.bias);
    finish(op, step);
    made_.ops.push_back(op);
  }

  // --- others

  void visit(const BinaryStep& step) override {
    Op op = quads_from(OpKind::binary, step.a, step.out);
    op.operation = static_cast<cl_int>(step.op);
    if (!step.has_b) {
      op.other_kind = 3;
    } else if (!step.constant.empty()) {
      op.other_kind = 2;
      op.other = add_weights(step.constant);
    } else {
      op.other_kind = step.b.map().height == 1 && step.b.map().width == 1;
      op.other = add_places(step.b);
    }
    set_activation(op, step.activation);
    add_quads(op);
  }

  void visit(const PoolStep& step) override {
    Op op = quads_from(OpKind::pool, step.in, step.out);
    read_window(op, step.window);
    add_quads(op);
  }

  void visit(const AverageStep& step) override {
    Op op = quads_from(OpKind::average, step.in, step.out);
    read_window(op, step.window);
    const auto add_counts = [&](const std::vector<float>& counts) {
      const auto at = static_cast<cl_int>(made_.tables.size());
      for (const float count : counts) made_.tables.push_back(std::bit_cast<cl_int>(count));
      return at;
    };
    op.weights = add_counts(step.counts.columns);
    op.bias = add_counts(step.counts.rows);
    add_quads(op);
  }

  void visit(const PadStep& step) override {
    Op op = quads_from(OpKind::pad, step.in, step.out);
    op.before_y = step.top;
    op.before_x = step.left;
    op.a = step.value;
    add_quads(op);
  }

  void visit(const ResizeStep& step) override {
    Op op = quads_from(OpKind::resize, step.in, step.out);
    op.operation = step.linear;
    const auto add_axis = [&](const ResizeAxis& axis) {
      const auto at = static_cast<cl_int>(made_.tables.size());
      for (std::size_t i = 0; i < axis.first.size(); ++i)
        made_.tables.insert(made_.tables.end(),
                            {axis.first[i], axis.second[i], std::bit_cast<cl_int>(axis.weight[i])});
      return at;
    };
    op.weights = add_axis(step.columns);
    op.bias = add_axis(step.rows);
    add_quads(op);
  }

  void visit(const MeanStep& step) override {
    Op op = quads_from(OpKind::mean_lanes, step.in, step.out);
    op.local_pitch = 4 * op.count + kPitchPad;
    op.local_at = memory_.take(16 * op.local_pitch);
    made_.ops.push_back(op);
    op.kind = OpKind::mean;
    add_quads(op);
    memory_.give_back(op.local_at);
  }

  void visit(const CopyStep& step) override {
    Op op = quads_from(OpKind::copy, step.in, step.out);
    op.outputs = static_cast<cl_int>(step.in.map().channels.size());
    add_quads(op);
  }

  // Planes that differ from the step's by their ends alone, of which kernels need none.
  bool is_copy_of_planes(const PackStep& step) {
    const Map& map = step.in.map();
    for (std::size_t c = 0; c < map.channels.size(); ++c) {
      const ChannelPlace& place = map.channels[c];
      if (storage(place.storage).lanes != 1 || place.storage != map.channels[0].storage ||
          place.channel != static_cast<int>(c) || place.x != 0 || place.y != 0)
        return false;
    }
    return map.row_step == 1 && map.column_step == 1;
  }

  void visit(const PackStep& step) override {
    if (is_copy_of_planes(step)) {
      stands_for_[static_cast<std::size_t>(writes_)] = step.in.map().channels.front().storage;
      return;
    }
    Op op;
    op.kind = OpKind::pack;
    read_map(op, step.in);
    op.count = step.out.blocks();
    const cl_int2 place = place_of({writes_, 0}, 1);
    op.out = place.s[0];
    op.row_step = place.s[1];
    op.column_step = 1;
    op.out_block = static_cast<cl_int>(storage(writes_).block_floats());
    made_.ops.push_back(op);
  }

  void visit(const PlaceStep& step) override {
    Op op;
    op.kind = OpKind::place;
    read_map(op, step.in);
    op.count = static_cast<cl_int>(step.in.map().channels.size());
    op.out = place_of({step.storage, 0}, 1).s[0];
    op.row_step = static_cast<cl_int>(step.row_step);
    op.column_step = static_cast<cl_int>(step.column_step);
    op.bias = static_cast<cl_int>(made_.tables.size());
    for (const std::int64_t offset : step.offsets) made_.tables.push_back(static_cast<cl_int>(offset));
    made_.ops.push_back(op);
  }

  const Plan& plan_;
  const LaunchShape shape_;
  std::vector<Storage> storages_;  // with those that local memory does not hold in the frame's
  std::vector<std::optional<LocalMap>> local_;
  std::vector<bool> is_spilled_;
  std::vector<int> stands_for_;  // the storage of which one is a copy that the device does not make; -1: none
  LocalMemory memory_;
  LevelTables made_;
  int tile_ = 0, staged_ = 0;
  int writes_ = -1;
  bool is_too_large_ = false;  // the tile, for a product
};

}  // namespace

LevelTables make_level_tables(const Plan& plan, const LaunchShape& shape) {
  return Tables(plan, shape).make();
}

}  // namespace sightline::network
