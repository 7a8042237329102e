#include "pipeline/session/tiled_frames.hpp"

#include <utility>

namespace sightline::pipeline {

bool TiledFrames::try_read(FrameSource& source, std::optional<Frame>& frame, Tile& tile) {
  if (next_.index == next_.count) {
    next_ = {{}, 1, 1};
    if (!source.try_read(frame)) return false;
    if (!frame) return true;
    next_ = {*frame, 0, TileLayout(frame->size(), options_).count()};
  }
  const Frame& whole = next_.whole;
  frame = next_.index == 0 ? whole : part_of(whole, TileLayout(whole.size(), options_).place(next_.index));
  tile = next_;
  ++next_.index;
  return true;
}

bool TiledFrames::merge(const Tile& tile, FrameResult& result) {
  if (tile.count == 1) return true;
  if (tile.index == 0) {
    merger_ = {};
    status_ = FrameStatus::skipped;
    message_.clear();
  }
  if (result.status == FrameStatus::failed && status_ != FrameStatus::failed) {
    status_ = FrameStatus::failed;
    message_ = result.message;
  } else if (result.status == FrameStatus::ok && status_ == FrameStatus::skipped) {
    status_ = FrameStatus::ok;
  }
  const TileLayout layout(tile.whole.size(), options_);
  merger_.add(layout, tile.index, std::exchange(result.objects, {}));
  if (!tile.is_last()) return false;
  result.objects = merger_.take();
  if (status_ == FrameStatus::failed) result.objects.clear();
  if (status_ != FrameStatus::skipped) result.message = message_;
  result.status = status_;
  result.width = layout.picture().width;
  result.height = layout.picture().height;
  return true;
}

}  // namespace sightline::pipeline
