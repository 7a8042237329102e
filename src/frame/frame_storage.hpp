#pragma once
/// Pixels of a picture in one kind of memory, and who owns them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "image/picture_view.hpp"

namespace sightline {

/// Kinds of memory that a picture may lie in.
enum class MemoryDomain : std::uint8_t { host, opencl, cuda, vaapi, drm };
inline constexpr std::size_t kMemoryDomains = 5;

/// Range of 8-bit luma: black 16 and white 235 (limited), or black 0 and white 255 (full).
enum class LumaRange { limited, full };

/// Thread-safety: constant after construction, any thread.
class FrameStorage {
 public:
  FrameStorage() = default;
  FrameStorage(const FrameStorage&) = delete;
  FrameStorage& operator=(const FrameStorage&) = delete;
  virtual ~FrameStorage() = default;

  virtual MemoryDomain domain() const { return MemoryDomain::host; }
  /// The picture for a detector; outside of the host, its size and layout with null pixels. A view of the
  /// decoder's own pixels where these are 8-bit luma in a plane of its own (yuv420p, yuv422p, nv12, gray,
  /// ...), with the chroma beside it, or packed full-range colour (rgb24, bgr24, rgba, bgra, rgb0, bgr0),
  /// which is not converted here. Everything else (palette, 10-bit, packed YUV, planar RGB, ...) was
  /// converted on decoding: to luma, or to luma and chroma or packed colour with the same luma where colour
  /// is kept. Samples of more than 8 bits are rounded to the nearest of 8, never dithered, so equal pixels
  /// have equal luma in every format. The stride may be negative; bytes past a row's end must not be read.
  virtual PictureView view() const = 0;
  virtual LumaRange luma_range() const { return LumaRange::full; }

  /// This storage where it is of that domain, else its copy there, made by the first call; null if there
  /// can be none. Throws Error (device) if copying fails.
  const FrameStorage* in(MemoryDomain domain) const;

 protected:
  /// A copy in another domain. This is the only place that copies between domains. Null: cannot be.
  virtual std::unique_ptr<const FrameStorage> copied_to(MemoryDomain) const { return nullptr; }

 private:
  mutable std::mutex mutex_;
  mutable std::array<std::unique_ptr<const FrameStorage>, kMemoryDomains> copies_;  ///< by domain
};

}  // namespace sightline
