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

#include "detectors/cascade/layout.hpp"
#include "detectors/cascade/model.hpp"
#include "image/view.hpp"

namespace sightline::cascade {

/// A cascade as the SIMD forms run it on one layout: features as the places of their corners, and bounds for
/// sums that are not exact. Immutable; refers to the model and the layout, which must outlive it.
///
/// A Haar feature's corners are merged where its rectangles share them; this needs whole weights so small
/// that no sum is rounded, which all of OpenCV's have. Stages first run in numbers that fit in a SIMD lane
/// (float, or 16-bit fixed point for LBP); where such a sum is so near the threshold that its error could
/// matter, the stage is run again as the reference does it.
class PackedCascade {
 public:
  PackedCascade() = default;
  PackedCascade(const Model& model, const Layout& layout);

  const Model& model() const { return *model_; }
  const Layout& layout() const { return *layout_; }
  /// True if it is valid for another layout as well: frames of nearly the same size (such as crops around
  /// objects) share it.
  bool serves(const Layout& layout) const;
  /// Whether the SIMD forms can run it; where not, the reference does.
  bool is_packed() const { return packed_; }

  struct Corner {
    std::int32_t offset =
        0;  ///< offset from the window's corner; squares and tilted sums are in further planes
    std::int32_t weight = 0;
  };
  struct HaarNode {
    /// six: (c0 + c1 - c2 - c3) + factor (c4 - c5); eight: the same + factor (c6 - c7); list: corners of
    /// `list`
    enum class Form : std::int32_t { six, eight, list };
    std::int32_t corners[8] = {};
    std::int32_t factor = 0;
    float threshold = 0;
    Form form = Form::list;
    std::int32_t first = 0, count = 0;  ///< range in `list`
  };
  struct LbpNode {
    std::int32_t corners[16] = {};          ///< corners of the 3x3 grid, row by row
    alignas(16) std::uint8_t set[32] = {};  ///< bit 255 - p: whether pattern p goes left
  };
  struct Bounds {  ///< bounds of a Haar stage's inexact sum: passes from `pass` on, rejected below `reject`
    float pass = 0, reject = 0;
  };
  /// A leaf of an LBP stage in fixed point: high * 2^low_bits + low. Lows add up in 16 bits. That fine it has
  /// to be: few trees have few sums, and training puts the threshold 0.00001 below one of them.
  struct LbpLeaf {
    std::int16_t high = 0, low = 0;
  };
  struct LbpBounds {
    LbpLeaf pass, reject;
    int low_bits = 0;
  };

  // Nodes by step - 1, as in Model::nodes.
  std::vector<HaarNode> haar[2];
  std::vector<LbpNode> lbp[2];
  std::vector<Corner> list[2];
  std::int32_t inside[2][4] = {};     ///< corners of the window less its outermost pixels
  std::vector<Bounds> bounds;         ///< Haar: by stage
  std::vector<LbpBounds> lbp_bounds;  ///< LBP: by stage
  std::vector<LbpLeaf> lbp_leaves;    ///< see Model::leaves

 private:
  void pack_haar(int step);
  void pack_lbp(int step);
  void bound_float_sums();
  void bound_small_sums();

  const Model* model_ = nullptr;
  const Layout* layout_ = nullptr;
  int stride_ = 0;          ///< stride of its layout
  std::int64_t plane_ = 0;  ///< likewise
  bool packed_ = false;
};

/// See reference::scan_row.
void scan_row(const PackedCascade& cascade, int level, const std::byte* integrals, int row, int stages,
              std::vector<Survivor>& survivors);

/// See reference::finish.
void finish(const PackedCascade& cascade, const std::byte* integrals, std::span<const Survivor> survivors,
            int first_stage, std::vector<Candidate>& candidates);

namespace reference {

/// Result of boosting stages [first_stage, last_stage) for a window.
enum class Verdict {
  passed,
  rejected,
  flat,  ///< nothing to see; Haar only
};
struct WindowResult {
  Verdict verdict = Verdict::passed;
  int stage = 0;   ///< the boosting stage that rejected, else the last that ran
  double sum = 0;  ///< sum of that stage; 0 if none ran
};

/// The window with its corner at pixel (x, y).
WindowResult run_window(const Model& model, const Layout& layout, const Level& level,
                        const std::byte* integrals, int x, int y, int first_stage, int last_stage);

/// One row of windows of a level: appends those that are visited and pass boosting stages
/// [0, stages), 1 <= stages.
/// @param row  of windows
void scan_row(const Model& model, const Layout& layout, int level, const std::byte* integrals, int row,
              int stages, std::vector<Survivor>& survivors);

/// The remaining boosting stages [first_stage, all) for windows that have passed the others: appends what
/// passes.
void finish(const Model& model, const Layout& layout, const std::byte* integrals,
            std::span<const Survivor> survivors, int first_stage, std::vector<Candidate>& candidates);

}  // namespace reference
}  // namespace sightline::cascade
