#include "faces/gallery/calibration.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::gallery {
namespace {

constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostProbes = 4096;

struct Probe {
  std::size_t row = 0;
  std::int64_t to_others = kNobody;  // distance to the nearest template of another person
  std::int64_t to_own = kNobody;     // the nearest other one of the same person
  std::int32_t nearest = 0;          // owner of the nearest other template
};

std::vector<Probe> probe_all(const Snapshot& gallery, const FaceFinder& finder) {
  std::vector<Probe> probes(std::min(gallery.size(), kMostProbes));
  const auto probe = [&](Probe& one) {
    for (std::size_t i = 0; i < gallery.size(); ++i) {
      if (i == one.row) continue;
      const std::int64_t distance = finder.distance(gallery.row(one.row), gallery.row(i));
      if (gallery.owners[i] == gallery.owners[one.row]) {
        one.to_own = std::min(one.to_own, distance);
      } else if (distance < one.to_others) {
        one.to_others = distance;
        one.nearest = gallery.owners[i];
      }
    }
  };
  for (std::size_t i = 0; i < probes.size(); ++i) probes[i].row = i * gallery.size() / probes.size();
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, probes.size(), 8), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) probe(probes[i]);
  });
  return probes;
}

// The largest distance that no more than this share reach.
std::int64_t limit_of(const std::vector<Probe>& probes, double rate) {
  std::vector<std::int64_t> distances;
  for (const Probe& one : probes) distances.push_back(one.to_others);
  std::ranges::sort(distances);
  const auto allowed = static_cast<std::size_t>(rate * static_cast<double>(distances.size()));
  return allowed < distances.size() ? distances[allowed] - 1 : distances.back();
}

void refuse_same(const Snapshot& gallery, const std::vector<Probe>& probes) {
  for (const Probe& one : probes) {
    if (one.to_others > 0) continue;
    const auto name = [&](std::int32_t person) { return gallery.names[static_cast<std::size_t>(person)]; };
    throw Error(
        ExitCode::input,
        "'" + name(gallery.owners[one.row]) + "' and '" + name(one.nearest) + "' have a picture in common",
        "merge them with `sightline faces merge`, or delete it with `sightline faces delete --picture`");
  }
}

}  // namespace

double share_at_most(std::int64_t hits, std::int64_t tries) {
  if (hits >= tries) return 1;
  const auto n = static_cast<double>(tries);
  // The probability of so few hits falls as the share rises; it is 5% where we want to be.
  const auto probability = [&](double share) {
    double sum = 0;
    for (std::int64_t k = 0; k <= hits; ++k) {
      const auto x = static_cast<double>(k);
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(share) +
                      (n - x) * std::log1p(-share));
    }
    return sum;
  };
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (probability(middle) > 0.05 ? low : high) = middle;
  }
  return high;
}

Calibration calibrate(const Snapshot& gallery, const FaceFinder& finder, double rate) {
  const std::set<std::int32_t> people(gallery.owners.begin(), gallery.owners.end());
  const auto count = static_cast<double>(people.size());
  std::vector<Probe> probes = probe_all(gallery, finder);
  Calibration result;
  result.threshold.rate = rate;
  result.threshold.people = static_cast<std::int64_t>(people.size());
  result.threshold.templates = static_cast<std::int64_t>(gallery.size());

  std::int64_t limit = kNobody;
  if (people.size() > 1) {
    refuse_same(gallery, probes);
    limit = limit_of(probes, rate);
  }
  if (count * rate < 1 && gallery.size() > 0) {
    const auto known = finder.distance_of_strangers(rate / static_cast<double>(gallery.size()));
    if (known && *known < limit) {
      limit = *known;
      result.threshold.from_model = true;
    }
  }
  if (limit == kNobody) {
    throw Error(ExitCode::input,
                "cannot find a threshold: " + counted(std::ssize(people), "person") +
                    " in the gallery, and the model has no statistics of its own",
                "add at least two people; more people give a better threshold");
  }
  result.threshold.distance = limit;

  std::set<std::int32_t> mistaken;
  for (const Probe& one : probes) {
    if (people.size() > 1) {
      ++result.probes;
      if (one.to_others <= limit) mistaken.insert(gallery.owners[one.row]);
    }
    if (one.to_own == kNobody) continue;
    ++result.own_probes;
    if (one.to_own <= limit && one.to_own < one.to_others) ++result.own_known;
  }
  result.threshold.mistaken = static_cast<std::int64_t>(mistaken.size());
  if (people.size() > 1)
    result.mistaken_at_most = share_at_most(result.threshold.mistaken, result.threshold.people);
  return result;
}

}  // namespace sightline::gallery
