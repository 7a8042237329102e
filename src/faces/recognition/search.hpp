#pragma once
/// The nearest of many templates, exactly: by brute force, a pass over all of them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/work_meter.hpp"
#include "faces/recognition/search_kernels.hpp"
#include "faces/recognition/templates.hpp"

namespace sightline::recognition {

/// Largest number of nearest templates per search.
inline constexpr int kMostNearest = 32;

struct Match {
  std::uint32_t index = 0;  ///< index in the set
  /// Counts: chi-square times kChiSquareUnit. Vectors: the squared Euclidean distance; for length L, the
  /// cosine is 1 - distance / (2 L^2).
  std::uint32_t distance = 0;

  bool operator==(const Match&) const = default;
};

/// The matches of several queries: of each as many, nearest first; of equally near ones, the lower index
/// first.
struct Matches {
  std::size_t per_query = 0;
  std::vector<Match> all;

  std::span<const Match> of(std::size_t query) const {
    return std::span<const Match>(all).subspan(query * per_query, per_query);
  }
};

/// Searches; keeps its memory for the next time. Thread-safety: one thread at a time.
class NearestSearch {
 public:
  /// @param queries  templates of the set's format, one after the other; they share the pass over the set
  /// @param k        number of matches per query, 1 to kMostNearest; fewer if the set is smaller
  /// @param matches  is replaced
  /// @param meter    measures the threads' busy time; may be null Runs on all threads of the calling TBB
  /// arena; the result depends on neither their number nor the instruction set. Throws Error (model) if
  /// queries are not templates of the set's format.
  void find(const TemplateSet& set, std::span<const std::uint8_t> queries, int k, Matches& matches,
            WorkMeter* meter = nullptr);

 private:
  std::vector<QueryPlan> plans_;
  std::vector<std::uint64_t> nearest_;  ///< [part of the set][query][rank], see the source
};

/// The same for once.
Matches nearest(const TemplateSet& set, std::span<const std::uint8_t> queries, int k);

namespace reference {

/// The distance of two templates, by its definition.
std::uint32_t distance(const TemplateFormat& format, std::span<const std::uint8_t> a,
                       std::span<const std::uint8_t> b);
/// NearestSearch in plain code.
Matches nearest(const TemplateSet& set, std::span<const std::uint8_t> queries, int k);

}  // namespace reference
}  // namespace sightline::recognition
