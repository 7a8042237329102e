#pragma once
/// The scan of a level's windows on the CPU, in two forms that give the same: `scan_tile`, dispatched at run
/// time to the best instruction set, and `reference`, in plain scalar code. Thread-safety: pure functions of
/// their arguments; a scratch serves one thread at a time.
///
/// A level is scanned in tiles. For LBP, a tile's codes are made first, of every block size that the model
/// has: a plane of bytes each, in which a weak classifier is one load and one look-up, however large its
/// blocks are. For LRP and LRD, these are planes of the ranks of all blocks (ranks.hpp), for Haar features it
/// is an integral image. Windows of a tile then go through the weak classifiers side by side: the first one's
/// decision with LBP is a bit of its code, so it is made for a vector of windows at once; what is left of
/// these are lists, from which each further weak classifier strikes out those that it rejects.

#include <cstdint>
#include <span>
#include <vector>

#include "detection/pixel_windows.hpp"
#include "detectors/waldboost/model.hpp"
#include "image/view.hpp"

namespace sightline::waldboost {

/// A window that passes all weak classifiers.
struct Accepted {
  int x = 0, y = 0;      ///< its corner, in pixels of the level
  std::int32_t sum = 0;  ///< sum of all responses, in units
  friend bool operator==(const Accepted&, const Accepted&) = default;
};

using Tile = WindowTile;

/// A model as scan_tile runs it. Immutable; refers to the model, which must outlive it.
class PackedModel {
 public:
  /// Limit of a tile in windows.
  static constexpr int kTileColumns = 384, kTileRows = 96;
  /// Places of a plane: elements from row to row, and in all. Rows have slack for vectors.
  static constexpr int kStride = kTileColumns + 2 * kMaxWindow;
  static constexpr int kPlane = kStride * (kTileRows + kMaxWindow);
  static constexpr int kPlanes = kMaxBlock * kMaxBlock;
  /// Rows of windows that are in a list together: few enough for the caches.
  static constexpr int kListRows = 32;

  PackedModel() = default;
  explicit PackedModel(const Model& model);

  const Model& model() const { return *model_; }
  /// The plane of a block size.
  static int plane_of(const Feature& f) { return (f.block_height - 1) * kMaxBlock + f.block_width - 1; }
  bool uses_plane(int plane) const { return uses_plane_[plane]; }
  /// Offset of a weak classifier's code or ranks, in elements from the window's corner in plane 0. Empty for
  /// Haar.
  std::span<const std::int32_t> offsets() const { return offsets_; }
  /// Bit c % 8 of byte c / 8: whether the first weak classifier lets code c pass.
  std::span<const std::uint8_t> first_passes() const { return first_passes_; }

 private:
  const Model* model_ = nullptr;
  bool uses_plane_[kPlanes] = {};
  std::vector<std::int32_t> offsets_;
  alignas(32) std::array<std::uint8_t, kCodes / 8> first_passes_{};
};

/// Scratch memory of a thread for a tile: about 700 kB, for LRP and LRD 1.5 MB.
struct ScanScratch {
  AlignedBuffer<std::uint8_t> codes;
  AlignedBuffer<std::uint32_t> words;      ///< ranks, or the integral image
  AlignedBuffer<std::int16_t> block_sums;  ///< rows of sums, for codes of larger blocks
  AlignedBuffer<std::int32_t> places, sums;
  std::vector<Accepted> accepted;  ///< used by the caller; keeps its memory between tiles
};

/// Appends the windows of a tile that pass all weak classifiers and have a sum of at least `lowest`, in the
/// order of rows.
/// @param image  of the level; all pixels of the tile's windows lie in it, and 64 bytes behind each row of
///               these may be read
/// @param left   adds how many windows each weak classifier leaves; empty: not counted
void scan_tile(const PackedModel& model, GrayView image, const Tile& tile, std::int32_t lowest,
               ScanScratch& scratch, std::vector<Accepted>& accepted, std::span<std::int64_t> left = {});

/// Codes (LBP, into `scratch.codes`) or ranks (LRP and LRD, into `scratch.words`) of a tile's pixels, of all
/// planes that the model uses: that of the grid whose upper left pixel is (tile.x + i, tile.y + j) at
/// `plane * kPlane + j * kStride + i`. A part of scan_tile, for tests.
void make_codes(const PackedModel& model, GrayView image, const Tile& tile, ScanScratch& scratch);

namespace reference {

/// The code of a feature in the window whose corner is (x, y).
int code(FeatureKind kind, const Feature& feature, GrayView image, int x, int y);

struct WindowResult {
  int passed = 0;        ///< weak classifiers that did not reject
  std::int32_t sum = 0;  ///< sum of the responses, including the rejecting one
};
WindowResult run_window(const Model& model, GrayView image, int x, int y);

void scan_tile(const Model& model, GrayView image, const Tile& tile, std::int32_t lowest,
               std::vector<Accepted>& accepted, std::span<std::int64_t> left = {});

}  // namespace reference
}  // namespace sightline::waldboost
