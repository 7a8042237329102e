#include "faces/recognition/training/regions.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "faces/recognition/chi_square.hpp"

namespace sightline::recognition {
namespace {

// Values of a region, by region.
std::vector<std::size_t> region_ends(const FaceDescriptor& descriptor) {
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  for (std::size_t channel = 0; channel < descriptor.channels(); ++channel) {
    const Descriptor& own = descriptor.descriptor(channel);
    const std::size_t regions = static_cast<std::size_t>(descriptor.columns(channel)) * own.rows().size();
    for (std::size_t circle = 0; circle < own.circles().size(); ++circle) {
      for (std::size_t i = 0; i < regions; ++i)
        ends.push_back(end += static_cast<std::size_t>(own.bins(circle).count()));
    }
  }
  return ends;
}

// Pairs on the right side of the best threshold.
std::size_t told_apart(std::vector<std::pair<std::uint32_t, bool>> distances) {
  std::ranges::sort(distances);
  const auto same = static_cast<std::size_t>(
      std::ranges::count_if(distances, [](const auto& pair) { return pair.second; }));
  // Below no distance, all pairs count as of two people.
  std::size_t right = distances.size() - same, best = right;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    right += distances[i].second ? 1 : std::size_t(-1);
    const bool ends = i + 1 == distances.size() || distances[i + 1].first != distances[i].first;
    if (ends) best = std::max(best, right);
  }
  return best;
}

}  // namespace

std::vector<PhotoPair> draw_pairs(std::span<const std::uint32_t> people, std::size_t count,
                                  std::uint64_t seed) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_person;
  for (std::size_t i = 0; i < people.size(); ++i) by_person[people[i]].push_back(i);
  std::vector<std::vector<std::size_t>> all, several;
  for (const auto& [person, own] : by_person) {
    all.push_back(own);
    if (own.size() > 1) several.push_back(own);
  }
  Random random(seed);
  const auto one_of = [&](const auto& list) -> const auto& {
    return list[random.below(list.size())];
  };
  std::vector<PhotoPair> pairs;
  std::set<std::pair<std::size_t, std::size_t>> taken;
  // If nearly all pairs are taken, further draws would take long.
  for (std::size_t tries = 0; !several.empty() && pairs.size() < count / 2 && tries < 4 * count; ++tries) {
    const auto& own = one_of(several);
    const auto [first, second] = std::minmax({one_of(own), one_of(own)});
    if (first != second && taken.emplace(first, second).second) pairs.push_back({first, second, true});
  }
  const std::size_t same = pairs.size();
  for (std::size_t tries = 0; all.size() > 1 && pairs.size() < 2 * same && tries < 4 * count; ++tries) {
    const auto [first, second] = std::minmax({one_of(one_of(all)), one_of(one_of(all))});
    if (people[first] != people[second] && taken.emplace(first, second).second)
      pairs.push_back({first, second, false});
  }
  return pairs;
}

std::vector<std::uint8_t> rank_regions(const FaceDescriptor& descriptor,
                                       const std::vector<std::vector<std::uint16_t>>& counts,
                                       std::span<const PhotoPair> pairs) {
  const std::vector<std::size_t> ends = region_ends(descriptor);
  std::vector<std::size_t> right(ends.size());
  parallel_for_isolated(ends.size(), [&](std::size_t region) {
    const std::size_t begin = region == 0 ? 0 : ends[region - 1];
    std::vector<std::pair<std::uint32_t, bool>> distances;
    for (const PhotoPair& pair : pairs) {
      std::uint32_t distance = 0;
      for (std::size_t i = begin; i < ends[region]; ++i)
        distance += chi_square_term(counts[pair.first][i], counts[pair.second][i]);
      distances.emplace_back(distance, pair.is_same);
    }
    right[region] = told_apart(std::move(distances));
  });
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t region) { return right[region]; });
  std::vector<std::uint8_t> weights(ends.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t percent = 100 * rank / order.size();
    weights[order[rank]] = percent < 15 ? 0 : percent < 60 ? 1 : percent < 85 ? 2 : 4;
  }
  return weights;
}

}  // namespace sightline::recognition
