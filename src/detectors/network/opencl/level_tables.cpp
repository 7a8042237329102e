#include "detectors/network/opencl/level_tables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "detectors/network/opencl/local_memory.hpp"
#include "opencl/data.hpp"

namespace sightline::network {
namespace {

constexpr int kPitchPad = 4;  // floats between pixels in local memory, against conflicts of banks

// A work-item's part of a product.
struct Tile {
  int pixels = 0, outputs = 0;
};
constexpr std::array<Tile, 6> kTiles{{{1, 1}, {2, 1}, {4, 1}, {4, 2}, {4, 4}, {8, 4}}};  // of level.cl

// The local copy of a storage of one row.
struct LocalMap {
  int at = 0, pitch = 0;
};

class Tables {
 public:
  Tables(const Plan& plan, const Weights& weights, const LaunchShape& shape)
      : plan_(plan),
        weights_(weights.places),
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
    made_.first_launches.push_back(made_.launches.size());
    opencl::checked(made_.frame_floats);
    return std::move(made_);
  }

 private:
  static constexpr int kFewestPixels = 4, kFewestOfDense = 32;
  // Products are divided where tiles of this many pixels would be too few to keep the device busy.
  static constexpr int kNarrowTile = 4;
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
    made_.first_launches.push_back(made_.launches.size());
    std::vector<std::vector<Chain>> launches(1);
    for (const Chain& chain : level.chains) {
      if (is_narrow(chain)) {
        divide(chain, launches);
      } else {
        launches[0].push_back(chain);
      }
    }
    for (const std::vector<Chain>& chains : launches) {
      LevelTables::Launch launch{static_cast<cl_int>(made_.chains.size()), 0, 0, 4};
      for (const Chain& chain : chains) add_chain(launch, chain);
      if (launch.groups > 0) made_.launches.push_back(launch);
    }
  }

  // Divides a chain into parts of one product each, with the steps before it whose results no other part
  // reads, and adds each to the launch behind those that it reads from.
  void divide(const Chain& chain, std::vector<std::vector<Chain>>& launches) {
    const std::vector<bool> ends = ends_of_parts(chain);
    std::map<int, std::size_t> written;  // storages, and the launch that writes them
    Chain part{chain.height, {}};
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      const ChainStep& one = chain.steps[i];
      part.steps.push_back(one);
      if (!ends[i]) continue;
      if (i + 1 < chain.steps.size() && is_local(one.writes)) keep_whole(storage(one.writes));
      std::size_t launch = 0;
      for (const ChainStep& step : part.steps) {
        for (const int read : step.reads) {
          if (const auto writer = written.find(read); writer != written.end())
            launch = std::max(launch, writer->second + 1);
        }
      }
      if (one.writes >= 0) written[one.writes] = launch;
      launches.resize(std::max(launches.size(), launch + 1));
      launches[launch].push_back(std::exchange(part, {chain.height, {}}));
    }
  }
  bool is_narrow(const Chain& chain) const {
    const std::int64_t pixels = std::int64_t{chain.height} * width_of(chain, storages_);
    return pixels * shape_.frames < std::int64_t{kNarrowTile} * shape_.groups;
  }
  static bool is_product(const ChainStep& one) {
    return dynamic_cast<const ConvolutionStep*>(one.step) && !dynamic_cast<const DepthwiseStep*>(one.step);
  }
  // Whether several groups may make the same.
  static bool is_cheap(const ChainStep& one) {
    return !is_product(one) && !dynamic_cast<const PoolStep*>(one.step) &&
           !dynamic_cast<const AverageStep*>(one.step) && !dynamic_cast<const MeanStep*>(one.step);
  }
  // Whether parts of a chain end at its steps: at those that cost much, and at those whose results are not
  // local or a later part reads. Steps behind the last product are one part.
  std::vector<bool> ends_of_parts(const Chain& chain) {
    std::vector<bool> ends(chain.steps.size(), true);
    std::size_t next = chain.steps.size() - 1;  // end behind the step
    bool is_behind = true;
    for (std::size_t i = next; i-- > 0;) {
      const ChainStep& one = chain.steps[i];
      is_behind = is_behind && !is_product(chain.steps[i + 1]) && !is_product(one);
      ends[i] =
          !is_behind && (!is_cheap(one) || !is_local(one.writes) || reads_later(chain, next, one.writes));
      if (ends[i]) next = i;
    }
    return ends;
  }

  void add_chain(LevelTables::Launch& launch, const Chain& chain) {
    const int width = width_of(chain, storages_), all = chain.height * width;
    // Tiles as large as local memory allows, but enough of them for all of the device.
    tile_ = shape_.most_pixels;
    while (tile_ > kFewestPixels && std::int64_t{all} * shape_.frames < std::int64_t{tile_} * shape_.groups)
      tile_ /= 2;
    while (tile_ > kFewestPixels && tile_ / 2 >= all) tile_ /= 2;
    divided_ = {};
    if (is_narrow(chain) && is_product(chain.steps.back()))
      divide_outputs(storage(chain.steps.back().writes).blocks * kBlockChannels, all);
    const auto first_op = static_cast<cl_int>(made_.ops.size());
    staged_ = kMostStaged;
    while (!add_operations(chain)) {
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
    if (ops == 0) return;  // all of it stands for others
    ChainTable made;
    made.first_group = launch.groups;
    made.first_op = first_op;
    made.ops = ops;
    made.tile_shift = std::countr_zero(static_cast<unsigned>(tile_));
    made.pixels = all;
    made.width = width;
    made.width_inverse = static_cast<cl_uint>(((std::uint64_t{1} << 32) + width - 1) / width);
    read_ahead(made, chain);
    made_.chains.push_back(made);
    launch.groups += (all + tile_ - 1) / tile_ * made.parts;
    launch.local_floats = std::max(launch.local_floats, memory_.most());
    ++launch.chains;
  }

  // Sets the tile, and how many outputs of each pixel a group makes.
  void divide_outputs(int outputs, int pixels) {
    for (auto shape = kTiles.rbegin(); shape != kTiles.rend(); ++shape) {
      const int made = shape_.group * shape->pixels * shape->outputs;  // by a group
      tile_ = 1 << (std::bit_width(static_cast<unsigned>(made)) / 2);
      while (tile_ > kFewestPixels && tile_ / 2 >= pixels) tile_ /= 2;
      const int blocks = outputs / kBlockChannels;
      int parts = 1;
      while (blocks % parts != 0 || (parts < blocks && outputs / parts > made / tile_)) ++parts;
      divided_.outputs = outputs / parts;
      const std::int64_t groups = std::int64_t{(pixels + tile_ - 1) / tile_} * parts * shape_.frames;
      if (groups >= shape_.groups) break;
    }
  }

  void read_ahead(ChainTable& made, const Chain& chain) const {
    constexpr std::int64_t kMostAhead = 32 << 10;  // floats
    if (divided_.outputs == 0) {
      made.ahead = weights_.at(chain.steps.front().step).first;
      const cl_int read = weights_.at(chain.steps.back().step).last - made.ahead;
      made.ahead_rows = 1;
      made.ahead_row = read <= kMostAhead ? read : 0;
      return;
    }
    made.parts = divided_.all_outputs / divided_.outputs;
    made.ahead = divided_.weights;
    made.ahead_row = divided_.outputs;
    made.ahead_step = divided_.all_outputs;
    made.ahead_rows = std::int64_t{divided_.rows} * divided_.outputs <= kMostAhead ? divided_.rows : 0;
  }

  // False where local memory does not suffice.
  bool add_operations(const Chain& chain) {
    const std::size_t ops = made_.ops.size(), places = made_.places.size(), tables = made_.tables.size();
    memory_ = {};
    is_too_large_ = false;
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      const ChainStep& one = chain.steps[i];
      if (has_local_copy(chain, i) && !local(one.writes)) {
        const int pitch = storage(one.writes).blocks * kBlockChannels + kPitchPad;
        local(one.writes) = LocalMap{memory_.take(tile_ * pitch), pitch};
      }
      writes_ = one.writes;
      add_any<DepthwiseStep, ConvolutionStep, BinaryStep, PoolStep, AverageStep, PadStep, ResizeStep,
              MeanStep, CopyStep, PackStep, PlaceStep>(*one.step);
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
    return false;
  }

  // Adds a step's operations as the first of the kinds that it is.
  template <typename... Kinds>
  void add_any(const Step& step) {
    const auto add_if = [&](const auto* one) {
      if (one) add(*one);
      return one != nullptr;
    };
    (add_if(dynamic_cast<const Kinds*>(&step)) || ...);
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

  // Takes a storage out of local memory.
  void spill(const Chain& chain) {
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      if (!has_local_copy(chain, i)) continue;
      const int number = chain.steps[i].writes;
      is_spilled_[static_cast<std::size_t>(number)] = true;
      if (is_local(number)) keep_whole(storage(number));
      return;
    }
    throw Error(ExitCode::failed, "the device has too little local memory for the network");
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

  // Every `step`th channel of a map, from `first` on.
  Sources sources_of(const Map& map, int first, int count, int step) {
    std::vector<cl_int2> places;
    for (int i = first; i < first + count; i += step)
      places.push_back(place_of(map.channels[static_cast<std::size_t>(i)], map.row_step));
    const cl_int2 start = places.front();
    const cl_int apart = places.size() > 1 ? places[1].s[0] - start.s[0] : 0;
    bool is_even = true;
    for (std::size_t i = 0; i < places.size(); ++i)
      is_even = is_even && places[i].s[1] == start.s[1] &&
                places[i].s[0] == start.s[0] + static_cast<cl_int>(i) * apart;
    if (is_even) return {-1, start.s[0], apart, start.s[1]};
    const Sources listed{static_cast<cl_int>(made_.places.size()), 0, 0, 0};
    made_.places.insert(made_.places.end(), places.begin(), places.end());
    return listed;
  }
  Sources sources_of(const InputRows& rows) {
    return sources_of(rows.map(), 0, static_cast<int>(rows.map().channels.size()),
                      rows.by_block() ? kBlockChannels : 1);
  }

  void read_map(Op& op, const InputRows& rows) {
    op.in_width = rows.map().width;
    op.in_height = rows.map().height;
    op.pixel_step = static_cast<cl_int>(rows.pixel_step());
  }

  // An operation that makes each quad of the step's blocks from a map.
  Op quads_from(OpKind kind, const InputRows& in, const OutputRows& out) {
    Op op;
    op.kind = kind;
    op.in = sources_of(in);
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
    op.adds = step.added.has_value();
    if (step.added) op.added = sources_of(*step.added);
    write_blocks(op);
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

  // Stages channels of a map. Quads are staged by runs that lie evenly: in one block, or from the start of a
  // block on.
  void add_staging(const Op& staging, const Map& map, int first, int count) {
    const auto channel = [&](int i) { return map.channels[static_cast<std::size_t>(i)]; };
    Op op = staging;
    op.columns = aligned_to(count, 4);
    for (int begin = first; begin < first + count; begin += op.count) {
      op.count = first + count - begin;
      const bool by_quad = op.kind == OpKind::stage_quads;
      if (by_quad) {
        const ChannelPlace start = channel(begin);
        const int offset = start.channel % kBlockChannels;
        const int most = offset == 0 ? op.count : std::min(op.count, kBlockChannels - offset);
        for (op.count = 1; op.count < most; ++op.count) {
          const ChannelPlace next = channel(begin + op.count);
          if (next.storage != start.storage || next.channel != start.channel + op.count) break;
        }
      }
      op.in = sources_of(map, begin, op.count, by_quad ? kBlockChannels : 1);
      op.local_at = staging.local_at + begin - first;
      op.waits = begin + op.count == first + count;
      made_.ops.push_back(op);
    }
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

  void add(const ConvolutionStep& step) {
    const Map& map = step.in.map();
    const int inputs = static_cast<int>(map.channels.size()), columns = aligned_to(inputs, 4);
    const int taps = taps_of(step);
    const int outputs = step.out.blocks() * kBlockChannels;
    const bool is_divided = divided_.outputs > 0;
    int pass = is_divided ? divided_.outputs : outputs;
    while (!tile_for(pass) && pass > kBlockChannels) pass = aligned_to(pass / 2, kBlockChannels);
    const Tile tile = tile_for(pass).value_or(Tile{});
    // A smaller tile costs less than staging the sources again for a second pass.
    const int most = std::max(staged_ / tile_, 16);
    if (tile.pixels == 0 ||
        (!is_divided && pass < outputs && taps * columns > most && tile_ > kFewestOfDense)) {
      is_too_large_ = true;
      return;
    }

    const Weights::Place& placed = weights_.at(&step);
    divided_.weights = placed.first;
    divided_.rows = taps * columns;
    divided_.all_outputs = outputs;
    Op product;
    product.kind = OpKind::multiply;
    product.tile = tile.pixels << 8 | tile.outputs;
    product.weight_row = outputs;
    product.bias = placed.bias;
    finish(product, step);
    const auto multiply = [&](int first_column, int depth) {
      Op op = product;
      op.depth = depth;
      op.begins = first_column == 0;
      op.ends = first_column + depth == taps * columns;
      op.weights = placed.first + first_column * outputs;
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
    const int staged = std::min(most, taps * columns);
    std::optional<int> taken;
    if (direct) {
      product.local_at = direct->at;
      product.local_pitch = direct->pitch;
    } else {
      product.local_pitch = staging.local_pitch = aligned_to(staged, 8) + kPitchPad;
      taken = product.local_at = staging.local_at = memory_.take(tile_ * staging.local_pitch);
    }
    for (int first = 0; first < (is_divided ? pass : outputs); first += pass) {
      product.first_output = first;
      product.outputs = std::min(pass, outputs - first);
      if (direct) {
        multiply(0, columns);
      } else if (columns <= most) {
        const int together = most / columns;
        for (int t = 0; t < taps; t += together) {
          set_tap(staging, t);
          staging.taps = std::min(together, taps - t);
          if (first == 0 || together < taps) add_staging(staging, map, 0, inputs);
          multiply(t * columns, staging.taps * columns);
        }
      } else {
        for (int t = 0; t < taps; ++t) {
          for (int c = 0; c < columns; c += most) {
            Op part = staging;
            set_tap(part, t);
            const int count = std::min(most, inputs - c);
            add_staging(part, map, c, count);
            multiply(t * columns + c, aligned_to(count, 4));
          }
        }
      }
    }
    if (taken) memory_.give_back(*taken);
  }

  void add(const DepthwiseStep& step) {
    Op op = quads_from(OpKind::depthwise, step.in, step.out);
    read_window(op, step.window);
    op.weights = weights_.at(&step).first;
    op.bias = weights_.at(&step).bias;
    finish(op, step);
    made_.ops.push_back(op);
  }

  // --- others

  void add(const BinaryStep& step) {
    Op op = quads_from(OpKind::binary, step.a, step.out);
    op.operation = static_cast<cl_int>(step.op);
    if (step.b) {
      op.other_kind = step.b->map().height == 1 && step.b->map().width == 1;
      op.other = sources_of(*step.b);
    } else if (!step.constant.empty()) {
      op.other_kind = 2;
      op.constants = weights_.at(&step).first;
    } else {
      op.other_kind = 3;
    }
    set_activation(op, step.activation);
    add_quads(op);
  }

  void add(const PoolStep& step) {
    Op op = quads_from(OpKind::pool, step.in, step.out);
    read_window(op, step.window);
    add_quads(op);
  }

  void add(const AverageStep& step) {
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

  void add(const PadStep& step) {
    Op op = quads_from(OpKind::pad, step.in, step.out);
    op.before_y = step.top;
    op.before_x = step.left;
    op.a = step.value;
    add_quads(op);
  }

  void add(const ResizeStep& step) {
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

  // By as many blocks at once as have room for their sums.
  void add(const MeanStep& step) {
    constexpr int kAtOnce = 16;
    const int blocks = step.out.blocks();
    Op whole;
    whole.kind = OpKind::mean_lanes;
    read_map(whole, step.in);
    whole.local_pitch = std::min(blocks, kAtOnce) * kBlockChannels + kPitchPad;
    whole.local_at = memory_.take(16 * whole.local_pitch);
    for (int first = 0; first < blocks; first += kAtOnce) {
      const int end = std::min(first + kAtOnce, blocks);
      Op op = whole;
      op.count = 4 * (end - first);
      op.in =
          sources_of(step.in.map(), first * kBlockChannels, (end - first) * kBlockChannels, kBlockChannels);
      made_.ops.push_back(op);
      op.kind = OpKind::mean;
      write_blocks(op);
      op.out_local += first * kBlockChannels;
      op.out += first * op.out_block;
      made_.ops.push_back(op);
    }
    memory_.give_back(whole.local_at);
  }

  void add(const CopyStep& step) {
    Op op = quads_from(OpKind::copy, step.in, step.out);
    op.outputs = static_cast<cl_int>(step.in.map().channels.size());
    add_quads(op);
  }

  void add(const PackStep& step) {
    // Planes differ from the step's by their ends alone, of which kernels need none.
    if (storage(step.in.map().channels.front().storage).lanes == 1) {
      stands_for_[static_cast<std::size_t>(writes_)] = step.in.map().channels.front().storage;
      return;
    }
    Op op;
    op.kind = OpKind::pack;
    op.in = sources_of(step.in);
    read_map(op, step.in);
    op.count = step.out.blocks();
    const cl_int2 place = place_of({writes_, 0}, 1);
    op.out = place.s[0];
    op.row_step = place.s[1];
    op.column_step = 1;
    op.out_block = static_cast<cl_int>(storage(writes_).block_floats());
    made_.ops.push_back(op);
  }

  void add(const PlaceStep& step) {
    Op op;
    op.kind = OpKind::place;
    op.in = sources_of(step.in);
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
  const std::map<const Step*, Weights::Place>& weights_;
  const LaunchShape shape_;
  std::vector<Storage> storages_;  // with those that local memory does not hold in the frame's
  std::vector<std::optional<LocalMap>> local_;
  std::vector<bool> is_spilled_;
  std::vector<int> stands_for_;  // the storage of which one is a copy that the device does not make; -1: none
  LocalMemory memory_;
  LevelTables made_;
  // The product whose outputs are divided among groups, if any.
  struct {
    int outputs = 0, all_outputs = 0;  // of a group; of all
    cl_int weights = 0, rows = 0;
  } divided_;
  int tile_ = 0, staged_ = 0;
  int writes_ = -1;
  bool is_too_large_ = false;  // the tile, for a product
};

}  // namespace

LevelTables make_level_tables(const Plan& plan, const Weights& weights, const LaunchShape& shape) {
  return Tables(plan, weights, shape).make();
}

}  // namespace sightline::network
