#include "detectors/network/plan_builder.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
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
  const bool by_pixel = by_row && map.row_step == 1 && map.column_step == 1 &&
                        std::ranges::all_of(map.channels, [](const ChannelPlace& place) {
                          return place.x == 0 && place.y == 0;
                        });
  for (const int one : storages) reads.push_back({one, by_pixel});
  return reads;
}

void PlanBuilder::add_step(std::unique_ptr<Step> step, Planned planned) {
  planned.step = step.get();
  plan_.steps.push_back(std::move(step));
  planned.suits_devices =
      planned.suits_devices && planned.step->suits_devices() && planned.values_read.empty();
  const auto for_each_writer = [&](const auto& use) {
    for (const Read& read : planned.reads) {
      for (const std::size_t writer : writers_[static_cast<std::size_t>(read.storage)])
        use(read, planned_[writer]);
    }
  };
  for_each_writer([&](const Read&, const Planned& writer) {
    planned.suits_devices = planned.suits_devices && writer.suits_devices;
  });
  for_each_writer([&](const Read& read, const Planned& writer) {
    if (writer.suits_devices != planned.suits_devices) return;
    const bool joins = read.by_row && writer.height == planned.height;
    planned.level = std::max(planned.level, writer.level + (joins ? 0 : 1));
  });
  for (const int number : planned.values_read)
    planned.level = std::max(planned.level, value_level_[static_cast<std::size_t>(number)] + 1);
  planned.chain = static_cast<int>(planned_.size());
  for_each_writer([&](const Read&, const Planned& writer) {
    if (writer.suits_devices == planned.suits_devices && writer.level == planned.level)
      join(writer.chain, planned.chain);
  });
  if (planned.writes >= 0) writers_[static_cast<std::size_t>(planned.writes)].push_back(planned_.size());
  for (const int number : planned.values_written) {
    int& level = value_level_[static_cast<std::size_t>(number)];
    level = std::max(level, planned.level);
  }
  planned_.push_back(std::move(planned));
}

bool PlanBuilder::suits_devices(const Map& map) const {
  return std::ranges::all_of(map.channels, [&](const ChannelPlace& place) {
    return std::ranges::all_of(writers_[static_cast<std::size_t>(place.storage)],
                               [&](std::size_t writer) { return planned_[writer].suits_devices; });
  });
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
  int device_levels = 0, levels = 0;
  for (const Planned& one : planned_) {
    if (one.suits_devices) device_levels = std::max(device_levels, one.level + 1);
  }
  for (Planned& one : planned_) {
    if (!one.suits_devices) one.level += device_levels;
    levels = std::max(levels, one.level + 1);
  }
  plan_.levels.resize(static_cast<std::size_t>(levels));
  std::map<std::pair<int, int>, Chain> chains;
  for (const Planned& one : planned_) {
    Chain& chain = chains[{one.level, one.chain}];
    chain.height = one.height;
    chain.steps.push_back({one.step, {}, one.writes});
    for (const Read& read : one.reads) chain.steps.back().reads.push_back(read.storage);
    const auto live = [&](int number) {
      Storage& s = storage(number);
      s.first_level = s.first_level < 0 ? one.level : std::min(s.first_level, one.level);
      s.last_level = std::max(s.last_level, one.level);
    };
    if (one.writes >= 0) live(one.writes);
    for (const Read& read : one.reads) live(read.storage);
  }
  for (Storage& s : plan_.storages) {
    if (s.is_result) s.last_level = levels;
  }
  for (auto& [key, chain] : chains)
    plan_.levels[static_cast<std::size_t>(key.first)].chains.push_back(std::move(chain));
  cut_segments(static_cast<std::size_t>(device_levels));
}

// Cuts the levels that suit devices near thirds of their work, where the fewest floats pass.
void PlanBuilder::cut_segments(std::size_t device_levels) {
  std::vector<std::int64_t> work(plan_.levels.size() + 1, 0);  // before each level
  for (std::size_t l = 0; l < plan_.levels.size(); ++l) {
    work[l + 1] = work[l];
    for (const Chain& chain : plan_.levels[l].chains) {
      for (const ChainStep& one : chain.steps) work[l + 1] += one.step->multiply_adds();
    }
  }
  const auto passing = [&](std::size_t level) {
    std::int64_t floats = 0;
    for (const Storage& s : plan_.storages) {
      const auto at = static_cast<int>(level);
      if (s.pool == kArenaPool && s.first_level < at && s.last_level >= at) floats += s.floats();
    }
    return floats;
  };
  // Steps that write one storage stay together.
  const auto divides_writers = [&](std::size_t level) {
    return std::ranges::any_of(writers_, [&](const std::vector<std::size_t>& writers) {
      bool before = false, behind = false;
      for (const std::size_t writer : writers) {
        const bool is_before = static_cast<std::size_t>(planned_[writer].level) < level;
        before = before || is_before;
        behind = behind || !is_before;
      }
      return before && behind;
    });
  };
  std::vector<std::size_t> cuts{0};
  constexpr std::int64_t kSixths = 6;
  for (const std::int64_t least : {1, 3}) {
    std::optional<std::size_t> best;
    std::int64_t fewest = 0;
    for (std::size_t l = cuts.back() + 1; l < device_levels; ++l) {
      const std::int64_t share = work[l] * kSixths;
      if (share < least * work[device_levels] || share >= (least + 2) * work[device_levels] ||
          divides_writers(l))
        continue;
      if (const std::int64_t floats = passing(l); !best || floats < fewest) {
        best = l;
        fewest = floats;
      }
    }
    if (best) cuts.push_back(*best);
  }
  if (device_levels > 0) cuts.push_back(device_levels);
  if (plan_.levels.size() > device_levels) cuts.push_back(plan_.levels.size());
  for (std::size_t i = 1; i < cuts.size(); ++i)
    plan_.segments.push_back(
        {cuts[i - 1], cuts[i], cuts[i] <= device_levels, {}, work[cuts[i]] - work[cuts[i - 1]]});
  const auto segment_of = [&](int level) {
    std::size_t i = 0;
    while (static_cast<std::size_t>(level) >= plan_.segments[i].last_level) ++i;
    return i;
  };
  for (Planned& one : planned_) one.segment = segment_of(one.level);
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
  for (std::size_t i = 0; i < plan_.storages.size(); ++i) {
    Storage& s = plan_.storages[i];
    if (by_row[i] && s.pad == 0 && s.pool == kArenaPool && !s.is_result && chains[i].size() == 1)
      s.pool = kRowPool;
  }
}

// Gives what a later segment reads to the pool of its writer's results.
void PlanBuilder::share_storages() {
  std::vector<std::set<int>> reads(plan_.segments.size());
  std::set<int> results;
  for (std::size_t i = 0; i < plan_.storages.size(); ++i) {
    Storage& s = plan_.storages[i];
    std::set<std::size_t> readers;
    for (const Planned& one : planned_) {
      for (const Read& read : one.reads) {
        if (read.storage == static_cast<int>(i)) readers.insert(one.segment);
      }
    }
    if (!writers_[i].empty()) {
      const std::size_t writer = planned_[writers_[i].front()].segment;
      if (s.is_result || readers.size() > 1 || (readers.size() == 1 && !readers.contains(writer)))
        s.pool = kFirstResultPool + static_cast<int>(writer);
    }
    if (s.pool < kInputPool) continue;
    for (const std::size_t reader : readers) {
      if (s.pool != kFirstResultPool + static_cast<int>(reader)) reads[reader].insert(s.pool);
    }
    if (s.is_result) results.insert(s.pool);
  }
  for (std::size_t i = 0; i < reads.size(); ++i)
    plan_.segments[i].reads.assign(reads[i].begin(), reads[i].end());
  plan_.result_pools.assign(results.begin(), results.end());
}

// Gives storages that live at the same time places that do not overlap, the largest first.
void PlanBuilder::lay_out_arena() {
  plan_.pool_floats.assign(kFirstResultPool + plan_.segments.size(), 0);
  std::vector<std::size_t> order(plan_.storages.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return plan_.storages[a].floats() > plan_.storages[b].floats();
  });
  for (const std::size_t i : order) {
    Storage& s = plan_.storages[i];
    const std::int64_t size = (s.floats() + kBlock - 1) / kBlock * kBlock;
    std::int64_t& pool = plan_.pool_floats[static_cast<std::size_t>(s.pool)];
    if (s.pool != kArenaPool) {
      s.offset = pool;
      pool += size;
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
    pool = std::max(pool, s.offset + size);
    placed.push_back(i);
  }
}

void PlanBuilder::finish() {
  find_local_storages();
  make_levels();
  share_storages();
  lay_out_arena();
  for (const auto& step : plan_.steps) {
    step->lay_out(plan_.storages);
    plan_.pointers = std::max(plan_.pointers, step->pointers());
    plan_.zero_floats = std::max(plan_.zero_floats, step->zeros());
    plan_.spare_floats = std::max(plan_.spare_floats, step->spare());
  }
}

}  // namespace sightline::network
