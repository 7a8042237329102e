#include "texture/classification.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "base/random.hpp"

namespace sightline::texture {
namespace {

// @param left_out  whether a known texture is not to be compared with a query, by their indices
Classification classify(std::vector<std::string> classes, std::span<const LabelledTexture> known,
                        std::span<const LabelledTexture> queries, DistanceKind kind,
                        const std::function<bool(std::size_t, std::size_t)>& left_out) {
  Classification result;
  result.confusion.assign(classes.size(), std::vector<std::int64_t>(classes.size()));
  result.classes = std::move(classes);
  result.known = known.size();
  for (std::size_t q = 0; q < queries.size(); ++q) {
    double least = std::numeric_limits<double>::infinity();
    const LabelledTexture* best = nullptr;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (left_out(q, k)) continue;
      const double apart = distance(queries[q].record, known[k].record, kind);
      if (apart < least) {
        least = apart;
        best = &known[k];
      }
    }
    if (best) ++result.confusion[queries[q].label][best->label];
  }
  return result;
}

}  // namespace

std::int64_t Classification::total() const {
  std::int64_t sum = 0;
  for (const auto& row : confusion) sum += std::accumulate(row.begin(), row.end(), std::int64_t{0});
  return sum;
}

std::int64_t Classification::right() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < confusion.size(); ++i) sum += confusion[i][i];
  return sum;
}

double Classification::accuracy() const {
  return total() == 0 ? 0 : static_cast<double>(right()) / static_cast<double>(total());
}

std::vector<double> Classification::class_accuracies() const {
  std::vector<double> shares;
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    const auto all = std::accumulate(confusion[i].begin(), confusion[i].end(), std::int64_t{0});
    shares.push_back(all == 0 ? 0 : static_cast<double>(confusion[i][i]) / static_cast<double>(all));
  }
  return shares;
}

Classification classify(std::vector<std::string> classes, std::span<const LabelledTexture> known,
                        std::span<const LabelledTexture> queries, DistanceKind kind) {
  return classify(std::move(classes), known, queries, kind, [](std::size_t, std::size_t) { return false; });
}

Classification classify_left_out(std::vector<std::string> classes, std::span<const LabelledTexture> known,
                                 DistanceKind kind) {
  return classify(std::move(classes), known, known, kind, std::equal_to<>());
}

Interval bootstrap_interval(const std::vector<double>& values) {
  constexpr std::size_t kSamples = 10000;
  if (values.empty()) return {};
  Random random(1979);
  std::vector<double> means;
  for (std::size_t sample = 0; sample < kSamples; ++sample) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[random.below(values.size())];
    means.push_back(sum / static_cast<double>(values.size()));
  }
  std::ranges::sort(means);
  return {means[kSamples / 40], means[kSamples - 1 - kSamples / 40]};
}

}  // namespace sightline::texture
