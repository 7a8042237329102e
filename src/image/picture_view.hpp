#pragma once
/// Input picture of a detector: gray, or packed colour whose luma the detector computes.

#include <variant>

#include "image/gray.hpp"

namespace sightline {

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

  bool is_gray() const { return std::holds_alternative<GrayView>(pixels_); }
  /// Throws std::bad_variant_access for colour.
  GrayView gray() const { return std::get<GrayView>(pixels_); }
  /// Throws std::bad_variant_access for gray.
  const PackedView& colour() const { return std::get<PackedView>(pixels_); }
  Size size() const { return is_gray() ? gray().size() : colour().size(); }
  int width() const { return size().width; }
  int height() const { return size().height; }

 private:
  std::variant<GrayView, PackedView> pixels_;
};

}  // namespace sightline
