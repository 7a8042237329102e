#pragma once
/// Search of large pictures in overlapping tiles, so that a detector with an input of fixed size finds small
/// objects.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "frame/frame_result.hpp"
#include "image/box.hpp"

namespace sightline {

/// Size and overlap of tiles.
struct TileOptions {
  static constexpr int kSmallest = 64, kLargest = 16384;  ///< sides in pixels
  static constexpr double kMostOverlap = 0.5;

  Size size;
  double overlap = 0.2;  ///< least overlap of neighbours, as a share of a tile's side; 0 to kMostOverlap
};

/// The size of tiles that a text names: "640" for both sides, or "1280x720". None if it names none, or a side
/// is out of range.
std::optional<Size> tile_size(const std::string& text);

/// The tiles of a picture: first the whole picture, then tiles of one size, row by row, spread evenly from
/// edge to edge. The whole picture is the only one if a tile holds it. Immutable.
class TileLayout {
 public:
  TileLayout(Size picture, const TileOptions& options);

  std::size_t count() const { return columns_ * rows_ == 1 ? 1 : 1 + columns_ * rows_; }
  Size picture() const { return picture_; }
  Crop place(std::size_t tile) const;

 private:
  Size picture_, size_;
  std::size_t columns_, rows_;
};

/// Merges the objects of a picture's tiles.
///
/// A box that ends at an edge of its tile within the picture counts as cut: within a hundredth of the tile's
/// side from the edge. First come the boxes that are not cut, then the others, both by falling score (ties:
/// the lower tile, and the earlier one in it). A box is dropped if one that was kept is of the same label, of
/// another tile, and
/// - overlaps it by more than half of their union, or
/// - covers more than half of it, and it is cut.
/// The result is ordered by falling score. It depends on the objects alone. Objects of one tile are returned
/// as they are.
class TileMerger {
 public:
  /// Adds the objects of a tile, in the tile's own pixels. Call it for rising tiles of one layout.
  void add(const TileLayout& layout, std::size_t tile, std::vector<Detection> objects);
  /// All objects, in pixels of the picture; none are left.
  std::vector<Detection> take();

 private:
  struct Found {
    Detection object;
    std::size_t tile = 0;
    bool is_cut = false;
  };
  static bool is_same(const Found& kept, const Found& one);

  std::vector<Found> found_;
};

}  // namespace sightline
