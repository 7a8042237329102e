#pragma once
/// Internal to the session: a stream's frames in tiles.

#include <optional>
#include <string>

#include "detection/tiles.hpp"
#include "frame/frame_source.hpp"

namespace sightline::pipeline {

/// A frame, or a tile of one.
struct Tile {
  Frame whole;            ///< the frame that it is a tile of
  std::size_t index = 0;  ///< TileLayout's
  std::size_t count = 1;

  bool is_last() const { return index + 1 == count; }
};

/// Cuts frames into tiles, and makes one result of those of a frame's tiles. Reading and merging may run at
/// the same time, each in one thread at a time.
class TiledFrames {
 public:
  explicit TiledFrames(const TileOptions& options) : options_(options) {}

  /// As FrameSource::try_read, for the next tile; the source is read when all tiles of a frame are taken.
  bool try_read(FrameSource& source, std::optional<Frame>& frame, Tile& tile);
  /// Adds the result of a tile, in their order. Returns whether it was the last one of its frame: then
  /// `result` is the frame's. A frame has failed if a tile has, and was skipped if all were.
  bool merge(const Tile& tile, FrameResult& result);

 private:
  const TileOptions options_;
  Tile next_{{}, 1, 1};  ///< the reader's
  // Of the frame that is merged.
  TileMerger merger_;
  FrameStatus status_ = FrameStatus::skipped;
  std::string message_;
};

}  // namespace sightline::pipeline
