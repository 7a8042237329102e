#include "texture/distance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace sightline::texture {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::array<std::string_view, 3> kNames{"chi-square", "intersection", "hellinger"};

double farthest(DistanceKind kind) {
  return kind == DistanceKind::intersection ? 1 : 2;
}

}  // namespace

const char* to_string(DistanceKind kind) {
  return kNames[static_cast<std::size_t>(kind)].data();
}

std::optional<DistanceKind> parse_distance_kind(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<DistanceKind>(found - kNames.begin());
}

double distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, DistanceKind kind) {
  const std::uint64_t pixels_a = std::accumulate(a.begin(), a.end(), std::uint64_t{0});
  const std::uint64_t pixels_b = std::accumulate(b.begin(), b.end(), std::uint64_t{0});
  if (pixels_a == 0 || pixels_b == 0) return pixels_a == pixels_b ? 0 : farthest(kind);
  const double pairs = static_cast<double>(Wide{pixels_a} * pixels_b);
  double sum = 0;
  Wide common = 0;
  for (std::size_t bin = 0; bin < a.size(); ++bin) {
    const Wide p = Wide{a[bin]} * pixels_b;  // shares in 1/pairs
    const Wide q = Wide{b[bin]} * pixels_a;
    const auto difference = static_cast<double>(p > q ? p - q : q - p);
    switch (kind) {
      case DistanceKind::chi_square:
        if (p != q) sum += difference / pairs * (difference / static_cast<double>(p + q));
        break;
      case DistanceKind::intersection:
        common += std::min(p, q);
        break;
      case DistanceKind::hellinger: {
        // (p - q) / (sqrt(p) + sqrt(q)) is the difference of the roots without cancellation.
        if (p == q) break;
        const double root =
            difference / (std::sqrt(static_cast<double>(p)) + std::sqrt(static_cast<double>(q)));
        sum += root * root / pairs;
        break;
      }
    }
  }
  return kind == DistanceKind::intersection ? static_cast<double>(Wide{pixels_a} * pixels_b - common) / pairs
                                            : sum;
}

double distance(const TextureRecord& a, const TextureRecord& b, DistanceKind kind) {
  if (a.kind() != b.kind()) {
    throw Error(ExitCode::usage,
                "'" + a.picture + "' has histograms " + a.kind() + ", and '" + b.picture + "' " + b.kind(),
                "compare textures that were computed with the same operators, mapping and channels");
  }
  double sum = 0;
  for (std::size_t i = 0; i < a.histograms.size(); ++i)
    sum += distance(a.histograms[i].bins, b.histograms[i].bins, kind);
  return sum;
}

std::vector<Neighbour> nearest(const TextureRecord& query, std::span<const TextureRecord> known,
                               DistanceKind kind, std::size_t count) {
  std::vector<Neighbour> all;
  for (std::size_t i = 0; i < known.size(); ++i) all.push_back({i, distance(query, known[i], kind)});
  std::ranges::stable_sort(all, {}, &Neighbour::distance);
  all.resize(std::min(all.size(), count));
  return all;
}

}  // namespace sightline::texture
