#include "characterisation/knees.hpp"

#include <algorithm>
#include <cmath>

#include "base/median.hpp"

namespace sightline::characterisation {
namespace {

constexpr double kFlat = 1.25;
constexpr double kApart = 1.4;
constexpr double kSpan = 2;

struct Plateau {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Sample> never_falling(std::span<const Sample> latencies) {
  std::vector<Sample> result(latencies.begin(), latencies.end());
  if (result.size() > 1 && result.back().y > kFlat * result[result.size() - 2].y) result.pop_back();
  for (std::size_t i = result.size(); i-- > 1;) result[i - 1].y = std::min(result[i - 1].y, result[i].y);
  return result;
}

double level_of(const std::vector<Sample>& curve, const Plateau& plateau) {
  std::vector<double> values;
  for (std::size_t i = plateau.first; i <= plateau.last; ++i) values.push_back(curve[i].y);
  return median(std::move(values));
}

std::vector<Plateau> plateaus_of(const std::vector<Sample>& curve) {
  std::vector<Plateau> plateaus;
  for (std::size_t first = 0; first < curve.size();) {
    std::size_t last = first;
    while (last + 1 < curve.size() && curve[last + 1].y <= kFlat * curve[first].y) ++last;
    if (curve[last].x < kSpan * curve[first].x) {
      ++first;
      continue;
    }
    Plateau found{first, last};
    while (found.last + 1 < curve.size() && curve[found.last + 1].y <= kFlat * level_of(curve, found))
      ++found.last;
    if (!plateaus.empty() && level_of(curve, found) < kApart * level_of(curve, plateaus.back())) {
      plateaus.back().last = found.last;
    } else {
      plateaus.push_back(found);
    }
    first = found.last + 1;
  }
  return plateaus;
}

double median_where(std::span<const Sample> rates, int period, bool multiples) {
  std::vector<double> values;
  for (const Sample& one : rates)
    if ((static_cast<int>(one.x) % period == 0) == multiples) values.push_back(one.y);
  return median(std::move(values));
}

}  // namespace

std::vector<Sample> samples_of(const Curve& curve) {
  std::vector<Sample> samples;
  for (const Point& point : curve.points) samples.push_back({point.x, curve.best(point)});
  return samples;
}

MemoryLevels find_levels(std::span<const Sample> latencies) {
  MemoryLevels levels;
  if (latencies.empty()) return levels;
  const std::vector<Sample> curve = never_falling(latencies);
  const std::vector<Plateau> plateaus = plateaus_of(curve);
  for (std::size_t i = 0; i < plateaus.size(); ++i) {
    const double level = level_of(curve, plateaus[i]);
    const bool is_last = i + 1 == plateaus.size();
    if (is_last && curve.back().y < kApart * level) {
      levels.memory_ns = level;
    } else {
      levels.caches.push_back({curve[plateaus[i].last].x, level});
    }
  }
  if (levels.memory_ns == 0) levels.memory_ns = curve.back().y;
  return levels;
}

double last_flat(std::span<const Sample> times, double tolerance) {
  double last = 0;
  for (const Sample& one : times) {
    if (one.y > (1 + tolerance) * times.front().y) break;
    last = one.x;
  }
  return last;
}

double first_full(std::span<const Sample> rates, double share) {
  double highest = 0;
  for (const Sample& one : rates) highest = std::max(highest, one.y);
  for (const Sample& one : rates)
    if (one.y >= share * highest) return one.x;
  return 0;
}

int shift_period(std::span<const Sample> rates) {
  int best = 0;
  double largest = 1.05;
  for (int period = 2; period <= 32; period *= 2) {
    const double others = median_where(rates, period, false);
    const double gain = others > 0 ? median_where(rates, period, true) / others : 0;
    if (gain <= largest) continue;
    best = period;
    largest = gain;
  }
  return best;
}

int bank_count(std::span<const Sample> latencies, double rise) {
  double first = 0, highest = 0;
  for (const Sample& one : latencies) {
    if (one.x == 1) first = one.y;
    highest = std::max(highest, one.y);
  }
  if (first <= 0 || highest < rise * first) return 0;
  for (const Sample& one : latencies)
    if (one.x >= 1 && one.y >= 0.9 * highest) return static_cast<int>(one.x);
  return 0;
}

}  // namespace sightline::characterisation
