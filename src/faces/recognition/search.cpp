#include "faces/recognition/search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "faces/recognition/chi_square.hpp"

namespace sightline::recognition {
namespace {

using Kind = TemplateFormat::Kind;
constexpr std::size_t kBlock = TemplateSet::kBlock;

// Parts of the set, each searched by one thread; more than threads, so that none waits long for another.
constexpr std::size_t kParts = 64;

// Distance and index as one number, which sorts like matches.
constexpr std::uint64_t key_of(std::uint32_t distance, std::size_t index) {
  return std::uint64_t{distance} << 32 | index;
}
constexpr std::uint64_t kNoKey = std::numeric_limits<std::uint64_t>::max();

Match match_of(std::uint64_t key) {
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

// Into a sorted list that stays as long.
void insert(std::span<std::uint64_t> nearest, std::uint64_t key) {
  std::size_t place = nearest.size() - 1;
  for (; place > 0 && nearest[place - 1] > key; --place) nearest[place] = nearest[place - 1];
  nearest[place] = key;
}

std::size_t query_count(const TemplateSet& set, std::span<const std::uint8_t> queries) {
  const std::size_t bytes = bytes_per_template(set.format());
  if (queries.size() % bytes != 0) {
    throw Error(ExitCode::model, "queries of " + std::to_string(queries.size()) +
                                     " bytes are not a multiple of templates of " + std::to_string(bytes));
  }
  return queries.size() / bytes;
}

std::size_t matches_per_query(const TemplateSet& set, int k) {
  return std::min<std::size_t>(std::clamp(k, 1, kMostNearest), set.size());
}

}  // namespace

void QueryPlan::make(const TemplateFormat& format, std::span<const std::uint8_t> query) {
  active.clear();
  runs.clear();
  words.clear();
  const std::uint32_t sum = template_sum(format, query);
  if (format.kind == Kind::vector8) {
    constant = sum;
    words.assign((query.size() + 3) / 4, 0);
    for (std::size_t i = 0; i < query.size(); ++i)
      words[i / 4] |= static_cast<std::int32_t>(std::uint32_t{query[i]} << 8 * (i % 4));
    return;
  }
  constant = 0U - 3 * kChiSquareUnit * sum;
  const auto weight_of = [&](std::int32_t dim) -> std::uint32_t {
    return format.weights.empty() ? 1 : format.weights[static_cast<std::size_t>(dim)];
  };
  for (std::int32_t dim = 0; dim < format.dims; ++dim) {
    const int count = template_value(format, query, static_cast<std::size_t>(dim));
    if (count == 0 || weight_of(dim) == 0) continue;
    const auto value = static_cast<float>(count);
    active.push_back({dim, count, value, 16 * value * value + (count <= kSmallCount ? kSmallUp : kUp)});
  }
  // Runs of few rows in turn, so that memory is read from front to back.
  constexpr std::int32_t kSpan = 512;
  const auto run_of = [&](const Active& a) {
    return std::tuple(weight_of(a.dim), a.dim / kSpan, a.count > kSmallCount);
  };
  std::stable_sort(active.begin(), active.end(),
                   [&](const Active& a, const Active& b) { return run_of(a) < run_of(b); });
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (i == 0 || run_of(active[i]) != run_of(active[i - 1]))
      runs.push_back({weight_of(active[i].dim), active[i].count <= kSmallCount, i});
    runs.back().end = i + 1;
  }
}

void block_distances(TemplateFormat::Kind kind, const std::uint8_t* block, const std::uint32_t* sums,
                     const QueryPlan& plan, std::uint32_t* distances) {
  alignas(64) std::array<std::uint32_t, kBlock> rests{};
  switch (kind) {
    case Kind::counts8:
      add_rests8(block, plan, rests.data());
      break;
    case Kind::counts16:
      add_rests16(block, plan, rests.data());
      break;
    case Kind::vector8:
      add_products(block, plan, rests.data());
      for (std::size_t i = 0; i < kBlock; ++i) distances[i] = sums[i] + plan.constant - 2 * rests[i];
      return;
  }
  for (std::size_t i = 0; i < kBlock; ++i) distances[i] = kChiSquareUnit * sums[i] + plan.constant + rests[i];
}

void NearestSearch::find(const TemplateSet& set, std::span<const std::uint8_t> queries, int k,
                         Matches& matches, WorkMeter* meter) {
  const std::size_t count = query_count(set, queries);
  const std::size_t per_query = matches_per_query(set, k);
  matches.per_query = per_query;
  matches.all.clear();
  if (count == 0 || per_query == 0) return;

  const std::size_t bytes = bytes_per_template(set.format());
  if (plans_.size() < count) plans_.resize(count);
  for (std::size_t q = 0; q < count; ++q) plans_[q].make(set.format(), queries.subspan(q * bytes, bytes));

  const std::size_t parts = std::min(set.blocks(), kParts);
  nearest_.assign(parts * count * per_query, kNoKey);
  parallel_for_isolated(
      parts,
      [&](std::size_t part) {
        // All queries process a block while it is in the cache.
        for (std::size_t b = set.blocks() * part / parts; b < set.blocks() * (part + 1) / parts; ++b) {
          const std::size_t used = std::min(set.size() - b * kBlock, kBlock);
          for (std::size_t q = 0; q < count; ++q) {
            const std::span<std::uint64_t> nearest(&nearest_[(part * count + q) * per_query], per_query);
            alignas(64) std::array<std::uint32_t, kBlock> distances;
            block_distances(set.format().kind, set.block(b), set.sums(b), plans_[q], distances.data());
            for (std::size_t i = 0; i < used; ++i) {
              const std::uint64_t key = key_of(distances[i], b * kBlock + i);
              if (key < nearest.back()) insert(nearest, key);
            }
          }
        }
      },
      meter);

  for (std::size_t q = 0; q < count; ++q) {
    const std::span<std::uint64_t> first(&nearest_[q * per_query], per_query);
    for (std::size_t part = 1; part < parts; ++part) {
      for (std::size_t i = 0; i < per_query; ++i) {
        const std::uint64_t key = nearest_[(part * count + q) * per_query + i];
        if (key < first.back()) insert(first, key);
      }
    }
    for (const std::uint64_t key : first) matches.all.push_back(match_of(key));
  }
}

Matches nearest(const TemplateSet& set, std::span<const std::uint8_t> queries, int k) {
  Matches matches;
  NearestSearch().find(set, queries, k, matches);
  return matches;
}

namespace reference {

std::uint32_t distance(const TemplateFormat& format, std::span<const std::uint8_t> a,
                       std::span<const std::uint8_t> b) {
  std::uint32_t sum = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(format.dims); ++d) {
    const int x = template_value(format, a, d);
    const int y = template_value(format, b, d);
    const std::uint32_t weight = format.weights.empty() ? 1 : format.weights[d];
    sum += format.kind == Kind::vector8
               ? static_cast<std::uint32_t>((x - y) * (x - y))
               : weight * chi_square_term(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
  }
  return sum;
}

Matches nearest(const TemplateSet& set, std::span<const std::uint8_t> queries, int k) {
  Matches matches{matches_per_query(set, k), {}};
  const std::size_t bytes = bytes_per_template(set.format());
  for (std::size_t q = 0; q < query_count(set, queries); ++q) {
    std::vector<std::uint64_t> keys(set.size());
    for (std::size_t i = 0; i < set.size(); ++i)
      keys[i] = key_of(distance(set.format(), queries.subspan(q * bytes, bytes), set.bytes(i)), i);
    std::sort(keys.begin(), keys.end());
    for (std::size_t i = 0; i < matches.per_query; ++i) matches.all.push_back(match_of(keys[i]));
  }
  return matches;
}

}  // namespace reference
}  // namespace sightline::recognition
