#include "detectors/filterbank/training/templates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "detectors/filterbank/kernels.hpp"

namespace sightline::filterbank {

namespace {

using Template = std::vector<std::int8_t>;

std::int64_t squared_distance(const std::uint8_t* a, const Template& b) {
  std::int32_t sum = 0;  // at most 42,000 * 255^2 by far: descriptors have a length of about 2,600
  for (std::size_t i = 0; i < b.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::int8_t to_template(double value) {
  return static_cast<std::int8_t>(std::min(std::lround(value), long{kMaxWeight}));
}

struct Nearest {
  std::vector<std::int64_t> distance;
  std::vector<int> index;
};

Nearest find_nearest(const Samples& samples, const std::vector<Template>& templates) {
  Nearest nearest{std::vector<std::int64_t>(samples.size()), std::vector<int>(samples.size())};
  parallel_for_isolated(samples.size(), [&](std::size_t i) {
    nearest.distance[i] = std::numeric_limits<std::int64_t>::max();
    for (std::size_t t = 0; t < templates.size(); ++t) {
      const std::int64_t distance = squared_distance(samples[i], templates[t]);
      if (distance < nearest.distance[i]) {
        nearest.distance[i] = distance;
        nearest.index[i] = static_cast<int>(t);
      }
    }
  });
  return nearest;
}

std::vector<Template> learn_templates(const Samples& samples, int count, std::uint64_t seed) {
  constexpr int kRounds = 10;
  const auto copy = [&](std::size_t sample) {
    Template result(samples.features);
    for (std::size_t i = 0; i < samples.features; ++i) result[i] = to_template(samples[sample][i]);
    return result;
  };
  Random random(seed, 0x7E3);
  std::vector<Template> templates{copy(random.below(samples.size()))};
  while (static_cast<int>(templates.size()) < count) {
    const Nearest nearest = find_nearest(samples, templates);
    double total = 0;
    for (const std::int64_t d : nearest.distance) total += static_cast<double>(d);
    double target = random.unit() * total;
    std::size_t chosen = 0;
    while (chosen + 1 < samples.size() && (target -= static_cast<double>(nearest.distance[chosen])) >= 0)
      ++chosen;
    templates.push_back(copy(chosen));
  }
  for (int round = 0; round < kRounds; ++round) {
    const Nearest nearest = find_nearest(samples, templates);
    parallel_for_isolated(templates.size(), [&](std::size_t t) {
      std::vector<double> mean(samples.features, 0.0);
      int members = 0;
      for (std::size_t s = 0; s < samples.size(); ++s) {
        if (nearest.index[s] != static_cast<int>(t)) continue;
        ++members;
        for (std::size_t i = 0; i < samples.features; ++i) mean[i] += samples[s][i];
      }
      if (members == 0) return;
      for (std::size_t i = 0; i < samples.features; ++i) templates[t][i] = to_template(mean[i] / members);
    });
  }
  return templates;
}

}  // namespace

void fit_templates(const Samples& positives, const Samples& negatives, int count, std::uint64_t seed,
                   Model& model) {
  if (positives.size() == 0 || negatives.size() == 0) {
    throw Error(ExitCode::input, "training needs positives and negatives, but there are " +
                                     std::to_string(positives.size()) + " and " +
                                     std::to_string(negatives.size()));
  }
  const auto usable = static_cast<int>(std::min<std::size_t>(count, positives.size()));
  const std::vector<Template> templates = learn_templates(positives, usable, seed);
  model.weights.clear();
  for (const Template& t : templates) model.weights.insert(model.weights.end(), t.begin(), t.end());

  std::vector<std::int64_t> near = find_nearest(positives, templates).distance;
  std::vector<std::int64_t> far = find_nearest(negatives, templates).distance;
  std::sort(near.begin(), near.end());
  std::sort(far.begin(), far.end());
  // Share of the sorted distances that are within `limit`.
  const auto share_within = [](const std::vector<std::int64_t>& distances, std::int64_t limit) {
    const auto within = std::upper_bound(distances.begin(), distances.end(), limit) - distances.begin();
    return static_cast<double>(within) / static_cast<double>(distances.size());
  };
  const auto balanced = std::find_if(near.begin(), near.end(), [&](std::int64_t limit) {
    return share_within(far, limit) >= 1 - share_within(near, limit);
  });
  const std::int64_t threshold = balanced == near.end() ? near.back() : *balanced;
  model.bias = threshold;
  // Scores of about the size of a linear classifier's: 1 is the spread of the positives.
  const std::int64_t spread = near[near.size() / 2] - near.front();
  model.scale = 1.0 / static_cast<double>(std::max<std::int64_t>(spread, 1));
}

}  // namespace sightline::filterbank
