// Rules for networks that have a group of outputs for each stride.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "detectors/network/evidence.hpp"

namespace sightline::network {

namespace {

// Priors of the sizes that the user gives, as many in a cell of each of three strides; empty unless there are
// `count`.
std::vector<Prior> given_priors(const Evidence& evidence, std::int64_t count) {
  const std::vector<double>& sizes = evidence.outputs.anchors;
  constexpr std::size_t kStrides = 3;
  if (sizes.size() % (2 * kStrides) != 0) return {};
  const auto width = static_cast<float>(evidence.outputs.input.width),
             height = static_cast<float>(evidence.outputs.input.height);
  std::vector<Prior> priors;
  for (std::size_t k = 0; k < kStrides; ++k) {
    const int stride = 8 << k;
    const std::size_t numbers = sizes.size() / kStrides;
    for (std::int64_t cell = 0; cell < evidence.cells(stride); ++cell) {
      const auto at = [&](std::int64_t i) {
        return (static_cast<float>(i) + 0.5F) * static_cast<float>(stride);
      };
      for (std::size_t i = k * numbers; i < (k + 1) * numbers; i += 2)
        priors.push_back({at(cell % evidence.columns(stride)) / width,
                          at(cell / evidence.columns(stride)) / height, static_cast<float>(sizes[i]) / width,
                          static_cast<float>(sizes[i + 1]) / height});
    }
  }
  if (static_cast<std::int64_t>(priors.size()) != count) return {};
  return priors;
}

}  // namespace

std::vector<Prior> face_priors(const Evidence& evidence, std::int64_t count) {
  // In pixels, for strides of 8, 16, and so on.
  const std::vector<std::vector<float>> retinaface = {{16, 32}, {64, 128}, {256, 512}};
  const std::vector<std::vector<float>> ultraface = {{10, 16, 24}, {32, 48}, {64, 96}, {128, 192, 256}};
  const auto width = static_cast<float>(evidence.outputs.input.width),
             height = static_cast<float>(evidence.outputs.input.height);
  if (!evidence.outputs.anchors.empty()) return given_priors(evidence, count);
  for (const auto& sides : {retinaface, ultraface}) {
    const bool is_ultraface = sides.size() == ultraface.size();
    const float largest = is_ultraface ? 1 : std::numeric_limits<float>::infinity();
    std::vector<Prior> priors;
    int stride = 8;
    for (const std::vector<float>& of_cell : sides) {
      const std::int64_t columns = evidence.columns(stride), rows = evidence.cells(stride) / columns;
      // UltraFace's cells fill the input where they are no whole strides.
      const float across = is_ultraface ? static_cast<float>(columns) : width / static_cast<float>(stride);
      const float down = is_ultraface ? static_cast<float>(rows) : height / static_cast<float>(stride);
      for (std::int64_t cell = 0; cell < columns * rows; ++cell) {
        for (const float side : of_cell)
          priors.push_back({(static_cast<float>(cell % columns) + 0.5F) / across,
                            (static_cast<float>(cell / columns) + 0.5F) / down,
                            std::min(side / width, largest), std::min(side / height, largest)});
      }
      stride *= 2;
    }
    if (static_cast<std::int64_t>(priors.size()) == count) return priors;
  }
  return {};
}

namespace {

// Outputs of as many places, by falling number.
std::map<std::int64_t, std::vector<Sheet>, std::greater<>> by_places(const Evidence& evidence) {
  std::map<std::int64_t, std::vector<Sheet>, std::greater<>> groups;
  for (const Sheet& sheet : evidence.sheets) groups[sheet.places].push_back(sheet);
  return groups;
}

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

Match match_retinaface(const Evidence& evidence) {
  const auto groups = by_places(evidence);
  if (!evidence.all_known || groups.size() != 1 || evidence.sheets.size() != 3) return {};
  Scheme scheme;
  Head head;
  for (const Sheet& sheet : evidence.sheets) {
    head.places = sheet.places;
    if (sheet.channels == 4) head.box = sheet.field();
    if (sheet.channels == 2) set_classes(scheme, head, sheet, ScoreFunction::softmax);
    if (sheet.channels == 10) head.points = sheet.field();
  }
  scheme.classes = 1;  // beside the background
  scheme.priors = face_priors(evidence, head.places);
  if (!head.box.is_there() || !head.classes.is_there() || !head.points.is_there() || scheme.priors.empty())
    return {};
  scheme.heads = {head};
  scheme.has_background = true;
  scheme.box = BoxForm::prior;
  scheme.points = 5;
  set_fractions(scheme, evidence);
  scheme.iou = 0.4;
  scheme.threshold = 0.6;
  scheme.is_certain = true;
  scheme.reason =
      "scores, boxes and five points relative to priors in each cell, of 16, 32, 64, 128, 256 and 512 pixels";
  if (!evidence.outputs.anchors.empty())
    scheme.reason = "scores, boxes and five points relative to the given anchors";
  scheme.reason += " (the key `anchors` gives others)";
  scheme.preprocessing = usual(Fit::fit_to_window, 0, false, {104, 117, 123}, {1, 1, 1});
  return scheme;
}

namespace {

// Faces with points: {1, 1, 4, 10} channels for each stride, or {1, 4} and maybe 10 with two anchors a cell.
Match match_faces(const Evidence& evidence, std::int64_t anchors) {
  Scheme scheme;
  if (!evidence.all_known) return {};
  for (const auto& [places, sheets] : by_places(evidence)) {
    const int stride = places % anchors == 0 ? evidence.stride_of(places / anchors) : 0;
    if (stride == 0) return {};
    Head head = head_of(evidence, places, stride, anchors);
    for (const Sheet& sheet : sheets) {
      if (sheet.channels == 1) (head.classes.is_there() ? head.objectness : head.classes) = sheet.field();
      if (sheet.channels == 4) head.box = sheet.field();
      if (sheet.channels == 10) head.points = sheet.field();
      if (sheet.channels == 1 && !sheet.is_probability) scheme.activation = ScoreFunction::sigmoid;
    }
    const bool has_all = head.classes.is_there() && head.box.is_there() &&
                         (anchors > 1 || (head.objectness.is_there() && head.points.is_there()));
    if (!has_all) return {};
    scheme.points = head.points.is_there() ? 5 : 0;
    scheme.heads.push_back(head);
  }
  if (scheme.heads.size() < 2) return {};
  scheme.is_certain = true;
  scheme.threshold = 0.6;
  scheme.iou = 0.3;
  return scheme;
}

}  // namespace

Match match_yunet(const Evidence& evidence) {
  Match scheme = match_faces(evidence, 1);
  if (!scheme) return {};
  scheme->takes_root = true;
  scheme->box = BoxForm::cell;
  scheme->reason = "scores, objectness, boxes and five points for each stride";
  scheme->preprocessing = as_bytes_in_bgr(0);
  return scheme;
}

Match match_scrfd(const Evidence& evidence) {
  Match scheme = match_faces(evidence, 2);
  if (!scheme) return {};
  scheme->box = BoxForm::distances;
  scheme->anchor = 0;
  scheme->reason = "scores and distances of two anchors in each cell for each stride";
  scheme->preprocessing = usual(Fit::fit_to_window, 0, true, {127.5, 127.5, 127.5}, {128, 128, 128});
  scheme->iou = 0.4;
  scheme->threshold = 0.5;
  return scheme;
}

// Distances, four numbers or four distributions, and classes: for each stride, or all in one output.
Match match_nanodet(const Evidence& evidence) {
  Scheme scheme;
  scheme.is_certain = true;
  scheme.box = BoxForm::distances;
  const auto take_sides = [&](std::int64_t channels) {
    if (channels == 4) return;
    scheme.box = BoxForm::distribution;
    scheme.bins = static_cast<int>(channels / 4);
  };
  scheme.preprocessing = as_openmmlab(Fit::fit_to_window_letterbox, 0);
  if (evidence.is_single()) {
    const Sheet& sheet = evidence.sheets[0];
    const std::vector<int> strides = evidence.strides_for(sheet.places);
    const std::int64_t sides = sheet.channels - evidence.outputs.classes.value_or(80);
    // Scores come first.
    const bool has_scores_last = evidence.content(sheet, 0) != Content::probability &&
                                 evidence.content(sheet, sheet.channels - 1) == Content::probability;
    if (strides.empty() || has_scores_last || sides < 4 || sides % 4 != 0 || sides > 4 * 64) return {};
    take_sides(sides);
    scheme.classes = static_cast<int>(sheet.channels - sides);
    add_heads(scheme, evidence, strides, [&](Head& head, std::int64_t place) {
      head.classes = sheet.field(0, place);
      head.box = sheet.field(scheme.classes, place);
    });
    scheme.reason = "each row is a cell of an 8, 16, 32 ... pixel grid, with class scores and distances";
    return scheme;
  }
  for (const auto& [places, sheets] : by_places(evidence)) {
    const int stride = evidence.stride_of(places);
    if (stride == 0 || sheets.size() != 2 || !evidence.all_known || sheets[0].is_map) return {};
    // Of two that could be either, the one with the name of distances.
    const auto are_scores = [&](const Sheet& sheet) {
      return sheet.channels == evidence.outputs.classes.value_or(80);
    };
    const auto is_sides = [&](const Sheet& sheet) {
      return sheet.channels % 4 == 0 && !are_scores(sheet) &&
             has_word(evidence.output_of(sheet).name, {"dis", "box", "reg"});
    };
    const bool first = is_sides(sheets[0]) || (sheets[0].channels == 4 && sheets[1].channels != 4) ||
                       (!are_scores(sheets[0]) && are_scores(sheets[1]));
    const Sheet &boxes = sheets[first ? 0 : 1], &scores = sheets[first ? 1 : 0];
    const bool differs = !scheme.heads.empty() && scheme.classes != scores.channels;
    if (boxes.channels % 4 != 0 || boxes.channels > 4 * 64 || !evidence.fits_classes(scores.channels) ||
        differs)
      return {};
    Head head = head_of(evidence, places, stride);
    head.box = boxes.field();
    set_classes(scheme, head, scores);
    take_sides(boxes.channels);
    scheme.heads.push_back(head);
  }
  if (scheme.heads.size() < 2) return {};
  if (scheme.heads.size() == 4) scheme.preprocessing = as_image_net();  // PicoDet
  scheme.reason = "classes and distances for each stride";
  return scheme;
}

// Maps of classes, distances and one of centredness for each stride.
Match match_fcos(const Evidence& evidence) {
  Scheme scheme;
  scheme.is_certain = true;
  for (const auto& [places, sheets] : by_places(evidence)) {
    const int stride = evidence.stride_of(places);
    if (stride == 0 || sheets.size() != 3 || !evidence.all_known) return {};
    Head head = head_of(evidence, places, stride);
    for (const Sheet& sheet : sheets) {
      if (!sheet.is_map) return {};
      if (sheet.channels == 4 && !head.box.is_there()) {
        head.box = sheet.field();
      } else if (sheet.channels == 1 && head.classes.is_there()) {
        head.objectness = sheet.field();
      } else {
        set_classes(scheme, head, sheet);
      }
    }
    if (!head.box.is_there() || !head.classes.is_there() || !head.objectness.is_there()) return {};
    scheme.heads.push_back(head);
  }
  if (scheme.heads.size() < 2) return {};
  scheme.box = BoxForm::distances;
  scheme.takes_root = true;
  scheme.reason = "maps of classes, distances and centredness for each stride";
  scheme.preprocessing = usual(Fit::fit_to_window, 0, false, {103.53, 116.28, 123.675}, {1, 1, 1});
  return scheme;
}

// Maps of classes, sizes and maybe offsets, of one stride.
Match match_centernet(const Evidence& evidence) {
  const auto groups = by_places(evidence);
  if (!evidence.all_known || groups.size() != 1 || evidence.sheets.size() < 2 || evidence.sheets.size() > 3)
    return {};
  const int stride = evidence.stride_of(groups.begin()->first);
  if (stride == 0) return {};
  Scheme scheme;
  scheme.is_certain = true;
  Head head = head_of(evidence, groups.begin()->first, stride);
  for (const Sheet& sheet : evidence.sheets) {
    if (!sheet.is_map) return {};
    const std::string& name = evidence.output_of(sheet).name;
    if (sheet.channels == 2 && has_word(name, {"off", "reg"})) {
      head.objectness = sheet.field();
    } else if (sheet.channels == 2 && !head.box.is_there() && !has_word(name, {"hm", "heat"})) {
      head.box = sheet.field();
    } else if (sheet.channels == 2 && head.classes.is_there()) {
      head.objectness = sheet.field();
    } else {
      set_classes(scheme, head, sheet);
    }
  }
  if (!head.box.is_there() || !head.classes.is_there()) return {};
  scheme.heads = {head};
  scheme.box = BoxForm::size_at_cell;
  scheme.only_peaks = true;
  scheme.suppresses = false;
  scheme.reason = "maps of classes, sizes and offsets";
  scheme.preprocessing =
      usual(Fit::fit_to_window_letterbox, 0, false, {104.04, 113.985, 119.85}, {73.695, 69.87, 70.89});
  return scheme;
}

}  // namespace sightline::network
