#pragma once
/// Windows of a frame's pyramid, as all sliding-window detectors name them.

#include <cstdint>
#include <tuple>

namespace sightline {

/// Window (x, y) of a level. The unit of x and y is the detector's: pixels of the level, or cells.
struct LevelWindow {
  std::int32_t level = 0;
  std::int32_t x = 0;
  std::int32_t y = 0;
  friend bool operator==(const LevelWindow&, const LevelWindow&) = default;
  /// Order by level, row, column: the search order, and the order of all results on every processor.
  friend bool operator<(const LevelWindow& a, const LevelWindow& b) {
    return std::tie(a.level, a.y, a.x) < std::tie(b.level, b.y, b.x);
  }
};

/// Box-regression offset: distance of an object's box from its window, in level pixels.
struct BoxOffset {
  double middle = 0;  ///< offset of the mean of left and right
  double top = 0;
  double bottom = 0;
  friend bool operator==(const BoxOffset&, const BoxOffset&) = default;
};

/// A window that may be reported.
struct Candidate : LevelWindow {
  double score = 0;   ///< the detector's, the higher the surer; a later stage may replace it
  BoxOffset shift{};  ///< 0 unless a stage says where in the window the object lies
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// A strict order of a frame's candidates, in which no two of them are equal.
inline bool higher_confidence(const Candidate& a, const Candidate& b) {
  return std::tie(b.score, a.level, a.y, a.x) < std::tie(a.score, b.level, b.y, b.x);
}

}  // namespace sightline
