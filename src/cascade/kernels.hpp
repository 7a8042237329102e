#pragma once
/// The stages' inner loops on the CPU, on plain memory (see layout.hpp), each in two forms that give the same
/// bits: `sightline::cascade::X` in SIMD, dispatched at run time to the best instruction set, and
/// `sightline::cascade::reference::X` in plain scalar code. Thread-safety: pure functions of their arguments.
///
/// Semantics are those of OpenCV 4.6's CascadeClassifier on the CPU:
/// - Haar: a window's norm is `1 / sqrt(area * sum of squares - sum^2)` over the window less its outermost
///   pixels, in double, rounded to float; windows with nothing under the root, or where area * norm >= 0.1,
///   are flat and fail. A feature is `(w0 s0 + w1 s1) + w2 s2` times the norm, in float.
/// - LBP: the pattern's bits are set where a block's sum is at least that of the middle one: 128 for the top
///   left block, then clockwise.
/// - A stage's sum is of doubles, in the order of its trees, and rejects where it is below the threshold.
/// - Windows are visited from left to right; the one after a window that the very first stage rejects is
///   skipped. Flat windows are not rejected in this sense. So a window is skipped exactly where the run of
///   windows before it that the first stage rejects has odd length.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cascade/layout.hpp"
#include "cascade/model.hpp"
#include "image/view.hpp"

namespace sightline::cascade {

namespace reference {

/// Rows [y_begin, y_end) of a level's image.
void resize_rows(GrayView frame, const SampleAxis& columns, const SampleAxis& rows, int y_begin, int y_end,
                 ImageView<std::uint8_t> image);

/// A level's part of all planes.
/// @param integrals  the layout's memory
void integrate(GrayView image, const Layout& layout, const Level& level, std::byte* integrals);

/// What stages [first_stage, last_stage) say of a window.
enum class Verdict {
  passed,
  rejected,
  flat,  ///< nothing to see; Haar only
};
struct WindowResult {
  Verdict verdict = Verdict::passed;
  int stage = 0;   ///< that rejected, else the last that ran
  double sum = 0;  ///< of that stage; 0 where none ran
};

/// The window with its corner at pixel (x, y).
WindowResult run_window(const Model& model, const Layout& layout, const Level& level,
                        const std::byte* integrals, int x, int y, int first_stage, int last_stage);

/// One row of windows of a level: appends those that are visited and pass stages [0, stages), 1 <= stages.
/// @param row  of windows
void scan_row(const Model& model, const Layout& layout, int level, const std::byte* integrals, int row,
              int stages, std::vector<Survivor>& survivors);

/// The remaining stages [first_stage, all) for windows that have passed the others: appends what passes.
void verify(const Model& model, const Layout& layout, const std::byte* integrals,
            std::span<const Survivor> survivors, int first_stage, std::vector<Candidate>& candidates);

}  // namespace reference
}  // namespace sightline::cascade
