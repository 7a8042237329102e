#pragma once
/// The reader of TIFF files that media uses. FFmpeg's decoder yields wrong pixels for many kinds (tiles,
/// JPEG, signed and floating-point samples) without an error. src/texture/tiles reads them, but needs
/// libtiff, so a program that has it registers it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace sightline::media {

/// Pixels to fill: 8 bits, full range, gray (1 sample) or interleaved RGB (3 samples).
struct TiffRows {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from row to row
};
struct TiffSize {
  std::int64_t width = 0, height = 0;
  int samples = 1;          ///< samples per pixel: 1 or 3
  double pixel_aspect = 1;  ///< width of a pixel, by its height
};

/// Thread-safety: all functions may be called from several threads.
class TiffReader {
 public:
  virtual ~TiffReader() = default;
  /// Whether a file begins as a TIFF does.
  virtual bool is_tiff(const std::string& path) const = 0;
  /// Reads the first picture and warns of further ones. Unsigned samples of more than 8 bits are spread over
  /// all of their values.
  /// @param name  file name for messages
  /// @param make  called once with the size; returns the memory to fill
  /// @returns description of the damage; empty: none
  /// @throws Error (input) for unsupported kinds
  virtual std::string read(const std::string& path, const std::string& name,
                           const std::function<TiffRows(const TiffSize&)>& make) const = 0;
};

/// Sets the reader, before the first input is opened. It must outlive all inputs. Null: TIFF is refused.
void set_tiff_reader(const TiffReader* reader);

}  // namespace sightline::media
