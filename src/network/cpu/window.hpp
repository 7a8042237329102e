#pragma once
/// Kernel of WindowFold for f32, SIMD, dispatched at run time. It gives the bits of WindowFold::evaluate on
/// every instruction set. Thread-safety: no shared data.

#include <cstddef>
#include <cstdlib>

#include "network/cpu/epilogue.hpp"
#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// Part of one row of a window fold's output: of a block of 16 channels, or of one plane.
struct WindowRow {
  Fold fold = Fold::maximum;
  /// The map's rows under the kernel's rows, in the kernel's order, without those outside the map: row r
  /// begins at rows[r], with the map's first point.
  const float* const* rows = nullptr;
  int row_count = 0;
  int in_width = 0;    ///< points of the map's row; no others are read
  int lanes = kBlock;  ///< floats of a point: 16, or 1 for a plane
  // Of the window's columns, as in Window:
  int kernel = 1;
  int step = 1;
  int tap_step = 1;
  int before = 0;
  int first = 0;         ///< output point from which on the part reaches
  int width = 0;         ///< its points
  float* out = nullptr;  ///< the result for `first`; its points lie one behind the other
};

/// Points of a map's row that such a part reads, were the row endless.
struct WindowReach {
  std::ptrdiff_t first = 0, count = 0;
  std::ptrdiff_t tap = 0;  ///< which one of them is under the first tap of the first output
};
inline WindowReach reach_of(const WindowRow& row) {
  const std::ptrdiff_t across = std::ptrdiff_t{row.kernel - 1} * std::abs(row.tap_step);
  const std::ptrdiff_t tap = row.tap_step < 0 ? across : 0;
  return {std::ptrdiff_t{row.first} * row.step - row.before - tap,
          std::ptrdiff_t{row.width - 1} * row.step + across + 1, tap};
}

/// Folds the windows.
/// @param scratch  floats that overlap nothing else: for the points that the part reaches (WindowReach), of
/// one row
///                 for maxima and minima, else of row_count rows
void fold_window(const WindowRow& row, float* scratch);

}  // namespace sightline::nn
