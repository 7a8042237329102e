#pragma once
/// The planes of a frame in one of the few forms that a screen takes.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "frame/frame.hpp"
#include "frame/stream_info.hpp"

namespace sightline::media {

/// Memory layout of pixels. i420: luma, then U and V at half size (rounded up) in separate planes; nv12: U
/// and V alternate in one plane. The others are packed full-range colour, bytes in the order of the name; a
/// fourth byte is ignored.
enum class PlaneKind { i420, nv12, rgb24, bgr24, rgba, bgra };

/// ITU-R BT.601 or BT.709; meaningless for packed colour.
enum class YuvMatrix { bt601, bt709 };

/// Planes for a display to upload. Owns nothing: valid as long as a copy of the frame lives and the
/// PlaneStore is not used again.
struct DisplayPlanes {
  PlaneKind kind = PlaneKind::i420;
  const std::uint8_t* data[3] = {};  ///< planes of the kind; i420: Y, U, V; nv12: Y, UV
  std::ptrdiff_t stride[3] = {};     ///< bytes from row to row, never negative
  Size size;                         ///< pixels of luma, or of packed colour
  YuvMatrix matrix = YuvMatrix::bt601;
  LumaRange range = LumaRange::limited;
  Rational sample_aspect{0, 1};  ///< width : height of a pixel; 0 if the frame does not tell
  bool by_reference = false;     ///< all planes but neutral chroma are the frame's own memory
};

/// Memory and a converter for frames that cannot be shown as they are; keep one for a stream, so that nothing
/// is allocated a frame. Thread-safety: one thread at a time.
class PlaneStore {
 public:
  PlaneStore();
  ~PlaneStore();
  PlaneStore(PlaneStore&&) noexcept;
  PlaneStore& operator=(PlaneStore&&) noexcept;

 private:
  friend DisplayPlanes planes_of(const Frame& frame, PlaneStore& scratch);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Planes of a non-empty frame. They point to the frame's memory if it is planar 4:2:0, nv12, planar 4:2:2
/// (every other row of chroma), 8-bit gray (with neutral chroma from `scratch`) or packed full-range colour.
/// Bottom-up pictures are copied, all other formats are converted to i420.
///
/// The matrix is the stream's; if unspecified, BT.709 from 720 rows up and BT.601 below. Other matrices are
/// replaced by the nearer of the two.
/// @throws Error (input) for a pixel format that has no conversion
DisplayPlanes planes_of(const Frame& frame, PlaneStore& scratch);

}  // namespace sightline::media
