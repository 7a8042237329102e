#pragma once
/// Detectors inside the boxes of another: eyes in faces, plates on cars.

#include <memory>
#include <string>
#include <vector>

#include "detection/extended_detector.hpp"

namespace sightline {

/// A part of a box, in parts of its width and height from its top left corner; below 0 and above 1 lie its
/// surroundings.
struct BoxPart {
  double left = -0.1;
  double top = -0.1;
  double right = 1.1;
  double bottom = 1.1;
  friend bool operator==(const BoxPart&, const BoxPart&) = default;
};

/// A detector that searches a part of every box of another one.
struct InsideDetector {
  std::unique_ptr<Detector> detector;
  BoxPart part;
};

/// Pixels of a frame.
struct Crop {
  int x = 0;
  int y = 0;
  Size size;
};

/// The part of a box that lies in the frame, as whole pixels: all that the part touches. May be empty.
Crop crop_of(const Box& box, const BoxPart& part, Size frame);
/// The pixels themselves, not copied. The crop lies in the picture.
PictureView view_of(PictureView picture, const Crop& crop);

/// A detector with others inside: its own stages, wherever they run, and a last one on the CPU, `inside`,
/// which runs the others on the pixels of each box as they are, without resizing. Sizes of the others are
/// therefore frame pixels, too.
///
/// What is found inside has labels of its own, and stands behind the boxes in which it was sought, label by
/// label, by falling score. Where boxes overlap, so that two of them hold the same object, it is reported
/// once: of two boxes of a label from different outer boxes that share more than half of the smaller one, the
/// surer stays (ties: that of the surer outer box).
class NestedDetector : public ExtendedDetector {
 public:
  /// Throws Error (usage) where a part is empty.
  NestedDetector(std::unique_ptr<Detector> outer, std::vector<InsideDetector> inside);
};

}  // namespace sightline
