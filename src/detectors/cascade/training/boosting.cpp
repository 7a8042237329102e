#include "detectors/cascade/training/boosting.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"

namespace sightline::cascade {
namespace {

constexpr std::size_t kFeaturesATask = 16;  // features whose values fit in a cache
constexpr double kAllWeight = 0x1p30;       // leaves room for rounding in 32 bits

// Calls `work(feature)` for all of a pool, some at a time.
template <class Work>
void for_each_task(std::size_t features, const Work& work) {
  parallel_for_isolated((features + kFeaturesATask - 1) / kFeaturesATask, [&](std::size_t task) {
    const std::size_t begin = task * kFeaturesATask;
    work(begin, std::min(begin + kFeaturesATask, features));
  });
}

using Histogram = std::array<std::uint32_t, kBins>;

// Number of features that are added up at a time: their histograms are separate, so that neighbouring
// samples, which are often in one bin, do not wait for each other's sums.
constexpr std::size_t kRows = BinTable::kMostRows;
struct Histograms {
  std::array<Histogram, kRows> positives{}, negatives{};
};

// @param rows    the first feature's bins
// @param stride  bytes from one feature's to the next one's
void add_up(const std::uint8_t* rows, std::size_t stride, std::span<const Weighed> samples,
            std::array<Histogram, kRows>& sums) {
  for (const Weighed& s : samples) {
    for (std::size_t r = 0; r < kRows; ++r) sums[r][rows[r * stride + s.sample]] += s.weight;
  }
}

// Histograms of a feature and the features that follow it.
Histograms add_up(const BinTable& table, std::size_t feature, const WeighedSamples& samples) {
  Histograms sums;
  add_up(table.row(feature).data(), table.stride(), samples.positives, sums.positives);
  add_up(table.row(feature).data(), table.stride(), samples.negatives, sums.negatives);
  return sums;
}

// Weights of parts of the samples, and of their positives less their negatives.
struct Total {
  std::int32_t weight = 0, sum = 0;
};

// Reduction of the square error by a part, relative to all answers 0.
double explained(const Total& part) {
  return part.weight > 0 ? static_cast<double>(part.sum) * part.sum / part.weight : 0;
}

// A feature's bins: those of Haar features as they are; of patterns, those that samples have.
struct Bins {
  std::array<std::int32_t, kBins> weights, sums;
  std::array<std::uint8_t, kBins> numbers;
  int count = 0;

  Bins(FeatureKind kind, const Histogram& positives, const Histogram& negatives) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      weights[bin] = static_cast<std::int32_t>(positives[bin] + negatives[bin]);
      sums[bin] = static_cast<std::int32_t>(positives[bin] - negatives[bin]);
      numbers[bin] = static_cast<std::uint8_t>(bin);
    }
    count = kBins;
    if (kind == FeatureKind::lbp) leave_out_empty();
  }

  void leave_out_empty() {
    count = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const auto to = static_cast<std::size_t>(count);
      weights[to] = weights[bin];
      sums[to] = sums[bin];
      numbers[to] = numbers[bin];
      count += weights[bin] > 0 ? 1 : 0;
    }
  }

  Total at(int i) const { return {weights[static_cast<std::size_t>(i)], sums[static_cast<std::size_t>(i)]}; }

  // Sorts bins by their mean answers. The best cut into two parts is in this order (L. Breiman et al.,
  // "Classification and Regression Trees", 1984, theorem 4.5).
  void sort() {
    std::array<std::pair<double, std::uint8_t>, kBins> order;
    for (int i = 0; i < count; ++i)
      order[static_cast<std::size_t>(i)] = {static_cast<double>(at(i).sum) / at(i).weight,
                                            static_cast<std::uint8_t>(i)};
    std::sort(order.begin(), order.begin() + count);
    const Bins before = *this;
    for (int i = 0; i < count; ++i) {
      const auto to = static_cast<std::size_t>(i), from = std::size_t{order[to].second};
      weights[to] = before.weights[from];
      sums[to] = before.sums[from];
      numbers[to] = before.numbers[from];
    }
  }

  Total total() const {
    Total all;
    for (int i = 0; i < count; ++i) {
      all.weight += at(i).weight;
      all.sum += at(i).sum;
    }
    return all;
  }
};

// The first bins go left.
struct Cut {
  double explained = 0;
  int bins = 0;  // number of bins that go left; 0: none
};

Cut best_cut(const Bins& bins) {
  const Total total = bins.total();
  std::array<std::int32_t, kBins> weights, sums;  // totals of bins that go left
  Total left;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (std::cmp_less(i, bins.count)) {
      left.weight += bins.weights[i];
      left.sum += bins.sums[i];
    }
    weights[i] = left.weight;
    sums[i] = left.sum;
  }
  std::array<double, kBins> both;
  explained_by_cuts(weights.data(), sums.data(), both.data());
  Cut best{explained(total), 0};
  for (int i = 0; i + 1 < bins.count; ++i) {
    const double gain = both[static_cast<std::size_t>(i)];
    if (gain > best.explained) best = {gain, i + 1};
  }
  return best;
}

// Sorts the bins of patterns, unless the best cut cannot reach `at_least`: two parts explain at most as much
// as all bins separately (with a margin for rounding), which needs no sorting.
Cut best_cut(FeatureKind kind, Bins& bins, double at_least) {
  if (kind == FeatureKind::lbp) {
    std::array<double, kBins> parts;
    for (int i = 0; i < bins.count; ++i) parts[static_cast<std::size_t>(i)] = explained(bins.at(i));
    const double most = std::accumulate(parts.begin(), parts.begin() + bins.count, 0.0);
    if (most * (1 + 1e-9) < at_least) return {};
    bins.sort();
  }
  return best_cut(bins);
}

float mean_of(const Total& part) {
  return part.weight > 0 ? static_cast<float>(static_cast<double>(part.sum) / part.weight) : 0;
}

}  // namespace

float BinTable::edge(std::size_t feature, int bin) const {
  const ValueRange& range = ranges_[feature];
  if (bin == 0) return range.lowest;
  // Bisects between a value below the bin and one that is not.
  const float width = range.bins > 0 ? 1 / range.bins : 1;
  float below = range.lowest + (static_cast<float>(bin) - 1) * width;
  float not_below = range.lowest + (static_cast<float>(bin) + 1) * width;
  while (range.bin(below) >= bin) below -= width;
  while (range.bin(not_below) < bin) not_below += width;
  for (;;) {
    const float middle = below + (not_below - below) / 2;
    if (middle <= below || middle >= not_below) return not_below;
    (range.bin(middle) < bin ? below : not_below) = middle;
  }
}

void BinTable::assign(const SampleIntegrals& samples, std::size_t positives) {
  positives_ = positives;
  samples_ = samples.size();
  stride_ = samples.blocks() * kTogether;
  bins_.resize((pool_.size() + kMostRows - 1) * stride_);
  if (pool_.kind == FeatureKind::haar) ranges_.assign(pool_.size(), ValueRange());
  for_each_task(pool_.size(), [&](std::size_t begin, std::size_t end) { assign_some(samples, begin, end); });
}

// Block by block, because neighbouring features share much input.
void BinTable::assign_some(const SampleIntegrals& samples, std::size_t begin, std::size_t end) {
  if (pool_.kind == FeatureKind::lbp) {
    for (std::size_t block = 0; block < samples.blocks(); ++block) {
      for (std::size_t f = begin; f < end; ++f)
        samples.patterns(pool_.lbp[f], block, bins_.data() + f * stride_ + block * kTogether);
    }
    return;
  }
  std::vector<float> values((end - begin) * stride_);
  for (std::size_t block = 0; block < samples.blocks(); ++block) {
    for (std::size_t f = begin; f < end; ++f)
      samples.values(pool_.haar[f], block, values.data() + (f - begin) * stride_ + block * kTogether);
  }
  for (std::size_t f = begin; f < end; ++f) {
    const float* const of_feature = values.data() + (f - begin) * stride_;
    ranges_[f] = range_of(of_feature, stride_);
    take_bins(of_feature, stride_, ranges_[f], bins_.data() + f * stride_);
  }
}

WeighedSamples weigh(std::span<const double> weights, std::size_t positives, double share) {
  std::vector<double> sorted(weights.begin(), weights.end());
  std::sort(sorted.begin(), sorted.end());
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  double left_out = 0, least = 0;
  if (share < 1) {
    for (const double w : sorted) {
      least = w;
      left_out += w;
      if (left_out > (1 - share) * total) break;
    }
  }
  WeighedSamples result;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] < least) continue;
    const auto whole = static_cast<std::uint32_t>(std::lround(weights[i] / total * kAllWeight));
    if (whole == 0) continue;
    (i < positives ? result.positives : result.negatives).push_back({static_cast<std::uint32_t>(i), whole});
  }
  return result;
}

std::size_t best_feature(const BinTable& table, const WeighedSamples& samples) {
  const FeatureKind kind = table.pool().kind;
  const std::size_t features = table.pool().size();
  std::vector<Cut> cuts(features);
  std::atomic<double> best{0};
  for_each_task(features, [&](std::size_t begin, std::size_t end) {
    double highest = best.load(std::memory_order_relaxed);
    for (std::size_t first = begin; first < end; first += kRows) {
      const Histograms sums = add_up(table, first, samples);
      for (std::size_t f = first; f < std::min(first + kRows, end); ++f) {
        Bins bins(kind, sums.positives[f - first], sums.negatives[f - first]);
        cuts[f] = best_cut(kind, bins, highest);
        highest = std::max(highest, cuts[f].explained);
      }
    }
    // Features skipped because of this bound explain less than the overall best, on every thread.
    double before = best.load(std::memory_order_relaxed);
    while (before < highest && !best.compare_exchange_weak(before, highest, std::memory_order_relaxed)) {
    }
  });
  const auto found = std::max_element(cuts.begin(), cuts.end(),
                                      [](const Cut& a, const Cut& b) { return a.explained < b.explained; });
  if (found == cuts.end() || found->bins == 0) return features;
  return static_cast<std::size_t>(found - cuts.begin());
}

Stump best_stump(const BinTable& table, std::size_t feature, const WeighedSamples& samples) {
  const FeatureKind kind = table.pool().kind;
  const Histograms sums = add_up(table, feature, samples);
  Bins bins(kind, sums.positives[0], sums.negatives[0]);
  const Cut cut = best_cut(kind, bins, 0);
  Stump stump;
  stump.feature = feature;
  Total left, right = bins.total();
  for (int i = 0; i < cut.bins; ++i) {
    left.weight += bins.at(i).weight;
    left.sum += bins.at(i).sum;
  }
  right.weight -= left.weight;
  right.sum -= left.sum;
  stump.left = mean_of(left);
  stump.right = mean_of(right);
  if (kind == FeatureKind::haar) {
    stump.threshold = table.edge(feature, cut.bins);
    return stump;
  }
  stump.patterns.fill(~std::uint32_t{0});
  for (int i = cut.bins; i < bins.count; ++i) {
    const std::uint8_t pattern = bins.numbers[static_cast<std::size_t>(i)];
    stump.patterns[pattern / 32] &= ~(std::uint32_t{1} << pattern % 32);
  }
  return stump;
}

// S^2 / W of both parts, over one denominator.
void reference::explained_by_cuts(const std::int32_t* weights, const std::int32_t* sums, double* explained) {
  const double weight = weights[kBins - 1], sum = sums[kBins - 1];
  for (std::size_t i = 0; i < kBins; ++i) {
    const double lw = weights[i], ls = sums[i], rw = weight - lw, rs = sum - ls;
    explained[i] = (ls * ls * rw + rs * rs * lw) / (lw * rw);
  }
}

std::vector<char> goes_left(const Stump& stump, const FeaturePool& pool, const SampleIntegrals& samples) {
  std::vector<char> left(samples.blocks() * kTogether);
  std::array<float, kTogether> values;
  std::array<std::uint8_t, kTogether> patterns;
  for (std::size_t block = 0; block < samples.blocks(); ++block) {
    char* const to = left.data() + block * kTogether;
    if (pool.kind == FeatureKind::lbp) {
      samples.patterns(pool.lbp[stump.feature], block, patterns.data());
      for (std::size_t i = 0; i < kTogether; ++i)
        to[i] = static_cast<char>(stump.patterns[patterns[i] / 32] >> patterns[i] % 32 & 1U);
    } else {
      samples.values(pool.haar[stump.feature], block, values.data());
      for (std::size_t i = 0; i < kTogether; ++i) to[i] = values[i] < stump.threshold ? 1 : 0;
    }
  }
  left.resize(samples.size());
  return left;
}

}  // namespace sightline::cascade
