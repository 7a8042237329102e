#include "texture/cell_classifier.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/parallel.hpp"

namespace sightline::texture {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Adds a feature's part of the distances. Loops without a branch, which the compiler makes SIMD.
template <std::size_t N>
void add_distances(DistanceKind kind, float query, const std::array<float, N>& known,
                   std::array<float, N>& sums) {
  constexpr float kTiny = std::numeric_limits<float>::min();  // 0/0 of bins that neither has would be NaN
  switch (kind) {
    case DistanceKind::chi_square:
      for (std::size_t i = 0; i < N; ++i) {
        const float difference = query - known[i], sum = query + known[i];
        sums[i] += difference * difference / (sum > kTiny ? sum : kTiny);
      }
      break;
    case DistanceKind::intersection:  // 1 - sum of min(p, q) for shares that add up to 1
      for (std::size_t i = 0; i < N; ++i) sums[i] += 0.5F * std::abs(query - known[i]);
      break;
    case DistanceKind::hellinger:  // features are roots
      for (std::size_t i = 0; i < N; ++i) sums[i] += (query - known[i]) * (query - known[i]);
      break;
  }
}

}  // namespace

CellClassifier::CellClassifier(std::vector<int> bins, std::span<const std::vector<std::uint32_t>> classes,
                               DistanceKind kind)
    : bins_(std::move(bins)), kind_(kind) {
  features_ = static_cast<std::size_t>(std::accumulate(bins_.begin(), bins_.end(), 0));
  if (classes.size() < 2 || classes.size() > kMostClasses) throw std::logic_error("wrong number of classes");
  for (const std::vector<std::uint32_t>& counts : classes) {
    if (counts.size() < 2 * features_ || counts.size() % features_ != 0)
      throw std::logic_error("a class has fewer than two cells");
    classes_.push_back(make_class(counts));
    classes_.back().limit = limit_of(classes_.back());
  }
}

CellClassifier::Class CellClassifier::make_class(std::span<const std::uint32_t> counts) const {
  const std::size_t all = counts.size() / features_;
  Class made;
  made.count = std::min(all, kMostCells);
  made.features.resize((made.count + kBlock - 1) / kBlock * features_);
  for (std::size_t i = 0; i < made.count; ++i) {
    const std::size_t cell = i * all / made.count;
    const std::vector<float> features = features_of(counts.subspan(cell * features_, features_));
    for (std::size_t f = 0; f < features_; ++f)
      made.features[i / kBlock * features_ + f][i % kBlock] = features[f];
  }
  return made;
}

// Shares of the pixels in each bin, or their roots.
std::vector<float> CellClassifier::features_of(std::span<const std::uint32_t> counts) const {
  std::vector<float> features;
  features.reserve(features_);
  for (const int bins : bins_) {
    const auto histogram = counts.subspan(features.size(), static_cast<std::size_t>(bins));
    const auto pixels =
        static_cast<float>(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0}));
    for (const std::uint32_t count : histogram) {
      const float share = static_cast<float>(count) / pixels;
      features.push_back(kind_ == DistanceKind::hellinger ? std::sqrt(share) : share);
    }
  }
  return features;
}

// @param left_out  index of a cell that is not compared; kNone: all are
float CellClassifier::nearest(const std::vector<float>& query, const Class& known,
                              std::size_t left_out) const {
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t begin = 0; begin < known.count; begin += kBlock) {
    const Block* const block = known.features.data() + begin / kBlock * features_;
    Block sums{};
    for (std::size_t f = 0; f < features_; ++f) add_distances(kind_, query[f], block[f], sums);
    if (left_out - begin < kBlock) sums[left_out - begin] = std::numeric_limits<float>::infinity();
    least =
        std::min(least, *std::min_element(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                           kBlock, known.count - begin))));
  }
  return least;
}

float CellClassifier::limit_of(const Class& known) const {
  std::vector<float> distances(known.count);
  parallel_for_isolated(known.count, [&](std::size_t i) {
    std::vector<float> query(features_);
    for (std::size_t f = 0; f < features_; ++f)
      query[f] = known.features[i / kBlock * features_ + f][i % kBlock];
    distances[i] = nearest(query, known, i);
  });
  const auto within = static_cast<std::size_t>(std::ceil(kWithinLimit * static_cast<double>(known.count)));
  std::ranges::nth_element(distances, distances.begin() + static_cast<std::ptrdiff_t>(within) - 1);
  return distances[within - 1];
}

CellClass CellClassifier::classify(std::span<const std::uint32_t> counts) const {
  const std::vector<float> query = features_of(counts);
  CellClass found;
  found.distance = found.second_distance = std::numeric_limits<float>::infinity();
  for (std::size_t label = 0; label < classes_.size(); ++label) {
    const float distance = nearest(query, classes_[label], kNone);
    if (distance < found.distance) {
      found.second = std::exchange(found.nearest, static_cast<int>(label));
      found.second_distance = std::exchange(found.distance, distance);
    } else if (distance < found.second_distance) {
      found.second = static_cast<int>(label);
      found.second_distance = distance;
    }
  }
  return found;
}

}  // namespace sightline::texture
