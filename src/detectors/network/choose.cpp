// Finds out what the outputs of a network mean, by their shapes, names, and the operators behind them.
#include <algorithm>
#include <cmath>
#include <map>

#include "detectors/network/scheme.hpp"

namespace sightline::network {
namespace {

using Output = NetworkOutputs::Output;

// An output as places times channels.
struct Sheet {
  int output = 0;
  std::int64_t places = 0, channels = 1;
  std::int64_t place_step = 1, channel_step = 1;
  bool is_map = false;  // rows and columns of cells
  std::int64_t columns = 0;
  bool is_probability = false;

  // The channels from one on, of the places from one on.
  Field field(std::int64_t channel = 0, std::int64_t place = 0) const {
    return {output, channel * channel_step + place * place_step, place_step, channel_step};
  }
  Sheet turned() const {
    Sheet other = *this;
    std::swap(other.places, other.channels);
    std::swap(other.place_step, other.channel_step);
    return other;
  }
};

std::optional<Sheet> sheet_of(const Output& output, int number) {
  if (!output.shape) return {};
  Shape shape = *output.shape;
  Sheet sheet;
  sheet.output = number;
  sheet.is_probability = output.is_probability;
  if (shape.size() == 4 && shape[0] == 1) {
    sheet.channels = shape[1];
    sheet.places = shape[2] * shape[3];
    sheet.channel_step = sheet.places;
    sheet.is_map = true;
    sheet.columns = shape[3];
    return sheet;
  }
  if (shape.size() >= 2 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.empty() || shape.size() > 2) return {};
  sheet.places = shape[0];
  sheet.channels = shape.size() == 2 ? shape[1] : 1;
  sheet.place_step = sheet.channels;
  return sheet;
}

// All that the rules below look at.
struct Evidence {
  const NetworkOutputs& outputs;
  std::vector<Sheet> sheets;  // all outputs, unless one has no known shape
  bool all_known = true;

  explicit Evidence(const NetworkOutputs& known) : outputs(known) {
    for (std::size_t i = 0; i < known.all.size(); ++i) {
      if (const auto sheet = sheet_of(known.all[i], static_cast<int>(i))) {
        sheets.push_back(*sheet);
      } else {
        all_known = false;
      }
    }
  }
  std::int64_t columns(int stride) const { return (outputs.input.width + stride - 1) / stride; }
  std::int64_t cells(int stride) const {
    return columns(stride) * ((outputs.input.height + stride - 1) / stride);
  }
  // Strides whose cells, so many times each, are all the places; empty where none are.
  std::vector<int> strides_for(std::int64_t places, std::int64_t anchors = 1) const {
    std::int64_t sum = 0;
    std::vector<int> strides;
    for (const int stride : {8, 16, 32, 64, 128}) {
      sum += anchors * cells(stride);
      strides.push_back(stride);
      if (stride >= 32 && sum == places) return strides;
    }
    return {};
  }
  // The stride whose cells are so many places; 0 where none has.
  int stride_of(std::int64_t places) const {
    for (const int stride : {4, 8, 16, 32, 64, 128}) {
      if (cells(stride) == places) return stride;
    }
    return 0;
  }
  bool is_single() const { return all_known && sheets.size() == 1; }
  const Output& output_of(const Sheet& sheet) const {
    return outputs.all[static_cast<std::size_t>(sheet.output)];
  }
  bool fits_classes(std::int64_t count) const {
    return count >= 1 && (outputs.classes ? count == *outputs.classes : count <= 10'000);
  }
};

Head head_of(const Evidence& evidence, std::int64_t places, int stride, std::int64_t anchors = 1) {
  Head head;
  head.places = places;
  head.stride = static_cast<float>(stride);
  head.columns = evidence.columns(stride);
  head.anchors = anchors;
  return head;
}

// --- how pictures are usually given to such networks

Preprocessing usual(Fit fit, double pad, bool rgb, std::array<double, 3> mean, std::array<double, 3> scale) {
  Preprocessing p;
  p.fit = fit;
  p.pad = pad;
  p.rgb = rgb;
  p.mean = mean;
  p.scale = scale;
  return p;
}
Preprocessing as_ultralytics() {
  return usual(Fit::fit_to_window_letterbox, 114, true, {0, 0, 0}, {255, 255, 255});
}
Preprocessing as_bytes_in_bgr(double pad) {
  return usual(Fit::fit_to_window, pad, false, {0, 0, 0}, {1, 1, 1});
}
Preprocessing as_image_net() {
  return usual(Fit::standard, 0, true, {123.675, 116.28, 103.53}, {58.395, 57.12, 57.375});
}

using Match = std::optional<Scheme>;

// Places of one output, cut into heads by strides, and filled in by `fill(head, place)`.
template <typename Fill>
void add_heads(Scheme& scheme, const Evidence& evidence, const std::vector<int>& strides, const Fill& fill) {
  std::int64_t start = 0;
  for (const int stride : strides) {
    scheme.heads.push_back(head_of(evidence, evidence.cells(stride), stride));
    fill(scheme.heads.back(), start);
    start += evidence.cells(stride);
  }
}

// --- one output

Match match_yolox(const Evidence& evidence) {
  if (!evidence.is_single()) return {};
  const Sheet& sheet = evidence.sheets[0];
  const std::vector<int> strides = evidence.strides_for(sheet.places);
  constexpr std::int64_t kCocoOfYolo8 = 84, kCocoOfNanoDet = 112;
  const bool is_other =
      !evidence.outputs.classes && (sheet.channels == kCocoOfYolo8 || sheet.channels == kCocoOfNanoDet);
  if (strides.empty() || is_other || !evidence.fits_classes(sheet.channels - 5)) return {};
  Scheme scheme;
  scheme.classes = static_cast<int>(sheet.channels - 5);
  scheme.box = evidence.outputs.has_exponential ? BoxForm::centre : BoxForm::cell;
  add_heads(scheme, evidence, strides, [&](Head& head, std::int64_t place) {
    head.box = sheet.field(0, place);
    head.objectness = sheet.field(4, place);
    head.classes = sheet.field(5, place);
  });
  scheme.reason =
      "one row for each cell of strides 8, 16, ..., with four coordinates, objectness and classes";
  scheme.preprocessing = as_bytes_in_bgr(114);
  return scheme;
}

Match match_yolov5(const Evidence& evidence) {
  if (!evidence.is_single()) return {};
  const Sheet& sheet = evidence.sheets[0];
  if (evidence.strides_for(sheet.places, 3).empty() || !evidence.fits_classes(sheet.channels - 5)) return {};
  Scheme scheme;
  scheme.classes = static_cast<int>(sheet.channels - 5);
  scheme.box = BoxForm::centre;
  Head head;
  head.places = sheet.places;
  head.box = sheet.field(0);
  head.objectness = sheet.field(4);
  head.classes = sheet.field(5);
  scheme.heads = {head};
  scheme.reason =
      "three rows for each cell of strides 8, 16, ..., with four coordinates, objectness and classes";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

// One map of 64 + classes channels, or two of 64 and of classes, for each stride.
Match match_yolov8_maps(const Evidence& evidence) {
  constexpr std::int64_t kBins = 16, kSides = 4 * kBins;
  Scheme scheme;
  std::map<std::int64_t, Head> heads;  // by number of places
  for (const Sheet& sheet : evidence.sheets) {
    const int stride = evidence.stride_of(sheet.places);
    if (!sheet.is_map || stride == 0) return {};
    Head& head = heads.try_emplace(-sheet.places, head_of(evidence, sheet.places, stride)).first->second;
    const bool has_sides = sheet.channels >= kSides && !head.box.is_there();
    const std::int64_t classes = has_sides ? sheet.channels - kSides : sheet.channels;
    if (has_sides) head.box = sheet.field(0);
    if (classes == 0 || (classes == 1 && head.classes.is_there()))
      continue;  // a sum of scores, which is not needed
    if (head.classes.is_there() || !evidence.fits_classes(classes)) return {};
    head.classes = sheet.field(has_sides ? kSides : 0);
    scheme.classes = static_cast<int>(classes);
    scheme.activation = sheet.is_probability && !has_sides ? ScoreFunction::none : ScoreFunction::sigmoid;
  }
  for (const auto& [places, head] : heads) {
    if (!head.box.is_there() || !head.classes.is_there()) return {};
    scheme.heads.push_back(head);
  }
  if (scheme.heads.empty() || !evidence.all_known) return {};
  scheme.box = BoxForm::distribution;
  scheme.bins = kBins;
  scheme.reason = "maps of 64 channels of distances, as distributions, and of classes";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

Match match_yolov8(const Evidence& evidence) {
  if (!evidence.is_single() || evidence.sheets[0].is_map) return match_yolov8_maps(evidence);
  Sheet sheet = evidence.sheets[0].turned();
  // Some exports have a row for each place, as others have a column.
  if (evidence.strides_for(sheet.places).empty()) sheet = evidence.sheets[0];
  const bool has_more = evidence.outputs.classes && sheet.channels - 4 > *evidence.outputs.classes;
  const std::int64_t classes = has_more ? *evidence.outputs.classes : sheet.channels - 4;
  if (evidence.strides_for(sheet.places).empty() || !evidence.fits_classes(classes)) return {};
  Scheme scheme;
  scheme.classes = static_cast<int>(classes);
  scheme.box = BoxForm::centre;
  Head head;
  head.places = sheet.places;
  head.box = sheet.field(0);
  head.classes = sheet.field(4);
  scheme.heads = {head};
  scheme.reason = "one column for each cell of strides 8, 16, ..., with four coordinates and classes";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

// Rows of x1, y1, x2, y2, score, class; or picture, x1, y1, x2, y2, class, score.
Match match_end_to_end(const Evidence& evidence) {
  if (evidence.outputs.all.size() != 1) return {};
  Sheet sheet;
  if (evidence.is_single()) {
    sheet = evidence.sheets[0];
  } else {
    sheet.places = -1;
    sheet.channels = sheet.place_step = 6;
  }
  if ((sheet.channels != 6 && sheet.channels != 7) || sheet.is_map) return {};
  Scheme scheme;
  Head head;
  head.places = sheet.places;
  const bool has_picture = sheet.channels == 7;
  head.box = sheet.field(has_picture ? 1 : 0);
  head.classes = sheet.field(has_picture ? 6 : 4);
  head.label = sheet.field(5);
  scheme.heads = {head};
  scheme.classes = evidence.outputs.classes.value_or(80);
  scheme.suppresses = false;
  scheme.reason = "rows of corners, score and class";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

// --- boxes, scores and labels in outputs of their own

bool has_word(const std::string& name, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return name.find(word) != std::string::npos; });
}

// Three outputs of finished boxes; their number may be known at run time alone.
Match match_finished(const Evidence& evidence) {
  Head head;
  for (std::size_t i = 0; i < evidence.outputs.all.size(); ++i) {
    const Output& output = evidence.outputs.all[i];
    const auto number = static_cast<int>(i);
    const std::int64_t channels = output.shape && !output.shape->empty() ? output.shape->back() : -1;
    if (output.kind == Kind::whole || has_word(output.name, {"label", "class"})) {
      head.label = {number, 0, 1, 1};
    } else if (has_word(output.name, {"dets"}) && (channels == 5 || channels == -1)) {
      head.box = {number, 0, 5, 1};
      head.classes = {number, 4, 5, 1};
    } else if (has_word(output.name, {"box"})) {
      if (channels != 4 && channels != -1) return {};
      head.box = {number, 0, 4, 1};
    } else if (has_word(output.name, {"score", "conf"})) {
      head.classes = {number, 0, 1, 1};
    }
  }
  if (!head.label.is_there() || !head.box.is_there() || !head.classes.is_there()) return {};
  const auto elements = [&](const Field& field) -> std::optional<std::int64_t> {
    const auto& shape = evidence.outputs.all[static_cast<std::size_t>(field.output)].shape;
    if (!shape) return {};
    return elements_of(*shape);
  };
  const auto boxes = elements(head.box), labels = elements(head.label);
  if (boxes && labels && *boxes != *labels * head.box.place_step) return {};
  Scheme scheme;
  scheme.heads = {head};
  scheme.in_picture = evidence.outputs.knows_frame_size;
  scheme.has_background = !scheme.in_picture && head.box.place_step == 4;
  scheme.coco91 = scheme.has_background;
  scheme.classes = evidence.outputs.classes.value_or(scheme.coco91 ? 90 : 80);
  scheme.suppresses = false;
  scheme.reason = "finished boxes with scores and labels";
  scheme.preprocessing = usual(Fit::standard, 0, true, {0, 0, 0}, {255, 255, 255});
  return scheme;
}

constexpr std::int64_t kMostQueries = 1000;

Match match_detr(const Evidence& evidence) {
  if (Match finished = match_finished(evidence)) return finished;
  Scheme scheme;
  Head head;
  if (evidence.is_single()) {
    const Sheet& sheet = evidence.sheets[0];
    if (sheet.is_map || sheet.places > kMostQueries || !evidence.fits_classes(sheet.channels - 4)) return {};
    head.places = sheet.places;
    head.box = sheet.field(0);
    head.classes = sheet.field(4);
    scheme.classes = static_cast<int>(sheet.channels - 4);
    scheme.preprocessing = usual(Fit::standard, 0, true, {0, 0, 0}, {255, 255, 255});
  } else {
    if (!evidence.all_known || evidence.sheets.size() != 2) return {};
    const bool is_named = has_word(evidence.output_of(evidence.sheets[1]).name, {"box", "dets"});
    const bool first = evidence.sheets[0].channels == 4 && !is_named;
    const Sheet &boxes = evidence.sheets[first ? 0 : 1], &scores = evidence.sheets[first ? 1 : 0];
    if (boxes.channels != 4 || boxes.places != scores.places || boxes.places > kMostQueries || boxes.is_map)
      return {};
    // The first of such networks has a last class for nothing.
    const bool has_nothing = scores.channels == 92 && !scores.is_probability;
    head.places = boxes.places;
    head.box = boxes.field();
    head.classes = scores.field();
    scheme.classes = static_cast<int>(scores.channels);
    scheme.activation = scores.is_probability ? ScoreFunction::none
                        : has_nothing         ? ScoreFunction::softmax
                                              : ScoreFunction::sigmoid;
    scheme.coco91 = scores.channels == 91 || scores.channels == 92;
    scheme.preprocessing = as_image_net();
  }
  scheme.heads = {head};
  scheme.box = BoxForm::centre;
  scheme.unit_x = static_cast<float>(evidence.outputs.input.width);
  scheme.unit_y = static_cast<float>(evidence.outputs.input.height);
  scheme.suppresses = false;
  scheme.reason = "boxes and classes of at most 1000 queries";
  return scheme;
}

// Priors of two sizes in each cell, as RetinaFace has them.
std::vector<Prior> face_priors(const Evidence& evidence) {
  std::vector<Prior> priors;
  const auto width = static_cast<float>(evidence.outputs.input.width),
             height = static_cast<float>(evidence.outputs.input.height);
  int side = 16;
  for (const int stride : {8, 16, 32}) {
    const std::int64_t columns = evidence.columns(stride), cells = evidence.cells(stride);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const float x = (static_cast<float>(cell % columns) + 0.5F) * static_cast<float>(stride) / width;
      const float y = (static_cast<float>(cell / columns) + 0.5F) * static_cast<float>(stride) / height;
      for (const int one : {side, 2 * side})
        priors.push_back({x, y, static_cast<float>(one) / width, static_cast<float>(one) / height});
    }
    side *= 4;
  }
  return priors;
}

// Priors of the first SSD, for inputs of 300x300.
std::vector<Prior> ssd300_priors() {
  constexpr int kCells[] = {38, 19, 10, 5, 3, 1}, kSteps[] = {8, 16, 32, 64, 100, 300};
  constexpr double kSizes[] = {30, 60, 111, 162, 213, 264, 315};
  constexpr bool kHasThree[] = {false, true, true, true, false, false};
  std::vector<Prior> priors;
  for (std::size_t k = 0; k < std::size(kCells); ++k) {
    for (int cell = 0; cell < kCells[k] * kCells[k]; ++cell) {
      const auto add = [&](double width, double height) {
        priors.push_back({static_cast<float>((cell % kCells[k] + 0.5) * kSteps[k] / 300),
                          static_cast<float>((cell / kCells[k] + 0.5) * kSteps[k] / 300),
                          static_cast<float>(width / 300), static_cast<float>(height / 300)});
      };
      add(kSizes[k], kSizes[k]);
      add(std::sqrt(kSizes[k] * kSizes[k + 1]), std::sqrt(kSizes[k] * kSizes[k + 1]));
      for (const double ratio : {std::sqrt(2.0), std::sqrt(3.0)}) {
        if (ratio > 1.5 && !kHasThree[k]) break;
        add(kSizes[k] * ratio, kSizes[k] / ratio);
        add(kSizes[k] / ratio, kSizes[k] * ratio);
      }
    }
  }
  return priors;
}

Match match_ssd(const Evidence& evidence) {
  if (!evidence.all_known || evidence.sheets.size() != 2) return {};
  const bool first = evidence.sheets[0].channels == 4 && evidence.sheets[1].channels != 4;
  const bool is_named = has_word(evidence.output_of(evidence.sheets[0]).name, {"box", "loc"});
  const Sheet &boxes = evidence.sheets[first || is_named ? 0 : 1],
              &scores = evidence.sheets[first || is_named ? 1 : 0];
  if (boxes.channels != 4 || boxes.places != scores.places || boxes.is_map || scores.channels < 2) return {};
  Scheme scheme;
  Head head;
  head.places = boxes.places;
  head.box = boxes.field();
  head.classes = scores.field();
  scheme.heads = {head};
  scheme.classes = static_cast<int>(scores.channels) - 1;
  scheme.has_background = true;
  scheme.activation = scores.is_probability ? ScoreFunction::none : ScoreFunction::softmax;
  scheme.unit_x = static_cast<float>(evidence.outputs.input.width);
  scheme.unit_y = static_cast<float>(evidence.outputs.input.height);
  scheme.reason = "boxes, and classes of which the first is none";
  if (!evidence.outputs.has_exponential) {
    scheme.box = BoxForm::prior;
    scheme.priors = boxes.places == 8732 ? ssd300_priors() : face_priors(evidence);
    if (static_cast<std::int64_t>(scheme.priors.size()) != boxes.places) return {};
    scheme.reason += ", relative to priors that the file does not have";
  }
  const bool is_face = scheme.classes == 1;
  scheme.iou = is_face ? 0.3 : 0.45;
  scheme.threshold = is_face ? 0.6 : 0.3;
  scheme.preprocessing = usual(Fit::standard, 0, true, {127, 127, 127}, {128, 128, 128});
  return scheme;
}

// --- groups of outputs for each stride

// Outputs of as many places, by falling number.
std::map<std::int64_t, std::vector<Sheet>, std::greater<>> by_places(const Evidence& evidence) {
  std::map<std::int64_t, std::vector<Sheet>, std::greater<>> groups;
  for (const Sheet& sheet : evidence.sheets) groups[sheet.places].push_back(sheet);
  return groups;
}

Match match_retinaface(const Evidence& evidence) {
  const auto groups = by_places(evidence);
  if (!evidence.all_known || groups.size() != 1 || evidence.sheets.size() != 3) return {};
  Scheme scheme;
  Head head;
  for (const Sheet& sheet : evidence.sheets) {
    head.places = sheet.places;
    if (sheet.channels == 4) head.box = sheet.field();
    if (sheet.channels == 2) head.classes = sheet.field();
    if (sheet.channels == 10) head.points = sheet.field();
    if (sheet.channels == 2)
      scheme.activation = sheet.is_probability ? ScoreFunction::none : ScoreFunction::softmax;
  }
  scheme.priors = face_priors(evidence);
  if (!head.box.is_there() || !head.classes.is_there() || !head.points.is_there() ||
      static_cast<std::int64_t>(scheme.priors.size()) != head.places)
    return {};
  scheme.heads = {head};
  scheme.has_background = true;
  scheme.box = BoxForm::prior;
  scheme.points = 5;
  scheme.unit_x = static_cast<float>(evidence.outputs.input.width);
  scheme.unit_y = static_cast<float>(evidence.outputs.input.height);
  scheme.iou = 0.4;
  scheme.threshold = 0.6;
  scheme.reason = "two classes, boxes and five points relative to priors of two sizes in each cell";
  scheme.preprocessing = usual(Fit::fit_to_window, 0, false, {104, 117, 123}, {1, 1, 1});
  return scheme;
}

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
  scheme.threshold = 0.6;
  scheme.iou = 0.3;
  return scheme;
}

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

Preprocessing as_nanodet() {
  return usual(Fit::fit_to_window_letterbox, 0, false, {103.53, 116.28, 123.675}, {57.375, 57.12, 58.395});
}

// Distances, four numbers or four distributions, and classes: for each stride, or all in one output.
Match match_nanodet(const Evidence& evidence) {
  Scheme scheme;
  scheme.box = BoxForm::distances;
  const auto take_sides = [&](std::int64_t channels) {
    if (channels == 4) return;
    scheme.box = BoxForm::distribution;
    scheme.bins = static_cast<int>(channels / 4);
  };
  scheme.preprocessing = as_nanodet();
  if (evidence.is_single()) {
    const Sheet& sheet = evidence.sheets[0];
    const std::vector<int> strides = evidence.strides_for(sheet.places);
    const std::int64_t sides = sheet.channels - evidence.outputs.classes.value_or(80);
    if (strides.empty() || sides < 4 || sides % 4 != 0 || sides > 4 * 64) return {};
    take_sides(sides);
    scheme.classes = static_cast<int>(sheet.channels - sides);
    add_heads(scheme, evidence, strides, [&](Head& head, std::int64_t place) {
      head.classes = sheet.field(0, place);
      head.box = sheet.field(scheme.classes, place);
    });
    scheme.reason = "one row for each cell of strides 8, 16, ..., with classes and distances";
    return scheme;
  }
  for (const auto& [places, sheets] : by_places(evidence)) {
    const int stride = evidence.stride_of(places);
    if (stride == 0 || sheets.size() != 2 || !evidence.all_known || sheets[0].is_map) return {};
    // Of two that could be either, the one with the name of distances.
    const auto is_sides = [&](const Sheet& sheet) {
      return sheet.channels % 4 == 0 && has_word(evidence.output_of(sheet).name, {"dis", "box", "reg"});
    };
    const bool first = is_sides(sheets[0]) || (sheets[0].channels == 4 && sheets[1].channels != 4);
    const Sheet &boxes = sheets[first ? 0 : 1], &scores = sheets[first ? 1 : 0];
    if (boxes.channels % 4 != 0 || boxes.channels > 4 * 64 || !evidence.fits_classes(scores.channels))
      return {};
    Head head = head_of(evidence, places, stride);
    head.box = boxes.field();
    head.classes = scores.field();
    take_sides(boxes.channels);
    scheme.classes = static_cast<int>(scores.channels);
    scheme.activation = scores.is_probability ? ScoreFunction::none : ScoreFunction::sigmoid;
    scheme.heads.push_back(head);
  }
  if (scheme.heads.size() < 2) return {};
  scheme.reason = "classes and distances for each stride";
  return scheme;
}

// Maps of classes, distances and one of centredness for each stride.
Match match_fcos(const Evidence& evidence) {
  Scheme scheme;
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
        head.classes = sheet.field();
        scheme.classes = static_cast<int>(sheet.channels);
        if (!sheet.is_probability) scheme.activation = ScoreFunction::sigmoid;
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
      head.classes = sheet.field();
      scheme.classes = static_cast<int>(sheet.channels);
      if (!sheet.is_probability) scheme.activation = ScoreFunction::sigmoid;
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

struct Rule {
  std::string_view name;
  Match (*match)(const Evidence& evidence);
};

// The first that fits is taken.
constexpr Rule kRules[] = {{"yunet", match_yunet},
                           {"scrfd", match_scrfd},
                           {"retinaface", match_retinaface},
                           {"yolov5", match_yolov5},
                           {"yolox", match_yolox},
                           {"yolov8", match_yolov8},
                           {"end_to_end", match_end_to_end},
                           {"nanodet", match_nanodet},
                           {"detr", match_detr},
                           {"ssd", match_ssd},
                           {"fcos", match_fcos},
                           {"centernet", match_centernet}};

// Other words for the same.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"yolov7", "yolov5"},
    {"yolo", "yolov8"},
    {"yolov9", "yolov8"},
    {"yolov11", "yolov8"},
    {"yolo11", "yolov8"},
    {"yolov10", "end_to_end"},
    {"gfl", "nanodet"},
    {"nanodet-plus", "nanodet"},
    {"picodet", "nanodet"},
    {"ultraface", "ssd"},
    {"rtdetr", "detr"},
    {"rt-detr", "detr"},
    {"retinaface-pytorch", "retinaface"},
    {"ultra_lightweight_face_detection", "ssd"}};

std::string outputs_text(const NetworkOutputs& outputs) {
  std::string text;
  for (const Output& one : outputs.all)
    text += (text.empty() ? "'" : ", '") + one.name + "' " +
            (one.shape ? text_of(*one.shape) : "of a size that varies");
  return text;
}

}  // namespace

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  for (const Rule& rule : kRules) names.push_back(rule.name);
  return names;
}

Scheme choose_scheme(const NetworkOutputs& outputs, const std::string& wanted) {
  std::string name = wanted;
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const auto& [alias, own] : kAliases) {
    if (name == alias) name = own;
  }
  const Evidence evidence(outputs);
  std::string known;
  for (const Rule& rule : kRules) {
    known += (known.empty() ? "" : ", ") + std::string(rule.name);
    if (!name.empty() && name != rule.name) continue;
    if (Match scheme = rule.match(evidence)) {
      scheme->type = rule.name;
      return *scheme;
    }
    if (!name.empty())
      throw Problem("has outputs that do not fit model_type '" + wanted + "': " + outputs_text(outputs));
  }
  if (!name.empty())
    throw Problem("is read as model_type '" + wanted + "', which is not known; known are: " + known);
  throw Problem("has outputs of no known detector: " + outputs_text(outputs) +
                "; if it is one of these, name it with model_type in a configuration: " + known);
}

}  // namespace sightline::network
