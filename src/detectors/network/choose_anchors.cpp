// Rules for maps of numbers for each anchor of a cell, and the anchors that networks usually have.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "detectors/network/evidence.hpp"

namespace sightline::network {
namespace {

// Anchors in pixels, width and height, by rising stride: of YOLOv3, YOLOv5 and YOLOv7-tiny, of YOLOv4 and
// YOLOv7, and of YOLOv5 and YOLOv7 with a fourth stride.
constexpr double kYolov5[] = {10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326};
constexpr double kYolov7[] = {12, 16, 19, 36, 40, 28, 36, 75, 76, 55, 72, 146, 142, 110, 192, 243, 459, 401};
constexpr double kYoloP6[] = {19,  27,  44,  40,  38,  94,  96,  68,  86,  152, 180, 137,
                              140, 301, 303, 264, 238, 542, 436, 615, 739, 380, 925, 792};

// Of the small YOLOv3 and YOLOv4, for strides of 16 and 32.
constexpr double kTinyYolov3[] = {10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319};
constexpr double kTinyYolov4[] = {23, 27, 37, 58, 81, 82, 81, 82, 135, 169, 344, 319};

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

// Maps by stride; empty where they are none.
std::map<int, AnchorMap> anchor_maps(const Evidence& evidence, std::int64_t per_cell) {
  std::map<int, AnchorMap> maps;
  for (std::size_t i = 0; i < evidence.outputs.all.size(); ++i) {
    const AnchorMap map(evidence, i, per_cell);
    if (map.stride == 0 || !maps.emplace(map.stride, map).second ||
        map.numbers != maps.begin()->second.numbers)
      return {};
  }
  return maps;
}

// A head for each anchor. Returns the anchors as text.
std::string add_anchor_heads(Scheme& scheme, const Evidence& evidence, const std::map<int, AnchorMap>& maps,
                             std::span<const double> anchors) {
  const auto per_cell = static_cast<std::int64_t>(anchors.size() / (2 * maps.size()));
  const std::int64_t numbers = maps.begin()->second.numbers;
  scheme.classes = static_cast<int>(numbers - evidence.first_class(numbers));
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
  return sizes;
}

}  // namespace

// YOLOv5 and YOLOv7 without their last step.
Match match_raw_yolov5(const Evidence& evidence) {
  const std::size_t outputs = evidence.outputs.all.size();
  const bool is_face = outputs == 3 && evidence.has_points_in_row(AnchorMap(evidence, 0, 3).numbers);
  const auto [anchors, whose] = anchors_for(evidence, outputs, is_face);
  if (outputs == 0 || anchors.empty() || anchors.size() % (2 * outputs) != 0) return {};
  const auto maps = anchor_maps(evidence, static_cast<std::int64_t>(anchors.size() / (2 * outputs)));
  if (maps.empty()) return {};
  Scheme scheme;
  scheme.box = BoxForm::anchor;
  scheme.points = is_face ? 5 : 0;
  const std::string sizes = add_anchor_heads(scheme, evidence, maps, anchors);
  const bool are_probabilities =
      std::ranges::all_of(evidence.outputs.all, &NetworkOutputs::Output::is_probability);
  scheme.activation = are_probabilities ? ScoreFunction::none : ScoreFunction::sigmoid;
  scheme.is_certain = true;
  scheme.reason = "raw maps of coordinates, objectness and classes for each anchor; anchors " + whose + ":" +
                  sizes + " (the key `anchors` gives others)";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

namespace {

// What Darknet's networks are told by: leaky activations, with Mish (YOLOv4), or more sums than joined maps
// (YOLOv3; YOLOv5 and YOLOv7 join more); of two strides, without any sums (Yolo-Fastest has them, and other
// anchors).
bool is_of_darknet(const Evidence& evidence, bool has_mish) {
  const auto count = [&](const char* op) {
    const auto found = evidence.outputs.operators.find(op);
    return found == evidence.outputs.operators.end() ? 0 : found->second;
  };
  if (!evidence.has_operator("LeakyRelu")) return false;
  if (evidence.outputs.all.size() == 2)
    return !evidence.outputs.anchors.empty() || (evidence.has_operator("MaxPool") && count("Add") == 0);
  return has_mish || count("Add") > count("Concat");
}

// The same evidence for networks that are known to be Darknet's: no points, and maps of any number of
// classes.
Evidence known_as(const char* type, const Evidence& evidence) {
  Evidence known = evidence;
  known.wanted = type;
  return known;
}

// Darknet's numbers of each anchor.
Scheme darknet_scheme(const char* name, const Evidence& evidence, const std::map<int, AnchorMap>& maps,
                      std::span<const double> anchors) {
  Scheme scheme;
  scheme.box = BoxForm::darknet;
  const std::string sizes = add_anchor_heads(scheme, evidence, maps, anchors);
  scheme.activation = ScoreFunction::sigmoid;
  scheme.is_certain = true;
  scheme.reason = fmt::format(
      "raw maps of coordinates, objectness and classes for each anchor, as of {}; anchors:{} (the key "
      "`anchors` gives others)",
      name, sizes);
  scheme.iou = 0.45;
  scheme.preprocessing = usual(Fit::fit_to_window_letterbox, 128, true, {0, 0, 0}, {255, 255, 255});
  return scheme;
}

}  // namespace

// YOLOv3, YOLOv4 and the small ones without their last step, as converters of Darknet's files leave them.
Match match_darknet(const Evidence& evidence) {
  constexpr std::int64_t kPerCell = 3;
  const std::vector<NetworkOutputs::Output>& all = evidence.outputs.all;
  if (Match pair = evidence.wanted.empty() ? Match() : match_box_pair(evidence)) return pair;  // is decoded
  const bool has_mish =
      evidence.has_operator("Mish") || (evidence.has_operator("Softplus") && evidence.has_operator("Tanh"));
  const bool are_raw = std::ranges::all_of(all, [](const NetworkOutputs::Output& one) {
    return one.shape && one.shape->size() == 4 && !one.is_probability;
  });
  if ((all.size() != 2 && all.size() != 3) || !are_raw ||
      (evidence.wanted.empty() && !is_of_darknet(evidence, has_mish)))
    return {};
  const bool is_small = all.size() == 2;
  const bool is_yolov4 =
      evidence.wanted == "yolov4" ||
      (evidence.wanted.empty() &&
       (has_mish || (is_small && (evidence.has_operator("Split") || evidence.has_operator("Slice")))));
  std::span<const double> anchors = is_yolov4 ? std::span(kYolov7) : std::span(kYolov5);
  if (is_small) anchors = is_yolov4 ? kTinyYolov4 : kTinyYolov3;
  if (!evidence.outputs.anchors.empty()) anchors = evidence.outputs.anchors;
  const Evidence known = known_as(is_yolov4 ? "yolov4" : "yolov3", evidence);
  const auto maps = anchor_maps(known, kPerCell);
  if (maps.empty() || anchors.size() != 2 * kPerCell * maps.size() || (is_small && maps.contains(8)))
    return {};
  Scheme scheme = darknet_scheme(is_yolov4 ? "YOLOv4" : "YOLOv3", known, maps, anchors);
  for (Head& head : scheme.heads) {
    if (is_yolov4) head.spread = is_small || head.stride > 16 ? 1.05F : head.stride > 8 ? 1.1F : 1.2F;
  }
  return scheme;
}

// YOLOv2 without its last step: one map, whose classes exclude each other.
Match match_yolov2(const Evidence& evidence) {
  constexpr std::int64_t kPerCell = 5, kVocChannels = kPerCell * 25;
  constexpr int kStride = 32;
  // In strides: of COCO (Custom Vision has the same), and of the small one for VOC.
  constexpr std::array<double, 2 * kPerCell> kCoco = {0.57273, 0.677385, 1.87446, 2.06253, 3.33843,
                                                      5.47434, 7.88282,  3.52778, 9.77052, 9.16828};
  constexpr std::array<double, 2 * kPerCell> kVoc = {1.08,  1.19, 3.42, 4.41,  6.63,
                                                     11.38, 9.42, 5.11, 16.62, 10.52};
  if (!evidence.is_single() || !evidence.sheets[0].is_map || !evidence.output_of(evidence.sheets[0]).is_raw ||
      (evidence.wanted.empty() && !evidence.has_operator("LeakyRelu")))
    return {};
  const Evidence known = known_as("yolov2", evidence);
  const auto maps = anchor_maps(known, kPerCell);
  if (maps.size() != 1 || !maps.contains(kStride)) return {};
  std::vector<double> anchors = evidence.outputs.anchors;
  if (anchors.empty()) {
    for (const double side : evidence.sheets[0].channels == kVocChannels ? kVoc : kCoco)
      anchors.push_back(kStride * side);
  }
  if (anchors.size() != 2 * kPerCell) return {};
  Scheme scheme = darknet_scheme("YOLOv2", known, maps, anchors);
  scheme.activation = ScoreFunction::softmax_of_classes;
  scheme.preprocessing = usual(Fit::standard, 0, true, {0, 0, 0}, {1, 1, 1});
  return scheme;
}

}  // namespace sightline::network
