// Rules for networks that have a group of outputs for each stride.
#include <algorithm>
#include <limits>

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

}  // namespace

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

// Maps of one stride with scores, sizes, offsets and points (github.com/Star-Clouds/CenterFace).
Match match_centerface(const Evidence& evidence) {
  const auto groups = by_places(evidence);
  if (!evidence.all_known || groups.size() != 1 || evidence.sheets.size() != 4) return {};
  const int stride = evidence.stride_of(groups.begin()->first);
  Head head = head_of(evidence, groups.begin()->first, std::max(stride, 1));
  Scheme scheme;
  for (const Sheet& sheet : evidence.sheets) {
    if (!sheet.is_map || stride == 0) return {};
    if (sheet.channels == 1) set_classes(scheme, head, sheet);
    if (sheet.channels == 10) head.points = sheet.field();
    if (sheet.channels != 2) continue;
    const bool is_offset = has_word(evidence.output_of(sheet).name, {"off"}) || head.box.is_there();
    (is_offset ? head.objectness : head.box) = sheet.field();
  }
  if (!head.classes.is_there() || !head.points.is_there() || !head.box.is_there() ||
      !head.objectness.is_there())
    return {};
  scheme.heads = {head};
  scheme.points = 5;
  scheme.object = "face";
  scheme.box = BoxForm::log_size_at_cell;
  scheme.is_certain = true;
  scheme.reason = "maps of scores, sizes, offsets and five points";
  scheme.threshold = 0.35;
  scheme.iou = 0.3;
  scheme.preprocessing = usual(Fit::fit_to_window, 0, true, {0, 0, 0}, {1, 1, 1});
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
