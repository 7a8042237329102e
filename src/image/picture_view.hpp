#pragma once
/// Input picture of a detector: luma, with or without chroma beside it, or packed colour whose luma the
/// detector computes.

#include <optional>
#include <variant>

#include "image/gray.hpp"

namespace sightline {

/// A YUV matrix as fixed-point weights: R = luma Y + offset + red_v V', and so on, where U' = U - 128.
struct YuvWeights {
  std::int16_t luma;    ///< in 1/16384
  std::int16_t offset;  ///< in 1/64, with half a level for rounding
  std::int16_t red_v;   ///< this and the next in 1/8192
  std::int16_t green_u;
  std::int16_t green_v;
  std::int16_t blue_u;
};

/// Chroma beside the luma of a picture, as a non-owning view. The picture may be a part of the pixels that
/// the planes cover.
struct ChromaView {
  const std::uint8_t* u = nullptr;
  const std::uint8_t* v = nullptr;
  std::ptrdiff_t u_stride = 0;  ///< bytes from row to row; may be negative
  std::ptrdiff_t v_stride = 0;
  int step = 1;     ///< bytes from sample to sample: 1, or 2 where U and V alternate
  int shift_x = 1;  ///< a sample covers 2^shift_x by 2^shift_y pixels
  int shift_y = 1;
  int x = 0;  ///< the picture's first pixel among those that the planes cover
  int y = 0;
  YuvWeights weights{};

  /// Rows, and the index in a row, of the samples that cover a pixel of the picture.
  const std::uint8_t* u_row(int row) const { return u + ((y + row) >> shift_y) * u_stride; }
  const std::uint8_t* v_row(int row) const { return v + ((y + row) >> shift_y) * v_stride; }
  int sample_of(int column) const { return ((x + column) >> shift_x) * step; }
};

/// Non-owning view of a picture: 8-bit luma or packed colour. Colour gives the same results as the luma that
/// `to_gray` makes of it. Thread-safety: as for a pointer.
class PictureView {
 public:
  PictureView() = default;
  // NOLINTBEGIN(google-explicit-constructor): callers pass what they have
  PictureView(GrayView gray) : pixels_(gray) {}
  PictureView(ImageView<std::uint8_t> gray) : pixels_(GrayView(gray)) {}
  PictureView(const PackedView& colour) : pixels_(colour) {}
  // NOLINTEND(google-explicit-constructor)
  PictureView(GrayView luma, const std::optional<ChromaView>& chroma) : pixels_(luma), chroma_(chroma) {}

  bool is_gray() const { return std::holds_alternative<GrayView>(pixels_); }
  /// Throws std::bad_variant_access for colour.
  GrayView gray() const { return std::get<GrayView>(pixels_); }
  /// Throws std::bad_variant_access for gray.
  const PackedView& colour() const { return std::get<PackedView>(pixels_); }
  /// Chroma of `gray`; none if the picture is grey or packed colour.
  const std::optional<ChromaView>& chroma() const { return chroma_; }
  Size size() const { return is_gray() ? gray().size() : colour().size(); }
  int width() const { return size().width; }
  int height() const { return size().height; }

 private:
  std::variant<GrayView, PackedView> pixels_;
  std::optional<ChromaView> chroma_;
};

/// The pixels of a part, which lies in the picture; not copied.
inline PictureView part_of(const PictureView& picture, int x, int y, Size size) {
  if (!picture.is_gray()) {
    PackedView part = picture.colour();
    part.data = part.row(y) + static_cast<std::ptrdiff_t>(x) * bytes_per_pixel(part.format);
    part.width = size.width;
    part.height = size.height;
    return part;
  }
  const GrayView gray = picture.gray();
  std::optional<ChromaView> chroma = picture.chroma();
  if (chroma) {
    chroma->x += x;
    chroma->y += y;
  }
  return {GrayView(gray.row(y) + x, size.width, size.height, gray.stride()), chroma};
}

}  // namespace sightline
