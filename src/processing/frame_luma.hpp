#pragma once
/// The luma of a frame, for stages on the CPU.

#include <algorithm>

#include "base/parallel.hpp"
#include "image/gray.hpp"
#include "image/picture_view.hpp"
#include "processing/frame_processor.hpp"

namespace sightline {

/// Runs `work(begin, end)` for rows [0, height), `rows` at a time, on all threads: for images that are not
/// cut into bands beforehand.
template <typename Work>
void for_each_rows(int height, Workspace& workspace, const Work& work, int rows = 32) {
  const auto rows_of = [&](int task) { work(task * rows, std::min((task + 1) * rows, height)); };
  parallel_for_isolated((height + rows - 1) / rows, rows_of, &workspace.work);
}

/// The frame itself if it is gray, otherwise its luma, computed on first use. Keeps its memory.
/// Thread-safety: one thread at a time.
class FrameLuma {
 public:
  /// A new frame, whose pixels must stay valid.
  void begin(PictureView frame) {
    frame_ = frame;
    is_made_ = frame.is_gray();
  }
  /// Makes it, on all threads, where it is not there yet.
  void make(Workspace& workspace) {
    if (is_made_) return;
    const PackedView& colour = frame_.colour();
    converted_.resize(colour.width, colour.height);
    const ImageView<std::uint8_t> target = converted_.view();
    for_each_rows(colour.height, workspace, [&](int begin, int end) { to_gray(colour, target, begin, end); });
    is_made_ = true;
  }
  /// Once it is made.
  GrayView view() const { return frame_.is_gray() ? frame_.gray() : converted_.view(); }

 private:
  PictureView frame_;
  Image<std::uint8_t> converted_;
  bool is_made_ = true;
};

}  // namespace sightline
