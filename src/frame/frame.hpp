#pragma once
/// One picture of a source, wherever its pixels lie.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "frame/frame_storage.hpp"
#include "image/box.hpp"

namespace sightline {

/// Times of a live frame, in nanoseconds of std::chrono::steady_clock; 0: unknown, or not live. For a
/// file that LiveSource plays, both are the moment at which the frame was released.
struct FrameTimes {
  std::int64_t captured = 0;  ///< capture by the camera or, if that is unknown, arrival of the data
  std::int64_t decoded = 0;   ///< end of decoding
};

/// A picture with its number and time. A handle: copies are cheap and share the pixels, which live until the
/// last copy is gone and are never changed.
///
/// Upright: the display matrix or EXIF orientation has been applied. Thread-safety: constant after
/// construction; copies may be used from different threads at once.
class Frame {
 public:
  /// No picture; `empty()`.
  Frame() = default;
  /// @param storage  null: `empty()`
  explicit Frame(std::shared_ptr<const FrameStorage> storage, std::int64_t number, double time,
                 std::string name = {});

  bool empty() const { return storage_ == nullptr; }
  /// From 1, counted from the first frame at or after ReadOptions::start; grows over loops; frames that
  /// ReadOptions::every leaves out are counted too.
  std::int64_t number() const { return number_; }
  /// Presentation time in seconds from the start of the source (not from ReadOptions::start); rises from
  /// frame to frame, over loops as well.
  double time() const { return time_; }
  Size size() const { return view_.size(); }

  /// Memory that the pixels lie in; the host for an empty frame.
  MemoryDomain domain() const { return storage_ ? storage_->domain() : MemoryDomain::host; }
  /// Pixels on the host, valid as long as any copy of this frame: those of FrameStorage::view. Another
  /// domain's are copied once, on the first call. Throws Error (device) if they cannot be.
  PictureView view() const;
  /// The view of a frame that is luma. Throws std::bad_variant_access for packed colour; `to_gray` takes
  /// both.
  GrayView gray() const { return view().gray(); }
  /// The pixels in a memory domain, valid as long as any copy of this frame. The first call copies them there
  /// if necessary. Null if that is impossible, or for an empty frame. Throws Error (device) if copying fails.
  const FrameStorage* in(MemoryDomain domain) const { return storage_ ? storage_->in(domain) : nullptr; }
  /// The storage as its type T, for example media::DecodedPicture; null if it has another type, or for an
  /// empty frame.
  template <typename T>
  const T* storage() const {
    return dynamic_cast<const T*>(storage_.get());
  }
  /// Whether both show the same pixels in memory.
  bool shares_pixels_with(const Frame& other) const { return storage_ == other.storage_; }
  /// Range of the luma. Stored luma keeps the source's range, even if it was reduced to 8 bits. Luma computed
  /// from packed colour or a palette has full range. Limited for an empty frame.
  LumaRange luma_range() const { return storage_ ? storage_->luma_range() : LumaRange::limited; }

  /// Why a picture of a folder could not be read whole; empty for a frame that was. A damaged frame has no
  /// pixels: it is `empty()`, of size 0x0.
  const std::string& damage() const { return damage_; }
  static Frame damaged(std::string reason, std::int64_t number, double time, std::string name);
  /// The file's path in the folder for a picture out of a folder, else empty.
  const std::string& name() const { return name_; }
  /// When it was captured, for live sources.
  const FrameTimes& times() const { return times_; }

  /// The same picture under another number.
  Frame renumbered(std::int64_t number) const {
    Frame frame = *this;
    frame.number_ = number;
    return frame;
  }
  /// The same picture at another time.
  Frame retimed(double time) const {
    Frame frame = *this;
    frame.time_ = time;
    return frame;
  }
  /// The same picture with the moments at which it was captured and decoded.
  Frame stamped(const FrameTimes& times) const {
    Frame frame = *this;
    frame.times_ = times;
    return frame;
  }

 private:
  std::shared_ptr<const FrameStorage> storage_;
  PictureView view_;  ///< the storage's own; without pixels outside of the host
  std::int64_t number_ = 0;
  double time_ = 0;
  FrameTimes times_;
  std::string name_;
  std::string damage_;
};

/// A frame that shares gray pixels (full range), which must not change from now on.
Frame frame_of_gray(std::shared_ptr<const Image<std::uint8_t>> gray, std::int64_t number = 1,
                    double time = 0);

/// A frame of gray pixels (full range), copied.
Frame frame_from_gray(GrayView gray, std::int64_t number = 1, double time = 0);

/// A frame of RGB pixels, 3 bytes each, copied from `rgb` (row after row, no padding).
Frame frame_from_rgb(const std::uint8_t* rgb, Size size, std::int64_t number = 1, double time = 0);

/// A part of a frame, which lies in it, with the frame's number, time and name. Shares the pixels on the
/// host. Throws as Frame::view.
Frame part_of(const Frame& frame, const Crop& part);

/// The luma of a frame, copied. Packed colour becomes BT.601 luma of full range by the integer formula of
/// image/gray.hpp, as in a detector; it may differ by a few levels from what swscale makes of the same
/// picture.
Image<std::uint8_t> to_gray(const Frame& frame);

}  // namespace sightline
