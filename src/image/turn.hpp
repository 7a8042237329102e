#pragma once
/// Quarter turns and mirror images: the eight ways in which a camera stores a picture.

#include <cstddef>
#include <cstdint>

#include "image/view.hpp"

namespace sightline {

/// Orientation fix of a stored picture: transpose it, then mirror its columns, its rows or both.
struct Turn {
  bool transpose = false;
  bool mirror_columns = false;
  bool mirror_rows = false;

  bool is_none() const { return !transpose && !mirror_columns && !mirror_rows; }
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// The turn for the tag Orientation of EXIF and TIFF: 1 to 8; none for other values.
Turn turn_of_orientation(int orientation);

/// The size of a turned picture.
inline Size turned(Size stored, const Turn& turn) {
  return turn.transpose ? Size{stored.height, stored.width} : stored;
}

/// Pixels of `bytes` bytes each; `stride` is in bytes and may be negative.
struct StoredPixels {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;
  Size size;
  int bytes = 1;
};

/// Writes the turned pixels; `stride` is the target's, in bytes.
void turn_pixels(const StoredPixels& stored, const Turn& turn, std::uint8_t* target, std::ptrdiff_t stride);

}  // namespace sightline
