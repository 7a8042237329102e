#pragma once
/// Search inside the boxes of a detector: eyes in faces, plates on cars.

#include <memory>
#include <string>
#include <vector>

#include "detection/composite_detector.hpp"

namespace sightline {

/// Part of a box, as shares of its width and height from its top left corner; below 0 and above 1 lie its
/// surroundings.
struct BoxPart {
  double left = -0.1;
  double top = -0.1;
  double right = 1.1;
  double bottom = 1.1;
  friend bool operator==(const BoxPart&, const BoxPart&) = default;
};

/// Detector that searches a part of every box of another one.
struct InsideDetector {
  std::unique_ptr<Detector> detector;
  BoxPart part;
};

/// All whole pixels that touch the part of a box inside the frame. May be empty.
Crop crop_of(const Box& box, const BoxPart& part, Size frame);

/// Stage `inside`, on the CPU: it runs detectors on the pixels of each box as they are, without resizing.
/// Sizes of these detectors are therefore frame pixels, too.
///
/// The objects found inside have labels of their own. They stand behind the boxes, label by label, by falling
/// score. If two boxes that overlap hold the same object, it is reported once: of two objects of a label from
/// different boxes that share more than half of the smaller object, the one with the higher score stays
/// (ties: the one in the box with the higher score). Throws Error (usage) if a part is empty.
std::unique_ptr<ObjectProcessor> make_inside_search(std::vector<InsideDetector> inside);

}  // namespace sightline
