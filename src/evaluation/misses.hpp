#pragma once
/// Causes of missed objects, from a detector's windows and detections around each.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evaluation/matching.hpp"

namespace sightline {

/// Cause of a miss at a threshold; the first that applies.
enum class MissCause {
  suppressed,  ///< a window fits it and reaches the threshold, and was dropped for a neighbour, or found
               ///< another object
  misplaced,   ///< a detection reaches the threshold and overlaps it, but too little: by 0.3 or more
  low_score,   ///< a window fits it, with a score below the threshold
  too_small,   ///< none fits it, and it is lower than the smallest object that is searched for
  unseen,      ///< no window that is left fits it
};
inline constexpr std::array kMissCauses{MissCause::suppressed, MissCause::misplaced, MissCause::low_score,
                                        MissCause::too_small, MissCause::unseen};
/// "too small", "suppressed", ...
const char* to_string(MissCause cause);

/// A marked object, and what became of it.
struct ExaminedObject {
  Box box;             ///< pixels of the frame
  double covered = 0;  ///< share of the box, 0..1, behind marked boxes that end lower, and so stand before it
  bool at_edge = false;  ///< the box ends at the frame's edge, to a fiftieth of its height
  bool found = false;
  MissCause cause = MissCause::unseen;  ///< if not found
  /// If not found: the window with the largest overlap, if that is at least 0.3.
  std::optional<Detection> nearest;

  /// Class of the covered share: 0 (below 10%), 1 (below 35%), 2 (below 65%) or 3.
  int cover_class() const { return covered < 0.1 ? 0 : covered < 0.35 ? 1 : covered < 0.65 ? 2 : 3; }
};

struct MissOptions {
  MatchOptions matching;
  double threshold = 0;        ///< lowest score of a found object
  double smallest_object = 0;  ///< height in pixels, see DetectorInfo
};

/// Examines the marked objects of one frame, but for those to be ignored, in their order.
/// @param detections  as reported, of any score
/// @param windows     the same before neighbours were dropped, with scores that can be compared with theirs
/// Thread-safety: a function without state.
std::vector<ExaminedObject> examine_misses(std::span<const Detection> detections,
                                           std::span<const Detection> windows,
                                           std::span<const TruthBox> truth, Size frame,
                                           const MissOptions& options);

/// Objects of one kind, and how many of them are missed for which cause.
struct MissCount {
  std::string kind;  ///< "96 to 128 pixels high"
  std::int64_t objects = 0;
  std::array<std::int64_t, kMissCauses.size()> missed{};  ///< misses by cause
  std::int64_t missed_in_all() const;
};

/// Counts of all objects, then by height, by covered share, and by whether they end at the frame's edge.
/// Empty groups are left out.
std::vector<MissCount> count_misses(std::span<const ExaminedObject> objects);

}  // namespace sightline
