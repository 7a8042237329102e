// Rules for small networks: FastestDet, Yolo-FastestV2, and those of MediaPipe.
#include <algorithm>
#include <map>
#include <span>

#include "detectors/network/evidence.hpp"

namespace sightline::network {

// One map of objectness, coordinates and classes (github.com/dog-qiuqiu/FastestDet).
Match match_fastestdet(const Evidence& evidence) {
  constexpr std::int64_t kFirstClass = 5;
  if (!evidence.is_single() || !evidence.sheets[0].is_map) return {};
  const Sheet& sheet = evidence.sheets[0];
  const int stride = evidence.stride_of(sheet.places);
  if (stride == 0 || sheet.columns != evidence.columns(stride) ||
      !evidence.fits_classes(sheet.channels - kFirstClass))
    return {};
  Content objectness = evidence.content(sheet, 0);
  if (const auto values = evidence.range(sheet, 0);
      objectness == Content::other && values && values->is_share())
    objectness = Content::probability;
  if (objectness != Content::probability && evidence.wanted.empty()) return {};
  Scheme scheme;
  Head head = head_of(evidence, sheet.places, stride);
  head.objectness = sheet.field(0);
  head.box = sheet.field(1);
  head.classes = sheet.field(kFirstClass);
  scheme.heads = {head};
  scheme.classes = static_cast<int>(sheet.channels - kFirstClass);
  scheme.activation = objectness == Content::raw ? ScoreFunction::softmax_of_classes : ScoreFunction::none;
  scheme.box = BoxForm::share_at_cell;
  scheme.takes_powers = true;
  scheme.is_certain = true;
  set_fractions(scheme, evidence);
  scheme.reason = "one map of objectness, coordinates and class scores";
  scheme.threshold = 0.5;
  scheme.iou = 0.45;
  scheme.preprocessing = usual(Fit::standard, 0, false, {0, 0, 0}, {255, 255, 255});
  return scheme;
}

namespace {

constexpr std::int64_t kAnchorsOfFastest = 3, kSidesOfFastest = 4 * kAnchorsOfFastest;

// Fields of one stride of Yolo-FastestV2: twelve coordinates, three of objectness, and classes that the
// anchors share.
struct FastestMap {
  Field box, objectness, classes;
  std::int64_t class_count = 0;
  bool is_raw = false;
};

// Maps by stride; empty where they are none.
std::map<int, FastestMap> fastest_maps(const Evidence& evidence) {
  std::map<int, FastestMap> maps;
  for (std::size_t i = 0; i < evidence.outputs.all.size(); ++i) {
    const NetworkOutputs::Output& output = evidence.outputs.all[i];
    if (!output.shape || output.shape->size() != 4 || (*output.shape)[0] != 1) return {};
    const Shape& shape = *output.shape;
    // Channels are last in its own exports.
    int stride = evidence.stride_of(shape[1] * shape[2]);
    const bool is_last =
        stride > 0 && shape[2] == evidence.columns(stride) && evidence.stride_of(shape[2] * shape[3]) == 0;
    if (!is_last) stride = evidence.stride_of(shape[2] * shape[3]);
    if (stride == 0) return {};
    const std::int64_t cells = evidence.cells(stride), channels = is_last ? shape[3] : shape[1];
    const auto field = [&](std::int64_t channel) -> Field {
      return {static_cast<int>(i), is_last ? channel : channel * cells, is_last ? channels : 1,
              is_last ? 1 : cells};
    };
    FastestMap& map = maps[stride];
    map.is_raw |= output.is_raw;
    if (channels == kSidesOfFastest && !map.box.is_there()) {
      map.box = field(0);
    } else if (channels == kAnchorsOfFastest && !map.objectness.is_there()) {
      map.objectness = field(0);
    } else if (channels > kSidesOfFastest + kAnchorsOfFastest && !map.box.is_there() &&
               !map.objectness.is_there()) {
      map.box = field(0);
      map.objectness = field(kSidesOfFastest);
      map.classes = field(kSidesOfFastest + kAnchorsOfFastest);
      map.class_count = channels - kSidesOfFastest - kAnchorsOfFastest;
    } else if (!map.classes.is_there()) {
      map.classes = field(0);
      map.class_count = channels;
    } else {
      return {};
    }
  }
  return maps;
}

}  // namespace

// Github.com/dog-qiuqiu/Yolo-FastestV2, as its export makes it or as three maps for each stride.
Match match_yolo_fastest(const Evidence& evidence) {
  // Of COCO, for inputs of 352x352.
  constexpr double kUsual[] = {12.64,  19.39, 37.88,  51.48,  55.71,  138.31,
                               126.91, 78.23, 131.57, 214.55, 279.92, 258.87};
  // The first Yolo-Fastest and YOLOv3-tiny have maps of as many channels for each anchor, and such
  // activations.
  if (evidence.wanted.empty() && evidence.has_operator("LeakyRelu")) return {};
  const std::map<int, FastestMap> maps = fastest_maps(evidence);
  const std::span<const double> anchors =
      evidence.outputs.anchors.empty() ? std::span<const double>(kUsual) : evidence.outputs.anchors;
  if (maps.size() != 2 || anchors.size() != 4 * kAnchorsOfFastest) return {};
  Scheme scheme;
  std::size_t next = 0;
  for (const auto& [stride, map] : maps) {
    const bool has_all = map.box.is_there() && map.objectness.is_there() && map.classes.is_there();
    if (!has_all || !evidence.fits_classes(map.class_count) ||
        (next > 0 && scheme.classes != static_cast<int>(map.class_count)))
      return {};
    scheme.classes = static_cast<int>(map.class_count);
    if (map.is_raw) scheme.activation = ScoreFunction::softmax_of_classes;
    for (std::int64_t anchor = 0; anchor < kAnchorsOfFastest; ++anchor, next += 2) {
      Head head = head_of(evidence, evidence.cells(stride), stride);
      head.box = map.box;
      head.box.offset += 4 * anchor * map.box.channel_step;
      head.objectness = map.objectness;
      head.objectness.offset += anchor * map.objectness.channel_step;
      head.classes = map.classes;
      head.anchor_width = static_cast<float>(anchors[next]);
      head.anchor_height = static_cast<float>(anchors[next + 1]);
      scheme.heads.push_back(head);
    }
  }
  scheme.box = BoxForm::anchor;
  scheme.is_certain = true;
  scheme.reason =
      "maps of coordinates and objectness of three anchors, which share the class scores (the key `anchors` "
      "gives other "
      "sizes)";
  scheme.iou = 0.4;
  scheme.preprocessing = usual(Fit::standard, 0, false, {0, 0, 0}, {255, 255, 255});
  return scheme;
}

namespace {

struct AnchorGrid {
  int stride;
  std::int64_t anchors;
};

// Grids of MediaPipe's networks for faces and palms, in the order of their rows; empty unless they have so
// many.
std::vector<AnchorGrid> mediapipe_grids(const Evidence& evidence, std::int64_t places) {
  const std::vector<AnchorGrid> known[] = {{{8, 2}, {16, 6}}, {{16, 2}, {32, 6}}, {{8, 2}, {16, 2}, {32, 6}},
                                           {{4, 1}},          {{8, 2}},           {{16, 6}},
                                           {{16, 2}},         {{32, 6}}};
  for (const std::vector<AnchorGrid>& grids : known) {
    std::int64_t sum = 0;
    for (const AnchorGrid& grid : grids) sum += grid.anchors * evidence.cells(grid.stride);
    if (sum == places) return grids;
  }
  return {};
}

}  // namespace

// Offsets and sizes in pixels from the cell's centre, points that are not read, and a score.
Match match_mediapipe(const Evidence& evidence) {
  constexpr std::int64_t kFace = 4 + 2 * 6, kPalm = 4 + 2 * 7;
  Scheme scheme;
  std::map<std::int64_t, std::pair<const Sheet*, const Sheet*>, std::greater<>> groups;
  std::int64_t numbers = 0;
  for (const Sheet& sheet : evidence.sheets) {
    if (sheet.is_map || (sheet.channels != kFace && sheet.channels != kPalm && sheet.channels != 1))
      return {};
    auto& [boxes, scores] = groups[sheet.places];
    (sheet.channels == 1 ? scores : boxes) = &sheet;
    if (sheet.channels != 1) numbers = sheet.channels;
  }
  for (const auto& [places, sheets] : groups) {
    const auto& [boxes, scores] = sheets;
    const std::vector<AnchorGrid> grids = mediapipe_grids(evidence, places);
    if (!boxes || !scores || grids.empty() || !evidence.all_known) return {};
    std::int64_t start = 0;
    for (const auto& [stride, anchors] : grids) {
      Head head = head_of(evidence, anchors * evidence.cells(stride), stride, anchors);
      head.box = boxes->field(0, start);
      head.classes = scores->field(0, start);
      scheme.heads.push_back(head);
      start += head.places;
    }
    scheme.activation = scores->is_probability ? ScoreFunction::none : ScoreFunction::sigmoid;
  }
  if (scheme.heads.empty()) return {};
  scheme.box = BoxForm::offset;
  scheme.is_certain = true;
  scheme.object = numbers == kFace ? "face" : "hand";
  scheme.reason = "boxes relative to cells, as in MediaPipe, with scores";
  scheme.threshold = 0.5;
  scheme.iou = 0.3;
  const double half = numbers == kFace ? 127.5 : 0, range = numbers == kFace ? 127.5 : 255;
  scheme.preprocessing =
      usual(Fit::fit_to_window_letterbox, 0, true, {half, half, half}, {range, range, range});
  return scheme;
}

}  // namespace sightline::network
