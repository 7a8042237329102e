#include "detectors/network/plan_builder.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace sightline::network {

Map PlanBuilder::new_map(int height, int width, std::size_t channels, int lanes) {
  Map map{height, width, 1, 1, {}};
  Storage made;
  made.height = height;
  made.width = width;
  made.lanes = lanes;
  made.blocks =
      static_cast<int>((channels + static_cast<std::size_t>(lanes) - 1) / static_cast<std::size_t>(lanes));
  const auto number = static_cast<int>(plan_.storages.size());
  plan_.storages.push_back(made);
  writers_.emplace_back();
  for (std::size_t c = 0; c < channels; ++c) map.channels.push_back({number, static_cast<int>(c)});
  return map;
}

std::vector<Read> PlanBuilder::reads_of(const Map& map, bool by_row) {
  std::set<int> storages;
  for (const ChannelPlace& place : map.channels) storages.insert(place.storage);
  std::vector<Read> reads;
  for (const int one : storages) reads.push_back({one, by_row && map.row_step == 1});
  return reads;
}

void PlanBuilder::add_step(std::unique_ptr<Step> step, Planned planned) {
  planned.step = step.get();
  plan_.steps.push_back(std::move(step));
  const auto joins = [&](const Read& read, std::size_t writer) {
    return read.by_row && planned_[writer].height == planned.height;
  };
  for (const Read& read : planned.reads) {
    for (const std::size_t writer : writers_[static_cast<std::size_t>(read.storage)])
      planned.level = std::max(planned.level, planned_[writer].level + (joins(read, writer) ? 0 : 1));
  }
  for (const int number : planned.values_read)
    planned.level = std::max(planned.level, value_level_[static_cast<std::size_t>(number)] + 1);
  planned.chain = static_cast<int>(planned_.size());
  for (const Read& read : planned.reads) {
    for (const std::size_t writer : writers_[static_cast<std::size_t>(read.storage)]) {
      if (planned_[writer].level == planned.level) join(planned_[writer].chain, planned.chain);
    }
  }
  if (planned.writes >= 0) writers_[static_cast<std::size_t>(planned.writes)].push_back(planned_.size());
  for (const int number : planned.values_written) {
    int& level = value_level_[static_cast<std::size_t>(number)];
    level = std::max(level, planned.level);
  }
  planned_.push_back(std::move(planned));
}

void PlanBuilder::join(int kept, int& joined) {
  if (kept == joined) return;
  const int old = joined;
  for (Planned& one : planned_) {
    if (one.chain == old) one.chain = kept;
  }
  joined = kept;
}

void PlanBuilder::make_levels() {
  find_local_storages();
  int levels = 0;
  for (const Planned& one : planned_) levels = std::max(levels, one.level + 1);
  plan_.levels.resize(static_cast<std::size_t>(levels));
  std::map<std::pair<int, int>, Chain> chains;
  for (const Planned& one : planned_) {
    Chain& chain = chains[{one.level, one.chain}];
    chain.height = one.height;
    chain.steps.push_back(one.step);
    const auto live = [&](int number) {
      Storage& s = storage(number);
      s.first_level = s.first_level < 0 ? one.level : std::min(s.first_level, one.level);
      s.last_level = std::max(s.last_level, one.level);
    };
    if (one.writes >= 0) live(one.writes);
    for (const Read& read : one.reads) live(read.storage);
  }
  for (auto& [key, chain] : chains)
    plan_.levels[static_cast<std::size_t>(key.first)].chains.push_back(std::move(chain));
}

// Storages that one chain alone writes and reads, row by row.
void PlanBuilder::find_local_storages() {
  std::vector<std::set<int>> chains(plan_.storages.size());
  std::vector<bool> by_row(plan_.storages.size(), true);
  for (const Planned& one : planned_) {
    if (one.writes >= 0) chains[static_cast<std::size_t>(one.writes)].insert(one.chain);
    for (const Read& read : one.reads) {
      const auto number = static_cast<std::size_t>(read.storage);
      chains[number].insert(one.chain);
      by_row[number] = by_row[number] && read.by_row;
    }
  }
  for (std::size_t i = 0; i < plan_.storages.size(); ++i)
    plan_.storages[i].is_local = by_row[i] && plan_.storages[i].pad == 0 && chains[i].size() == 1;
}

// Gives storages that live at the same time places that do not overlap, the largest first.
void PlanBuilder::lay_out_arena() {
  std::vector<std::size_t> order(plan_.storages.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return plan_.storages[a].floats() > plan_.storages[b].floats();
  });
  for (const std::size_t i : order) {
    Storage& s = plan_.storages[i];
    const std::int64_t size = (s.floats() + kBlock - 1) / kBlock * kBlock;
    if (s.is_local) {
      s.offset = plan_.row_floats;
      plan_.row_floats += size;
      continue;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const std::size_t k : placed) {
      const Storage& other = plan_.storages[k];
      if (other.first_level <= s.last_level && s.first_level <= other.last_level)
        taken.emplace_back(other.offset, other.offset + other.floats());
    }
    std::ranges::sort(taken);
    s.offset = 0;
    for (const auto& [begin, end] : taken) {
      if (s.offset + size <= begin) break;
      s.offset = std::max(s.offset, (end + kBlock - 1) / kBlock * kBlock);
    }
    plan_.arena_floats = std::max(plan_.arena_floats, s.offset + size);
    placed.push_back(i);
  }
}

void PlanBuilder::finish() {
  make_levels();
  lay_out_arena();
  for (const auto& step : plan_.steps) {
    step->lay_out(plan_.storages);
    plan_.pointers = std::max(plan_.pointers, step->pointers());
    plan_.zero_floats = std::max(plan_.zero_floats, step->zeros());
    plan_.spare_floats = std::max(plan_.spare_floats, step->spare());
  }
}

}  // namespace sightline::network
