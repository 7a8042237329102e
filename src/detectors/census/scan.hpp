#pragma once
/// The scan of a level's windows on the CPU, in two forms that give the same: `scan_tile`, dispatched at run
/// time to the best instruction set, and `reference`, in plain scalar code. Thread-safety: pure functions of
/// their arguments; a scratch serves one thread at a time.
///
/// A level is scanned in tiles, whose census codes are made first, of pixels and, where the model has them,
/// of cells of 2x2 pixels. Codes of either are kept in two planes of bytes: a code's upper six bits, which
/// name a byte of a code set, and its lower three, as the one bit of that byte. Whether a code is in a set is
/// then one look-up among 64 bytes and one AND, for a vector of windows at once. Windows go through the first
/// stages side by side, in vectors of neighbours, of which a stage leaves a list, each stage's sums in bytes
/// that saturate. The windows that are left of these go on in lists, and their codes are gathered into
/// vectors for every stage.

#include <cstdint>
#include <span>
#include <vector>

#include "detection/pixel_windows.hpp"
#include "detectors/census/model.hpp"
#include "image/view.hpp"

namespace sightline::census {

/// A window that passes all stages of a view.
struct Accepted {
  int view = 0;
  int x = 0, y = 0;         ///< its corner, in pixels of the level
  std::int32_t margin = 0;  ///< threshold - sum of the last stage, in the view's unit
  friend bool operator==(const Accepted&, const Accepted&) = default;
};

/// A set of codes in the format for SIMD look-ups: each 16 bytes XOR the 16 before. The byte that a number
/// names is the XOR of one of each of the blocks up to its own, at the number's lower half.
struct alignas(kSetBytes) PackedSet {
  CodeSet steps;
};

/// A weak classifier packed for SIMD look-ups in adjacent windows.
struct PackedWeakClassifier {
  PackedSet set;
  std::int32_t offset;  ///< offset of its code from the window's corner, in positions
  std::uint8_t weight;  ///< or less, where that rejects as well
};

/// A stage packed for vectors of windows from anywhere in a tile. Their codes are gathered, several adjacent
/// positions at once, and weak classifiers are sorted by position.
struct GatheredStage {
  static constexpr int kRun = 8;  ///< places that are gathered at once
  struct Run {
    std::int32_t offset;  ///< offset of its first position; see PackedWeakClassifier
    int end;              ///< end of its weak classifiers; they begin at the end of the previous stage's
  };
  std::vector<Run> runs;  ///< runs whose weights have 16-bit sums
  // Arrays by weak classifier; sets are separate, so that they fill cache lines:
  std::vector<PackedSet> sets;
  std::vector<std::uint16_t> weights;
  std::vector<std::uint8_t> columns;  ///< its place in its run
};

/// A model as scan_tile runs it. Immutable; refers to the model, which must outlive it.
class PackedModel {
 public:
  /// Limit of a tile in windows.
  static constexpr int kTileColumns = 384, kTileRows = 96;
  /// Places of a plane: bytes from row to row, and of a plane. Rows have slack for vectors, and an odd number
  /// of cache lines, so that those of a window do not drive each other out of the cache.
  static constexpr int kStride = kTileColumns + 3 * kMaxWindow;
  static constexpr int kPlane = kStride * (kTileRows + kMaxWindow);
  /// Default number of SIMD-packed stages: with AVX2, a scan with two takes 5% longer, and one with four as
  /// long.
  static constexpr int kEarlyStages = 3;

  PackedModel() = default;
  /// @param lowest  margin of a window that is reported, by view; below 0, the last stage is the more lenient
  PackedModel(const Model& model, std::span<const std::int32_t> lowest);

  const Model& model() const { return *model_; }
  /// The largest side of cells that codes are needed of.
  int most_cell() const { return most_cell_; }
  /// The sum above which a stage rejects; below 0: always.
  std::int32_t limit(int stage) const { return limits_[static_cast<std::size_t>(stage)]; }
  /// True if a stage can be SIMD-packed: its sums fit in bytes and are not needed later. Otherwise
  /// packed_stage is empty.
  bool fits_bytes(int stage) const { return !packed_stage(stage).empty(); }
  /// A stage's weak classifiers for vectors of windows.
  std::span<const PackedWeakClassifier> packed_stage(int stage) const {
    return packed_stages_[static_cast<std::size_t>(stage)];
  }
  /// A stage for windows in lists.
  const GatheredStage& gathered_stage(int stage) const {
    return gathered_stages_[static_cast<std::size_t>(stage)];
  }

 private:
  void pack_stage(int stage);

  const Model* model_ = nullptr;
  int most_cell_ = 1;
  std::vector<std::int32_t> limits_;
  // Indexed by stage:
  std::vector<std::vector<PackedWeakClassifier>> packed_stages_;
  std::vector<GatheredStage> gathered_stages_;
};

/// Scratch memory of a thread for a tile: about 350 kB, and 300 kB more with cells.
struct ScanScratch {
  /// Byte in a set and bit in that byte, for each code; a plane for each cell size.
  AlignedBuffer<std::uint8_t> bytes, bits;
  AlignedBuffer<std::uint8_t> cells;         ///< their means: one at each pixel
  AlignedBuffer<std::uint16_t> column_sums;  ///< sums of three pixels, of a row
  AlignedBuffer<std::uint8_t> means;         ///< means of a row's neighbourhoods, rounded down
  AlignedBuffer<std::int32_t> corners;       ///< places of the first windows of the vectors in a list
  AlignedBuffer<std::uint64_t> passed;       ///< mask of each vector's remaining windows
  AlignedBuffer<std::int32_t> places, sums;  ///< positions and sums of listed windows
  std::vector<Accepted> accepted;            ///< used by the caller; keeps its memory between tiles
};

/// Appends the windows of a tile that pass all stages of a view, view after view, each in the order of rows.
/// @param image         of the level; all pixels of the tile's windows lie in it, and 64 bytes behind each
///                      of their rows may be read
/// @param early_stages  that windows go through side by side where they can, of each view; at least 1
/// @param left          adds how many windows each stage leaves; empty: not counted
void scan_tile(const PackedModel& model, GrayView image, const WindowTile& tile, int early_stages,
               ScanScratch& scratch, std::vector<Accepted>& accepted, std::span<std::int64_t> left = {});

/// Codes of a tile's pixels into `scratch`, of cells of up to a size: that of the neighbourhood whose upper
/// left pixel is (tile.x + i, tile.y + j) at `(cell - 1) * kPlane + j * kStride + i`. A part of scan_tile,
/// for tests.
void make_codes(GrayView image, const WindowTile& tile, Size window, int most_cell, ScanScratch& scratch);

namespace reference {

struct WindowResult {
  int passed = 0;        ///< stages of the view that did not reject
  std::int32_t sum = 0;  ///< sum of weights of the last evaluated stage
};
/// @param code  of the neighbourhood at (x, y) of the window: `int(int x, int y, int cell)`
template <typename CodeAt>
WindowResult run_stages(const Model& model, std::span<const std::int32_t> limits, int view,
                        const CodeAt& code) {
  WindowResult result;
  for (int s = model.first_stage(view); s < model.views[static_cast<std::size_t>(view)].end;
       ++s, ++result.passed) {
    result.sum = 0;
    for (int i = model.first_weak(s); i < model.stages[static_cast<std::size_t>(s)].end; ++i) {
      const WeakClassifier& weak = model.weak[static_cast<std::size_t>(i)];
      if (contains(weak.codes, code(weak.x, weak.y, weak.cell))) result.sum += weak.weight;
    }
    if (result.sum > limits[static_cast<std::size_t>(s)]) break;
  }
  return result;
}

/// The limits of all stages, as PackedModel has them.
std::vector<std::int32_t> limits_of(const Model& model, std::span<const std::int32_t> lowest);

void scan_tile(const Model& model, std::span<const std::int32_t> lowest, GrayView image,
               const WindowTile& tile, std::vector<Accepted>& accepted, std::span<std::int64_t> left = {});

}  // namespace reference
}  // namespace sightline::census
