#pragma once
/// Distances between the histograms of two textures.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "texture/record.hpp"

namespace sightline::texture {

/// Between shares p and q of the pixels in each bin, so that pictures of different sizes can be compared. All
/// are symmetric, 0 if the shares are equal, and at most 2, 1 and 2 (but for rounding).
enum class DistanceKind {
  /// Sum of (p - q)^2 / (p + q) over bins that either has (T. Ahonen et al., "Face description with local
  /// binary patterns", PAMI 2006, for shares).
  chi_square,
  /// 1 - sum of min(p, q) (M. Swain, D. Ballard, "Color indexing", IJCV 1991).
  intersection,
  /// Sum of (sqrt(p) - sqrt(q))^2: the squared Hellinger distance, twice 1 - the Bhattacharyya coefficient.
  hellinger,
};
/// "chi-square", "intersection" or "hellinger".
const char* to_string(DistanceKind kind);
/// No value for any other text.
std::optional<DistanceKind> parse_distance_kind(std::string_view text);

/// Distance of two histograms with the same number of bins. Counts are compared as integers crosswise (count
/// * the other's pixels), so equal shares have distance 0 exactly. Intersection is rounded once, the others
/// once per bin in the order of bins: the same on every machine. An empty histogram is at the maximum
/// distance from any other, and at 0 from another empty one. Pixels are fewer than 2^62.
double distance(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, DistanceKind kind);

/// The sum over channels and operators, as T. Ojala et al. (PAMI 2002, section 2.5) put several scales
/// together. Throws Error (usage) if the records are not of one kind (TextureRecord::kind).
double distance(const TextureRecord& a, const TextureRecord& b, DistanceKind kind);

/// One of some known textures.
struct Neighbour {
  std::size_t index = 0;
  double distance = 0;
};
/// The nearest of those known, nearest first; of equally near ones, the first first. At most `count`.
std::vector<Neighbour> nearest(const TextureRecord& query, std::span<const TextureRecord> known,
                               DistanceKind kind, std::size_t count);

}  // namespace sightline::texture
