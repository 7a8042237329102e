#include "network/opencl/tasks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "network/plan/arena.hpp"

namespace sightline::nn {

bool TaskStep::reads(int tensor) const {
  const auto reads_it = [&](const DeviceOperand& one) {
    return std::ranges::any_of(one.runs, [&](const ChannelRun& run) { return run.tensor == tensor; }) ||
           std::ranges::find(one.tensors, tensor) != one.tensors.end();
  };
  return std::ranges::any_of(operands, reads_it) || std::ranges::any_of(finish_operands, reads_it);
}

bool TaskStep::reads_local(int tensor) const {
  const auto can_read = [&](const DeviceOperand& one) { return one.reads_local(tensor); };
  return kind != StepKind::map_fold && std::ranges::all_of(operands, can_read) &&
         std::ranges::all_of(finish_operands, can_read);
}

namespace {

constexpr int kPitchPad = 4;  // floats between points in local memory, against conflicts of banks
constexpr int kLeastTile = 4, kLeastDense = 32, kLeastWhole = 16;
constexpr int kMostStaged = 10240;  // floats of a tile
// A work-item's part of a product, by rising size.
struct ItemTile {
  int points = 1, outputs = 1;
};
constexpr std::array<ItemTile, 6> kItemTiles{{{1, 1}, {2, 1}, {4, 1}, {4, 2}, {4, 4}, {8, 4}}};
// Tasks are divided where tiles of this many points would be too few to keep the device busy.
constexpr int kNarrowTile = 4;
constexpr int kBlock = static_cast<int>(kLanes);

int aligned_to(std::int64_t count, int step) {
  return static_cast<int>((count + step - 1) / step * step);
}

bool is_narrow(std::int64_t points, const DeviceShape& shape) {
  return points * shape.frames < std::int64_t{kNarrowTile} * shape.groups;
}

// Whether several work-groups may compute the same.
bool is_cheap(StepKind kind) {
  return kind == StepKind::map || kind == StepKind::depthwise || kind == StepKind::resample;
}

bool is_read_from(const Task& task, std::size_t first, const TaskStep& maker) {
  return std::any_of(
      task.steps.begin() + static_cast<std::ptrdiff_t>(first), task.steps.end(), [&](const TaskStep& later) {
        return std::ranges::any_of(maker.step.outputs(), [&](int made) { return later.reads(made); });
      });
}

// Whether parts of a task end at its steps: at those that cost much, and at those that a later part reads.
// Steps behind the last product are one part.
std::vector<bool> ends_of_parts(const Task& task) {
  std::vector<bool> ends(task.steps.size(), true);
  std::size_t next = task.steps.size() - 1;  // end behind the step
  bool is_behind = true;
  for (std::size_t i = next; i-- > 0;) {
    const TaskStep& one = task.steps[i];
    is_behind = is_behind && task.steps[i + 1].kind != StepKind::product && one.kind != StepKind::product;
    ends[i] = !is_behind && (!is_cheap(one.kind) || is_read_from(task, next + 1, one));
    if (ends[i]) next = i;
  }
  return ends;
}

}  // namespace

std::vector<Task> divided(Task task, const DeviceShape& shape) {
  if (!is_narrow(task.points, shape)) return {std::move(task)};
  const std::vector<bool> ends = ends_of_parts(task);
  std::map<int, int> written;  // tensors, and the launch that writes them
  std::vector<Task> parts;
  Task part{{}, task.points, task.width, 0, false};
  for (std::size_t i = 0; i < task.steps.size(); ++i) {
    part.steps.push_back(task.steps[i]);
    if (!ends[i]) continue;
    for (const auto& [tensor, launch] : written) {
      const auto reads = [&, of = tensor](const TaskStep& one) { return one.reads(of); };
      if (std::ranges::any_of(part.steps, reads)) part.launch = std::max(part.launch, launch + 1);
    }
    for (const TaskStep& one : part.steps) {
      for (const int made : one.step.outputs()) written[made] = part.launch;
    }
    part.divides_outputs = part.steps.back().kind == StepKind::product;
    parts.push_back(std::exchange(part, {{}, task.points, task.width, 0, false}));
  }
  return parts;
}

namespace {

class TileFinder {
 public:
  TileFinder(const Task& task, const DeviceShape& shape, std::vector<bool>& is_local)
      : task_(task), shape_(shape), is_local_(is_local) {}

  TaskTile find() {
    points_ = shape_.most_points;
    while (points_ > kLeastTile && task_.points * shape_.frames < std::int64_t{points_} * shape_.groups)
      points_ /= 2;
    limit_points();
    if (task_.divides_outputs) divide_outputs();
    staged_ = kMostStaged;
    while (!place()) {
      if (staged_ == kMostStaged) {
        staged_ /= 2;
      } else if (points_ > kLeastTile) {
        points_ /= 2;
        staged_ = kMostStaged;
      } else {
        spill();
      }
    }
    tile_.shift = std::countr_zero(static_cast<unsigned>(points_));
    return std::move(tile_);
  }

 private:
  void limit_points() {
    if (task_.steps[0].kind == StepKind::top_k_of_many) points_ = kRankedTogether;
    while (points_ > kLeastTile && points_ / 2 >= task_.points) points_ /= 2;
  }

  // Sets the tile, and how many outputs of each point a work-group computes.
  void divide_outputs() {
    const auto outputs = static_cast<int>(task_.steps.back().lanes());
    for (int made = shape_.group * kItemTiles.back().points * kItemTiles.back().outputs;
         made >= shape_.group / 2; made /= 2) {
      points_ = std::min(1 << (std::bit_width(static_cast<unsigned>(made)) / 2),
                         std::max(made / kBlock, kLeastTile));
      limit_points();
      const int blocks = outputs / kBlock;
      int parts = 1;
      while (blocks % parts != 0 || (parts < blocks && outputs / parts > made / points_)) ++parts;
      tile_.parts = parts;
      const std::int64_t groups = (task_.points + points_ - 1) / points_ * parts * shape_.frames;
      if (groups >= shape_.groups) break;
    }
  }

  // The tile's tensors and columns by lifetimes in steps; false where local memory does not suffice.
  bool place() {
    tile_.tensors.clear();
    tile_.products.clear();
    tile_.lanes.clear();
    std::vector<std::pair<int*, Storage>> all;
    const auto take = [&](int& to, int floats, std::size_t first, std::size_t last) {
      Storage one;
      one.bytes = std::int64_t{floats} * 4;
      one.first_wave = static_cast<int>(first);
      one.last_wave = static_cast<int>(last);
      all.emplace_back(&to, one);
    };
    for (std::size_t i = 0; i < task_.steps.size(); ++i) {
      const TaskStep& one = task_.steps[i];
      for (const int made : one.step.outputs()) {
        const std::size_t last = last_reader(made, i);
        if (last == i || !is_local_[static_cast<std::size_t>(made)]) continue;
        LocalPlace& place = tile_.tensors[made];
        place.pitch = static_cast<int>(one.lanes()) + kPitchPad;
        take(place.at, points_ * place.pitch, i, last);
      }
      if (one.kind == StepKind::product) {
        const auto product = product_tile(i);
        if (!product) return false;
        ProductTile& own = tile_.products[i] = *product;
        if (!own.is_direct) take(own.columns.at, points_ * own.columns.pitch, i, i);
        if (own.outputs < 4) take(own.sums.at, points_ * own.sums.pitch, i, i);
      }
      if (one.kind == StepKind::map_fold) {
        LocalPlace& own = tile_.lanes[i];
        own.pitch = static_cast<int>(std::min(one.lanes(), kFoldedChannels)) + kPitchPad;
        take(own.at, kBlock * own.pitch, i, i);
      }
      if (one.kind == StepKind::top_k_of_many) {
        LocalPlace& own = tile_.lanes[i];
        own.pitch = shape_.group;
        take(own.at, points_ * own.pitch, i, i);
      }
    }
    std::vector<Storage*> storages;
    for (auto& [at, storage] : all) storages.push_back(&storage);
    tile_.local_floats = std::max(4, static_cast<int>(place_in_arena(storages, 0) / 4));
    for (const auto& [at, storage] : all) *at = static_cast<int>(storage.offset / 4);
    place_direct_columns();
    return tile_.local_floats <= shape_.local_floats;
  }

  std::size_t last_reader(int tensor, std::size_t maker) const {
    std::size_t last = maker;
    for (std::size_t i = maker + 1; i < task_.steps.size(); ++i) {
      if (task_.steps[i].reads(tensor)) last = i;
    }
    return last;
  }

  // The smallest part of each work-item with which they all do; none: there are too many outputs.
  std::optional<ItemTile> item_tile(int outputs) const {
    for (const ItemTile& one : kItemTiles) {
      if (points_ % one.points == 0 && points_ / one.points * (outputs / one.outputs) <= shape_.group)
        return one;
    }
    return {};
  }

  std::optional<ProductTile> product_tile(std::size_t number) const {
    const TaskStep& step = task_.steps[number];
    const auto outputs = static_cast<int>(step.lanes());
    const bool is_divided = task_.divides_outputs && number + 1 == task_.steps.size();
    ProductTile made;
    made.pass = is_divided ? outputs / tile_.parts : outputs;
    while (!item_tile(made.pass) && made.pass > kBlock) made.pass = aligned_to(made.pass / 2, kBlock);
    const std::optional<ItemTile> own = item_tile(made.pass);
    if (!own) return {};
    made.points = own->points;
    made.outputs = own->outputs;
    made.is_direct = direct_columns(step) != nullptr;
    const int most = std::max(staged_ / points_, kBlock), columns = step.columns(),
              all = step.taps() * columns;
    // A smaller tile costs less than staging the operand again for a second pass.
    if (!made.is_direct && !is_divided && made.pass < outputs && all > most && points_ > kLeastDense)
      return {};
    // And less than staging the columns of a tap in chunks.
    if (!made.is_direct && columns > most && points_ > kLeastWhole) return {};
    // Even chunks of taps, or of a tap's columns.
    const bool has_taps = columns <= most;
    const int count = has_taps ? step.taps() : columns / 4, together = has_taps ? most / columns : most / 4;
    const int chunks = (count + together - 1) / together;
    made.staged = (count + chunks - 1) / chunks * (has_taps ? columns : 4);
    made.columns.pitch = aligned_to(made.staged, 8) + kPitchPad;
    made.sums.pitch = made.pass + kPitchPad;
    return made;
  }
  // The run of channels in local memory that are a product's columns as they are; null: there is none.
  const ChannelRun* direct_columns(const TaskStep& step) const {
    const DeviceOperand& x = step.operands[0];
    const bool is_one = step.is_pointwise() && x.kind == DeviceOperand::Kind::quads && x.runs.size() == 1 &&
                        x.count % 4 == 0 && tile_.tensors.contains(x.runs[0].tensor);
    return is_one ? &x.runs[0] : nullptr;
  }
  void place_direct_columns() {
    for (auto& [number, product] : tile_.products) {
      if (!product.is_direct) continue;
      const ChannelRun& run = *direct_columns(task_.steps[number]);
      const LocalPlace& tensor = tile_.tensors.at(run.tensor);
      product.columns = {tensor.at + static_cast<int>(run.number), tensor.pitch};
    }
  }

  // Takes the first tensor out of local memory.
  void spill() {
    if (tile_.tensors.empty()) throw Problem("needs more local memory than the device has");
    for (const TaskStep& one : task_.steps) {
      for (const int made : one.step.outputs()) {
        if (!tile_.tensors.contains(made)) continue;
        is_local_[static_cast<std::size_t>(made)] = false;
        return;
      }
    }
  }

  const Task& task_;
  const DeviceShape& shape_;
  std::vector<bool>& is_local_;
  int points_ = 0, staged_ = 0;
  TaskTile tile_;
};

}  // namespace

TaskTile tile_of(const Task& task, const DeviceShape& shape, std::vector<bool>& is_local) {
  return TileFinder(task, shape, is_local).find();
}

}  // namespace sightline::nn
