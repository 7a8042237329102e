#pragma once
/// Objects cut out of pictures in which they are marked: positives to train on.

#include <cstddef>
#include <string>
#include <vector>

#include "image/box.hpp"
#include "training/image_set.hpp"

namespace sightline::training {

/// One marked object of a picture.
struct MarkedObject {
  std::size_t picture = 0;  ///< index in the set
  Box box;                  ///< pixels of the picture; may reach past its edges
};

/// Throws Error (input) where half of a box or more lies outside its picture, as where the picture is another
/// one than that in which the box was drawn, or was resized since.
void check_inside(const Box& box, Size picture, const std::string& name);

/// A picture an object, with a margin around it; what lies beyond the picture's edge is the edge's pixel
/// repeated. The pictures must outlive it.
class MarkedObjects : public ImageSet {
 public:
  /// @param margin  in parts of the object's width and height, on each side
  MarkedObjects(const ImageSet& pictures, std::vector<MarkedObject> objects, double margin)
      : pictures_(pictures), objects_(std::move(objects)), margin_(margin) {}
  std::size_t size() const override { return objects_.size(); }
  Image<std::uint8_t> load(std::size_t index) const override;
  std::string name(std::size_t index) const override;

 private:
  const ImageSet& pictures_;
  std::vector<MarkedObject> objects_;
  double margin_;
};

}  // namespace sightline::training
