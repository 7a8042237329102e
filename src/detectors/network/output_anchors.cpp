// Networks whose files do not tell the sizes of their anchors and priors: the usual sizes, and the kinds that
// have a head for each anchor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "detectors/network/output_rows.hpp"

namespace sightline::network {
namespace {

// Anchors in pixels, width and height, by rising stride: of YOLOv3, YOLOv5 and YOLOv7-tiny, of YOLOv4 and
// YOLOv7, of YOLOv5 and YOLOv7 with a fourth stride, and of YOLOv5-face.
constexpr double kYolov5[] = {10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326};
constexpr double kYolov7[] = {12, 16, 19, 36, 40, 28, 36, 75, 76, 55, 72, 146, 142, 110, 192, 243, 459, 401};
constexpr double kYoloP6[] = {19,  27,  44,  40,  38,  94,  96,  68,  86,  152, 180, 137,
                              140, 301, 303, 264, 238, 542, 436, 615, 739, 380, 925, 792};
constexpr double kYolov5Face[] = {4, 5, 8, 10, 13, 16, 23, 29, 43, 55, 73, 105, 146, 217, 231, 300, 335, 433};
// Anchors of the small YOLOv3 and YOLOv4, for strides of 16 and 32.
constexpr double kTinyYolov3[] = {10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319};
constexpr double kTinyYolov4[] = {23, 27, 37, 58, 81, 82, 81, 82, 135, 169, 344, 319};
// Anchors of YOLOv2, in strides: trained on COCO (Custom Vision has the same), and the small one on VOC.
constexpr double kYolov2[] = {0.57273, 0.677385, 1.87446, 2.06253, 3.33843,
                              5.47434, 7.88282,  3.52778, 9.77052, 9.16828};
constexpr double kYolov2Voc[] = {1.08, 1.19, 3.42, 4.41, 6.63, 11.38, 9.42, 5.11, 16.62, 10.52};
// Anchors of Yolo-FastestV2, trained on COCO with inputs of 352x352.
constexpr double kFastest[] = {12.64,  19.39, 37.88,  51.48,  55.71,  138.31,
                               126.91, 78.23, 131.57, 214.55, 279.92, 258.87};

constexpr std::int64_t kUsualAnchors = 3;  // of a cell
constexpr char kGivesOthers[] = " (the key `anchors` gives others)";

// The user's anchors, or the usual ones.
std::span<const double> given_or(const Evidence& evidence, std::span<const double> usual_sizes) {
  return evidence.outputs.anchors.empty() ? usual_sizes : evidence.outputs.anchors;
}

// Anchors of YOLOv5 or YOLOv7, and the name of the network that they are of. Empty: none are known for this
// number of strides.
std::pair<std::span<const double>, const char*> yolov5_anchors(const Evidence& evidence, std::size_t strides,
                                                               std::int64_t channels) {
  const NetworkOutputs& outputs = evidence.outputs;
  if (!outputs.anchors.empty()) return {outputs.anchors, "as given"};
  if (strides == 4) return {kYoloP6, "of YOLOv5-P6"};
  if (strides != 3) return {};
  if (evidence.has_points_in_row(channels)) return {kYolov5Face, "of YOLOv5-face"};
  if (evidence.wanted == "yolov7" || (evidence.wanted.empty() && outputs.pools_like_yolov7))
    return {kYolov7, "of YOLOv7"};
  return {kYolov5, "of YOLOv5"};
}

// Adds a head whose anchor has the next of the sizes.
void add_anchor(Scheme& scheme, Head head, std::span<const double> sizes) {
  const std::size_t next = 2 * scheme.heads.size();
  head.anchor_width = static_cast<float>(sizes[next]);
  head.anchor_height = static_cast<float>(sizes[next + 1]);
  scheme.heads.push_back(head);
}

// Sheets of numbers for several anchors, by stride.
using AnchorMaps = std::map<int, Sheet>;

// Outputs of 1 x anchors x rows x columns x numbers, or of 1 x anchors * numbers x rows x columns; empty
// where one is none.
AnchorMaps anchor_maps(const Evidence& evidence, std::int64_t anchors) {
  AnchorMaps maps;
  for (std::size_t i = 0; i < evidence.outputs.all.size(); ++i) {
    const Shape shape = evidence.outputs.all[i].shape.value_or(Shape{});
    if (shape.size() < 4 || shape.size() > 5 || shape[0] != 1) return {};
    const bool is_last = shape.size() == 5;  // whether the numbers of a place are neighbours
    Sheet sheet;
    sheet.output = static_cast<int>(i);
    sheet.places = shape[2] * shape[3];
    sheet.channels = is_last ? shape[4] : shape[1] / anchors;
    sheet.place_step = is_last ? sheet.channels : 1;
    sheet.channel_step = is_last ? 1 : sheet.places;
    sheet.anchor_step = sheet.places * sheet.channels;
    const int stride = evidence.stride_of(sheet.places);
    // Maps of distributions have as many channels as other classes would: COCO's 80 and VOC's 20 are told.
    constexpr std::int64_t kDistributions = 64, kCocoChannels = 255, kVoc = 75;
    const bool is_unsure = !is_last && shape[1] > kDistributions && shape[1] != kCocoChannels &&
                           shape[1] != kVoc && evidence.wanted.empty() && !evidence.outputs.classes;
    if (stride == 0 || shape[3] != evidence.columns(stride) ||
        shape[1] != (is_last ? anchors : anchors * sheet.channels) || is_unsure ||
        !evidence.fits_classes(sheet.channels - evidence.first_class(sheet.channels)) ||
        !maps.emplace(stride, sheet).second || sheet.channels != maps.begin()->second.channels)
      return {};
  }
  return maps;
}

// Adds a head for each anchor. Returns the sizes as text.
std::string add_anchors(Scheme& scheme, const Evidence& evidence, const AnchorMaps& maps,
                        std::span<const double> sizes) {
  const auto per_cell = static_cast<std::int64_t>(sizes.size() / (2 * maps.size()));
  for (const auto& [stride, map] : maps) {
    const std::int64_t first_class = evidence.first_class(map.channels);
    scheme.classes = static_cast<int>(map.channels - first_class);
    scheme.points = evidence.has_points_in_row(map.channels) ? 5 : 0;
    for (std::int64_t anchor = 0; anchor < per_cell; ++anchor) {
      Head head = evidence.with_cells({}, stride);
      head.box = map.field(0, anchor);
      head.objectness = map.field(4, anchor);
      head.classes = map.field(first_class, anchor);
      if (scheme.points > 0) head.points = map.field(5, anchor);
      add_anchor(scheme, head, sizes);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); i += 2) text += fmt::format(" {:g}x{:g}", sizes[i], sizes[i + 1]);
  return text;
}

// The same evidence for networks that are known to be Darknet's: no points, and maps of any number of
// classes.
Evidence known_as_darknet(const Evidence& evidence) {
  Evidence known = evidence;
  known.wanted = "yolov3";
  return known;
}

std::string darknet_reason(const char* name, const std::string& sizes) {
  return fmt::format(
      "raw maps of coordinates, objectness and classes for each anchor, as of {}; anchors:{}{}", name, sizes,
      kGivesOthers);
}

// Whether a network is Darknet's. All have leaky activations. Of three strides, YOLOv4 has Mish, and YOLOv3
// more sums than joined maps (YOLOv5 and YOLOv7 have fewer). Networks of two strides have no sums
// (Yolo-Fastest has them, and other anchors).
bool is_of_darknet(const Evidence& evidence, bool has_mish) {
  if (!evidence.has_operator("LeakyRelu")) return false;
  if (evidence.outputs.all.size() == 2)
    return !evidence.outputs.anchors.empty() ||
           (evidence.has_operator("MaxPool") && evidence.count_of("Add") == 0);
  return has_mish || evidence.count_of("Add") > evidence.count_of("Concat");
}

}  // namespace

// YOLOv5 and YOLOv7 without their last step.
bool maps_of_yolov5(const Evidence& evidence, const OutputRow&, Reading& reading) {
  const std::size_t outputs = evidence.outputs.all.size(), given = evidence.outputs.anchors.size();
  if (outputs == 0 || given % (2 * outputs) != 0) return false;
  const AnchorMaps maps =
      anchor_maps(evidence, given > 0 ? static_cast<std::int64_t>(given / (2 * outputs)) : kUsualAnchors);
  if (maps.empty()) return false;
  const auto [sizes, origin] = yolov5_anchors(evidence, maps.size(), maps.begin()->second.channels);
  if (sizes.empty()) return false;
  const std::string text = add_anchors(reading.scheme, evidence, maps, sizes);
  if (std::ranges::all_of(evidence.outputs.all, &NetworkOutputs::Output::is_probability))
    reading.scheme.activation = ScoreFunction::none;
  reading.scheme.reason =
      fmt::format("raw maps of coordinates, objectness and classes for each anchor; anchors {}:{}{}", origin,
                  text, kGivesOthers);
  return true;
}

// YOLOv3, YOLOv4 and the small ones without their last step, as converters of Darknet's files leave them.
bool maps_of_darknet(const Evidence& evidence, const OutputRow&, Reading& reading) {
  const std::vector<NetworkOutputs::Output>& all = evidence.outputs.all;
  const bool is_small = all.size() == 2, is_told = !evidence.wanted.empty();
  const bool has_mish =
      evidence.has_operator("Mish") || (evidence.has_operator("Softplus") && evidence.has_operator("Tanh"));
  const bool are_raw = std::ranges::all_of(all, [](const NetworkOutputs::Output& one) {
    return one.shape && one.shape->size() == 4 && !one.is_probability;
  });
  if ((!is_small && all.size() != 3) || !are_raw || (!is_told && !is_of_darknet(evidence, has_mish)))
    return false;
  const bool splits = evidence.has_operator("Split") || evidence.has_operator("Slice");
  const bool is_yolov4 = is_told ? evidence.wanted == "yolov4" : has_mish || (is_small && splits);
  const std::span<const double> of_three = is_yolov4 ? kYolov7 : kYolov5;
  const std::span<const double> of_two = is_yolov4 ? kTinyYolov4 : kTinyYolov3;
  const std::span<const double> sizes = given_or(evidence, is_small ? of_two : of_three);
  const Evidence known = known_as_darknet(evidence);
  const AnchorMaps maps = anchor_maps(known, kUsualAnchors);
  if (maps.empty() || sizes.size() != 2 * kUsualAnchors * maps.size() || (is_small && maps.contains(8)))
    return false;
  Scheme& scheme = reading.scheme;
  scheme.reason = darknet_reason(is_yolov4 ? "YOLOv4" : "YOLOv3", add_anchors(scheme, known, maps, sizes));
  for (Head& head : scheme.heads) {
    if (is_yolov4) head.spread = is_small || head.stride > 16 ? 1.05F : head.stride > 8 ? 1.1F : 1.2F;
  }
  return true;
}

// YOLOv2 without its last step: one map, whose classes exclude each other.
bool map_of_yolov2(const Evidence& evidence, const OutputRow&, Reading& reading) {
  constexpr std::int64_t kPerCell = 5, kVocChannels = kPerCell * 25;
  constexpr int kStride = 32;
  if (!evidence.is_single() || !evidence.sheets[0].is_map || !evidence.output_of(evidence.sheets[0]).is_raw ||
      (evidence.wanted.empty() && !evidence.has_operator("LeakyRelu")))
    return false;
  const Evidence known = known_as_darknet(evidence);
  const AnchorMaps maps = anchor_maps(known, kPerCell);
  std::vector<double> sizes = evidence.outputs.anchors;
  for (const double side : evidence.sheets[0].channels == kVocChannels ? kYolov2Voc : kYolov2) {
    if (evidence.outputs.anchors.empty()) sizes.push_back(kStride * side);
  }
  if (!maps.contains(kStride) || sizes.size() != 2 * kPerCell) return false;
  reading.scheme.reason = darknet_reason("YOLOv2", add_anchors(reading.scheme, known, maps, sizes));
  return true;
}

// Rows as YOLOv5-Lite exports them: the last layer is missing but for its sigmoid, or with it. One place for
// each anchor of a cell, anchor by anchor.
bool add_undecoded_rows(const Evidence& evidence, const Sheet& rows, Scheme& scheme) {
  AnchorMaps maps;
  Sheet sheet = rows;
  for (const int stride : evidence.strides_for(sheet.places, kUsualAnchors)) {
    sheet.places = evidence.cells(stride);
    sheet.anchor_step = sheet.places * sheet.channels;
    maps.emplace(stride, sheet);
    sheet.start += kUsualAnchors * sheet.anchor_step;
  }
  const auto [sizes, origin] = yolov5_anchors(evidence, maps.size(), sheet.channels);
  if (sizes.size() != 2 * kUsualAnchors * maps.size()) return false;
  const bool is_raw = evidence.content(rows, 0) == Content::raw;
  scheme.heads.clear();
  add_anchors(scheme, evidence, maps, sizes);
  if (!is_raw) scheme.activation = ScoreFunction::none;
  scheme.reason =
      fmt::format("{} rows of coordinates, objectness and classes for each anchor of a cell; anchors {}{}",
                  is_raw ? "raw" : "sigmoids, not decoded:", origin, kGivesOthers);
  return true;
}

// Anchors of a cell that share the class scores.
bool refine_yolo_fastest(const Evidence& evidence, const Sheet&, const Sheet&, Scheme& scheme) {
  const std::span<const double> sizes = given_or(evidence, kFastest);
  // The first Yolo-Fastest and YOLOv3-tiny have maps of as many channels for each anchor, and such
  // activations.
  if ((evidence.wanted.empty() && evidence.has_operator("LeakyRelu")) || sizes.size() != std::size(kFastest))
    return false;
  if (std::ranges::any_of(evidence.outputs.all, &NetworkOutputs::Output::is_raw))
    scheme.activation = ScoreFunction::softmax_of_classes;
  for (Head head : std::exchange(scheme.heads, {})) {
    for (std::int64_t anchor = 0; anchor < kUsualAnchors; ++anchor) {
      add_anchor(scheme, head, sizes);
      head.box.offset += 4 * head.box.channel_step;
      head.objectness.offset += head.objectness.channel_step;
    }
  }
  return true;
}

namespace {

using Sizes = std::vector<std::array<float, 2>>;

// Adds priors of these sizes, in parts of the input, to each cell. @param across, down  cells that fill the
// input
void add_priors(std::vector<Prior>& priors, std::int64_t columns, std::int64_t rows, float across, float down,
                const Sizes& sizes) {
  for (std::int64_t cell = 0; cell < columns * rows; ++cell) {
    for (const auto& [width, height] : sizes)
      priors.push_back({(static_cast<float>(cell % columns) + 0.5F) / across,
                        (static_cast<float>(cell / columns) + 0.5F) / down, width, height});
  }
}

// Priors of these sizes in pixels, for each stride from 8 on. UltraFace's cells and priors end at the input's
// edge.
std::vector<Prior> priors_by_stride(const Evidence& evidence, std::vector<Sizes> sizes, bool is_ultraface) {
  const auto width = static_cast<float>(evidence.outputs.input.width),
             height = static_cast<float>(evidence.outputs.input.height);
  const float largest = is_ultraface ? 1 : std::numeric_limits<float>::infinity();
  std::vector<Prior> priors;
  for (int stride = 8; Sizes & of_cell : sizes) {
    for (auto& [w, h] : of_cell) {
      w = std::min(w / width, largest);
      h = std::min(h / height, largest);
    }
    const std::int64_t columns = evidence.columns(stride), rows = evidence.cells(stride) / columns;
    const float across = is_ultraface ? static_cast<float>(columns) : width / static_cast<float>(stride);
    const float down = is_ultraface ? static_cast<float>(rows) : height / static_cast<float>(stride);
    add_priors(priors, columns, rows, across, down, of_cell);
    stride *= 2;
  }
  return priors;
}

// Priors of the first SSD, for inputs of 300x300.
std::vector<Prior> ssd300_priors() {
  constexpr int kCells[] = {38, 19, 10, 5, 3, 1};
  constexpr float kSteps[] = {8, 16, 32, 64, 100, 300}, kInput = 300;
  constexpr double kSizes[] = {30, 60, 111, 162, 213, 264, 315};
  std::vector<Prior> priors;
  for (std::size_t k = 0; k < std::size(kCells); ++k) {
    Sizes sizes;
    const auto add = [&](double w, double h) {
      sizes.push_back({static_cast<float>(w / kInput), static_cast<float>(h / kInput)});
    };
    add(kSizes[k], kSizes[k]);
    add(std::sqrt(kSizes[k] * kSizes[k + 1]), std::sqrt(kSizes[k] * kSizes[k + 1]));
    for (const double ratio : {std::sqrt(2.0), std::sqrt(3.0)}) {
      if (ratio > 1.5 && (k < 1 || k > 3)) break;
      add(kSizes[k] * ratio, kSizes[k] / ratio);
      add(kSizes[k] / ratio, kSizes[k] * ratio);
    }
    add_priors(priors, kCells[k], kCells[k], kInput / kSteps[k], kInput / kSteps[k], sizes);
  }
  return priors;
}

}  // namespace

std::vector<Prior> usual_priors(const Evidence& evidence, std::int64_t count) {
  constexpr std::size_t kStrides = 3;
  const std::vector<double>& given = evidence.outputs.anchors;
  std::vector<Sizes> own(kStrides);
  for (std::size_t i = 0; i + 1 < given.size(); i += 2)
    own[i * kStrides / given.size()].push_back(
        {static_cast<float>(given[i]), static_cast<float>(given[i + 1])});
  const std::vector<Sizes> retinaface = {
      {{16, 16}, {32, 32}}, {{64, 64}, {128, 128}}, {{256, 256}, {512, 512}}};
  const std::vector<Sizes> ultraface = {{{10, 10}, {16, 16}, {24, 24}},
                                        {{32, 32}, {48, 48}},
                                        {{64, 64}, {96, 96}},
                                        {{128, 128}, {192, 192}, {256, 256}}};
  std::vector<std::vector<Prior>> known = {priors_by_stride(evidence, own, false)};
  if (given.empty())
    known = {ssd300_priors(), priors_by_stride(evidence, retinaface, false),
             priors_by_stride(evidence, ultraface, true)};
  const auto found = std::ranges::find(known, static_cast<std::size_t>(count), &std::vector<Prior>::size);
  return found == known.end() ? std::vector<Prior>() : *found;
}

}  // namespace sightline::network
