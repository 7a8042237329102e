#pragma once
/// The colour of a frame, for stages on the CPU.

#include "image/colour.hpp"
#include "processing/frame_luma.hpp"

namespace sightline {

/// Planar RGB of a frame (image/colour.hpp), made once a frame and only when somebody asks for it. Keeps its
/// memory. Thread-safety: one thread at a time.
class FrameColour {
 public:
  /// A new frame, whose pixels must stay valid.
  void begin(const PictureView& frame) {
    frame_ = frame;
    is_made_ = false;
  }
  /// Makes it, on all threads, if it is not there yet.
  void make(Workspace& workspace) {
    if (is_made_) return;
    rgb_.resize(frame_.width(), 3 * frame_.height());
    const ImageView<std::uint8_t> target = rgb_.view();
    for_each_rows(frame_.height(), workspace,
                  [&](int begin, int end) { to_planar_rgb(frame_, target, begin, end); });
    is_made_ = true;
  }
  /// Once it is made.
  GrayView rgb() const { return rgb_.view(); }

 private:
  PictureView frame_;
  Image<std::uint8_t> rgb_;
  bool is_made_ = false;
};

}  // namespace sightline
