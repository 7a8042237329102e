#pragma once
/// COCO's measures of a detector: average precision (AP) and average recall (AR) of boxes.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluation/ground_truth.hpp"
#include "frame/frame_result.hpp"

namespace sightline {

/// Names of COCO's twelve figures, in the order of pycocotools. AP and AR are means over overlaps of 0.50,
/// 0.55, ... 0.95; AP50 and AP75 have one overlap; s, m and l count objects of up to 32^2, up to 96^2 and
/// more square pixels; AR1 and AR10 count the best 1 and 10 boxes per image and class, all others the best
/// 100.
inline constexpr std::array kCocoFigureNames{"AP",  "AP50", "AP75",  "APs", "APm", "APl",
                                             "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"};
/// By kCocoFigureNames, 0..1; none where no object has that size.
using CocoFigures = std::array<std::optional<double>, kCocoFigureNames.size()>;

/// Detections and marked objects of one class, collected image by image. The figures equal those of
/// COCOeval (https://github.com/cocodataset/cocoapi, T.-Y. Lin and P. Dollar), for the same order of images:
///
/// By falling score (equal scores: the given order), each detection takes, of the free objects that it
/// overlaps enough, the one that it overlaps most (equal: the last). Objects of other sizes and ignore
/// regions come after all others. A detection that takes one of them counts for nothing, and so does one of
/// another size that takes none. An ignore region takes any number of detections; their overlap is the share
/// of the detection that lies in it. Precision at a recall is the highest at any recall as high or higher; AP
/// is its mean over recalls of 0, 0.01, ... 1.
///
/// The size of an object is TruthBox::area. Thread-safety: none.
class CocoClass {
 public:
  /// Adds an image; labels are not looked at. Throws std::invalid_argument on a NaN score.
  void add(std::span<const Detection> found, std::span<const TruthBox> truth);
  /// Number of objects without the ignore flag.
  std::int64_t objects() const { return objects_[0]; }
  CocoFigures figures() const;

 private:
  static constexpr std::size_t kSizes = 4;  // all, small, medium, large
  struct Scored {
    double score;
    std::uint8_t rank;                         // in its image, from 0
    std::array<std::uint16_t, kSizes> right;   // by size, a bit per overlap
    std::array<std::uint16_t, kSizes> counts;  // the same; without it, it is neither right nor wrong
  };
  struct Average {
    double precision, recall;
  };
  // @param found  by falling score
  Average average(std::span<const Scored> found, std::size_t size, int most, std::size_t overlap) const;

  std::vector<Scored> found_;
  std::array<std::int64_t, kSizes> objects_{};
};

/// Means over the classes, each over those that have the figure.
CocoFigures mean_of(std::span<const CocoFigures> classes);

}  // namespace sightline
