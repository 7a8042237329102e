#include "detectors/census/training/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parallel.hpp"

namespace sightline::census {
namespace {

constexpr double kLeastError = 1e-6;
constexpr double kMostError = 0.499;    // there, a weak classifier says nothing
constexpr std::size_t kByteStage = 64;  // weak classifiers: so short a stage may be searched in bytes
constexpr double kByteThreshold = 240;  // below 255, for rounding
constexpr double kUnit = 0x1p-10;       // unit of other stages' weights

using Histogram = std::array<double, kCensusCodes + 1>;

Histogram histogram(std::span<const std::uint16_t> codes, std::span<const float> weights) {
  // Two, taken in turn: neighbouring samples seldom wait for each other's sums.
  Histogram sums{}, others{};
  std::size_t i = 0;
  for (; i + 1 < codes.size(); i += 2) {
    sums[codes[i]] += double{weights[i]};
    others[codes[i + 1]] += double{weights[i + 1]};
  }
  if (i < codes.size()) sums[codes[i]] += double{weights[i]};
  for (int c = 0; c < kCensusCodes; ++c) sums[c] += others[c];
  return sums;
}

BoostedWeak best_of_place(int place, std::span<const std::uint16_t> positives,
                          std::span<const float> positive_weights, std::span<const std::uint16_t> negatives,
                          std::span<const float> negative_weights) {
  const Histogram p = histogram(positives, positive_weights), n = histogram(negatives, negative_weights);
  BoostedWeak weak;
  weak.place = place;
  for (int code = 0; code < kCensusCodes; ++code) {
    weak.error += std::min(p[code], n[code]);
    if (p[code] > n[code]) continue;
    weak.codes[code / 8] = static_cast<std::uint8_t>(weak.codes[code / 8] | 1U << code % 8);
  }
  return weak;
}

double total_of(std::span<const float> weights) {
  double total = 0;
  for (const float w : weights) total += double{w};
  return total;
}

// Reduces the weights of correctly classified samples. `is_right`: a code in the set is correct.
void reweigh(std::vector<float>& weights, std::span<const std::uint16_t> codes, const CodeSet& set,
             bool is_right, double factor) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (contains(set, codes[i]) == is_right) weights[i] = static_cast<float>(double{weights[i]} * factor);
  }
}

void scale(std::vector<float>& weights, double factor) {
  for (float& w : weights) w = static_cast<float>(double{w} * factor);
}

// The value that all but a share of the values are not above.
template <typename T>
T keep_all_but(std::vector<T> values, double share) {
  if (values.empty()) return T{};
  const auto lost = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  const auto at = values.end() - 1 - static_cast<std::ptrdiff_t>(std::min(lost, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

CodeTable::CodeTable(Size window, std::span<const int> cells) : window_(window) {
  for (const int cell : cells) {
    first_[cell - 1] = places();
    for (int y = 0; y + kCensusSide * cell <= window.height; ++y) {
      for (int x = 0; x + kCensusSide * cell <= window.width; ++x) {
        WeakClassifier& place = places_.emplace_back();
        place.x = static_cast<std::uint8_t>(x);
        place.y = static_cast<std::uint8_t>(y);
        place.cell = static_cast<std::uint8_t>(cell);
      }
    }
  }
}

void CodeTable::assign(const training::WindowSamples& samples) {
  samples_ = samples.size();
  codes_.resize(static_cast<std::size_t>(places()) * samples_);
  parallel_for_isolated(places_.size(), [&](std::size_t place) {
    const WeakClassifier& at = places_[place];
    std::uint16_t* const codes = codes_.data() + place * samples_;
    for (std::size_t i = 0; i < samples_; ++i)
      codes[i] = static_cast<std::uint16_t>(census_code(samples.view(i), at.x, at.y, at.cell));
  });
}

std::vector<BoostedWeak> boost_stage(const CodeTable& positives, std::span<const char> alive,
                                     const CodeTable& negatives, const StageBudget& budget,
                                     const std::function<void(int)>& step) {
  std::vector<float> p(positives.samples()), n(negatives.samples(), 1.0F);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = alive[i] ? 1.0F : 0.0F;
  scale(p, 0.5 / total_of(p));
  scale(n, 0.5 / total_of(n));
  std::vector<BoostedWeak> stage;
  std::set<int> places;
  std::vector<BoostedWeak> best(static_cast<std::size_t>(positives.places()));
  while (static_cast<int>(places.size()) < budget.places && static_cast<int>(stage.size()) < budget.weak) {
    step(static_cast<int>(stage.size()));
    parallel_for_isolated(best.size(), [&](std::size_t i) {
      const int place = static_cast<int>(i);
      best[i] = best_of_place(place, positives.codes(place), p, negatives.codes(place), n);
    });
    BoostedWeak weak = *std::ranges::min_element(best, {}, &BoostedWeak::error);
    if (weak.error > kMostError) break;
    weak.error = std::max(weak.error, kLeastError);
    weak.alpha = 0.5 * std::log((1 - weak.error) / weak.error);
    stage.push_back(weak);
    places.insert(weak.place);
    const double factor = weak.error / (1 - weak.error);
    reweigh(p, positives.codes(weak.place), weak.codes, false, factor);
    reweigh(n, negatives.codes(weak.place), weak.codes, true, factor);
    const double total = total_of(p) + total_of(n);
    scale(p, 1 / total);
    scale(n, 1 / total);
  }
  return stage;
}

std::vector<double> sums_of(const std::vector<BoostedWeak>& stage, const CodeTable& samples) {
  std::vector<double> sums(samples.samples());
  for (const BoostedWeak& weak : stage) {
    const auto codes = samples.codes(weak.place);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (contains(weak.codes, codes[i])) sums[i] += weak.alpha;
    }
  }
  return sums;
}

double append_stage(Model& model, const std::vector<BoostedWeak>& stage, const CodeTable& held_out,
                    std::span<const char> alive, double loss) {
  double unit = kUnit;
  if (stage.size() <= kByteStage) {
    std::vector<double> kept;
    const std::vector<double> sums = sums_of(stage, held_out);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (alive[i]) kept.push_back(sums[i]);
    }
    unit = std::max(keep_all_but(std::move(kept), loss) / kByteThreshold, kUnit);
  }
  std::vector<std::int32_t> sums(held_out.samples());
  for (const BoostedWeak& weak : stage) {
    const auto weight =
        static_cast<std::uint16_t>(std::clamp<long>(std::lround(weak.alpha / unit), 1, kMaxWeight));
    WeakClassifier& added = model.weak.emplace_back(held_out.place(weak.place));
    added.weight = weight;
    added.codes = weak.codes;
    const auto codes = held_out.codes(weak.place);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += contains(weak.codes, codes[i]) ? weight : 0;
  }
  std::vector<std::int32_t> kept;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (alive[i]) kept.push_back(sums[i]);
  }
  model.stages.push_back({static_cast<int>(model.weak.size()), keep_all_but(std::move(kept), loss)});
  return unit;
}

}  // namespace sightline::census
