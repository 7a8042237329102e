// Rules for maps of numbers for each anchor of a cell, and the anchors that networks usually have.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "detectors/network/evidence.hpp"

namespace sightline::network {
namespace {

// Anchors in pixels, width and height, by rising stride: of YOLOv5 and YOLOv7-tiny, of YOLOv7, and of both
// with a fourth stride.
constexpr double kYolov5[] = {10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326};
constexpr double kYolov7[] = {12, 16, 19, 36, 40, 28, 36, 75, 76, 55, 72, 146, 142, 110, 192, 243, 459, 401};
constexpr double kYoloP6[] = {19,  27,  44,  40,  38,  94,  96,  68,  86,  152, 180, 137,
                              140, 301, 303, 264, 238, 542, 436, 615, 739, 380, 925, 792};

constexpr double kYolov5Face[] = {4, 5, 8, 10, 13, 16, 23, 29, 43, 55, 73, 105, 146, 217, 231, 300, 335, 433};

}  // namespace

// Anchors for a number of strides, with the name of their origin; empty if none are known.
std::pair<std::span<const double>, std::string> anchors_for(const Evidence& evidence, std::size_t strides,
                                                            bool is_face) {
  const NetworkOutputs& outputs = evidence.outputs;
  if (!outputs.anchors.empty()) return {outputs.anchors, "as given"};
  if (strides == 4) return {kYoloP6, "of YOLOv5-P6"};
  if (strides != 3) return {};
  if (is_face) return {kYolov5Face, "of YOLOv5-face"};
  if (evidence.wanted == "yolov7" || (evidence.wanted.empty() && outputs.pools_like_yolov7))
    return {kYolov7, "of YOLOv7"};
  return {kYolov5, "of YOLOv5"};
}

namespace {

// A map of an anchor's numbers: 1 x anchors x rows x columns x numbers, or 1 x anchors * numbers x rows x
// columns.
struct AnchorMap {
  int output = 0, stride = 0;  // stride 0: it is none
  std::int64_t cells = 0, numbers = 0;
  bool is_last = false;  // whether the numbers of a place are neighbours

  AnchorMap(const Evidence& evidence, std::size_t i, std::int64_t anchors) : output(static_cast<int>(i)) {
    const std::optional<Shape>& known = evidence.outputs.all[i].shape;
    if (!known || known->size() < 4 || known->size() > 5) return;
    const Shape& shape = *known;
    is_last = shape.size() == 5;
    cells = shape[2] * shape[3];
    numbers = is_last ? shape[4] : shape[1] / anchors;
    const int fitting = evidence.stride_of(cells);
    const bool has_anchors = shape[1] == (is_last ? anchors : anchors * numbers);
    // Maps of distributions have as many channels as other classes would: COCO's 80 and VOC's 20 are told.
    constexpr std::int64_t kDistributions = 64, kCoco = 255, kVoc = 75;
    const bool is_unsure = !is_last && shape[1] > kDistributions && shape[1] != kCoco && shape[1] != kVoc &&
                           evidence.wanted.empty() && !evidence.outputs.classes;
    if (fitting > 0 && shape[0] == 1 && has_anchors && !is_unsure && shape[3] == evidence.columns(fitting) &&
        evidence.fits_classes(numbers - evidence.first_class(numbers)))
      stride = fitting;
  }
  Head head(const Evidence& evidence, std::int64_t anchor) const {
    const auto field = [&](std::int64_t number) -> Field {
      const std::int64_t first = anchor * numbers * cells + number * (is_last ? 1 : cells);
      return {output, first, is_last ? numbers : 1, is_last ? 1 : cells};
    };
    Head head = head_of(evidence, cells, stride);
    head.box = field(0);
    head.objectness = field(4);
    head.classes = field(evidence.first_class(numbers));
    if (evidence.has_points_in_row(numbers)) head.points = field(5);
    return head;
  }
};

}  // namespace

// YOLOv5 and YOLOv7 without their last step.
Match match_raw_yolov5(const Evidence& evidence) {
  const std::size_t outputs = evidence.outputs.all.size();
  const bool is_face = outputs == 3 && evidence.has_points_in_row(AnchorMap(evidence, 0, 3).numbers);
  const auto [anchors, whose] = anchors_for(evidence, outputs, is_face);
  if (outputs == 0 || anchors.empty() || anchors.size() % (2 * outputs) != 0) return {};
  const auto per_cell = static_cast<std::int64_t>(anchors.size() / (2 * outputs));
  std::map<int, AnchorMap> maps;  // by stride
  for (std::size_t i = 0; i < outputs; ++i) {
    const AnchorMap map(evidence, i, per_cell);
    if (map.stride == 0 || !maps.emplace(map.stride, map).second ||
        map.numbers != maps.begin()->second.numbers)
      return {};
  }
  Scheme scheme;
  scheme.box = BoxForm::anchor;
  scheme.classes =
      static_cast<int>(maps.begin()->second.numbers - evidence.first_class(maps.begin()->second.numbers));
  scheme.points = is_face ? 5 : 0;
  std::string sizes;
  std::size_t next = 0;
  for (const auto& [stride, map] : maps) {
    for (std::int64_t anchor = 0; anchor < per_cell; ++anchor, next += 2) {
      Head head = map.head(evidence, anchor);
      head.anchor_width = static_cast<float>(anchors[next]);
      head.anchor_height = static_cast<float>(anchors[next + 1]);
      scheme.heads.push_back(head);
      sizes += fmt::format(" {:g}x{:g}", anchors[next], anchors[next + 1]);
    }
  }
  const bool are_probabilities =
      std::ranges::all_of(evidence.outputs.all, &NetworkOutputs::Output::is_probability);
  scheme.activation = are_probabilities ? ScoreFunction::none : ScoreFunction::sigmoid;
  scheme.is_certain = true;
  scheme.reason = "raw maps of coordinates, objectness and classes for each anchor; anchors " + whose + ":" +
                  sizes + " (the key `anchors` gives others)";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

}  // namespace sightline::network
