// Rules for boxes and scores in outputs of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "detectors/network/evidence.hpp"

namespace sightline::network {
namespace {

// Output numbers of finished boxes; -1: none.
struct Finished {
  int box = -1, score = -1, label = -1;
  bool has_scores_in_boxes = false;  // as the fifth column
  bool is_named() const { return box >= 0 && label >= 0 && (score >= 0 || has_scores_in_boxes); }
};

// Outputs that tell more than is needed.
bool is_beside(const std::string& name) {
  return has_word(name, {"num_", "raw_", "multiclass", "anchor_ind", "mask", "keypoint", "valid", "encoding",
                         "rpn", "proposal"});
}

Finished finished_by_name(const Evidence& evidence) {
  Finished found;
  for (std::size_t i = 0; i < evidence.outputs.all.size(); ++i) {
    const NetworkOutputs::Output& output = evidence.outputs.all[i];
    const auto number = static_cast<int>(i);
    if (is_beside(output.name)) continue;
    if (output.data != DataType::f32 || has_word(output.name, {"label", "class", "cls"})) {
      found.label = number;
    } else if (has_word(output.name, {"dets"}) && (output.columns == 5 || output.columns == -1)) {
      found.box = number;
      found.has_scores_in_boxes = true;
    } else if (has_word(output.name, {"box"})) {
      if (output.columns != 4 && output.columns != -1) return {};
      found.box = number;
    } else if (has_word(output.name, {"score", "conf", "prob"})) {
      found.score = number;
    }
  }
  return found;
}

// Three outputs whose names tell nothing: four columns, and two numbers a row of which one is whole.
Finished finished_by_values(const Evidence& evidence) {
  Finished found;
  if (!evidence.all_known || evidence.sheets.size() != 3) return {};
  for (const Sheet& sheet : evidence.sheets) {
    const bool is_whole = evidence.output_of(sheet).data != DataType::f32;
    const auto values = sheet.channels == 1 ? evidence.range(sheet, 0) : std::nullopt;
    if (sheet.is_map) return {};
    if (sheet.channels == 4 && found.box < 0) {
      found.box = sheet.output;
    } else if (sheet.channels == 1 && found.label < 0 && (is_whole || (values && values->is_whole))) {
      found.label = sheet.output;
    } else if (sheet.channels == 1) {
      found.score = sheet.output;
    }
  }
  return found;
}

std::optional<std::int64_t> elements_in(const Evidence& evidence, int output) {
  const auto& shape = evidence.outputs.all[static_cast<std::size_t>(output)].shape;
  if (!shape) return {};
  return elements_of(*shape);
}

// Whether a class number is 0 for the test picture; networks that count from 1 never give it to a box.
bool has_class_zero(const Evidence& evidence, const Finished& found) {
  if (evidence.probe().empty()) return false;
  const Tensor& labels = *evidence.probe()[static_cast<std::size_t>(found.label)];
  const Tensor& scores =
      *evidence.probe()[static_cast<std::size_t>(found.score < 0 ? found.box : found.score)];
  const std::int64_t step = found.score < 0 ? 5 : 1, first = found.score < 0 ? 4 : 0;
  for (std::int64_t i = 0; i < labels.size() && first + i * step < scores.size(); ++i) {
    if (number_at(labels, i) == 0 && number_at(scores, first + i * step) > 0) return true;
  }
  return false;
}

// Three outputs of finished boxes; their number may be known at run time alone.
Match match_finished(const Evidence& evidence) {
  Finished found = finished_by_name(evidence);
  if (!found.is_named()) found = finished_by_values(evidence);
  if (!found.is_named()) return {};
  const auto name = [&](int output) { return evidence.outputs.all[static_cast<std::size_t>(output)].name; };
  const std::int64_t columns = found.has_scores_in_boxes ? 5 : 4;
  const auto boxes = elements_in(evidence, found.box), labels = elements_in(evidence, found.label);
  if (boxes && labels && *boxes != *labels * columns) return {};
  Head head;
  head.box = {found.box, 0, columns, 1};
  head.classes = found.has_scores_in_boxes ? Field{found.box, 4, 5, 1} : Field{found.score, 0, 1, 1};
  head.label = {found.label, 0, 1, 1};
  Scheme scheme;
  scheme.heads = {head};
  scheme.in_picture = evidence.outputs.knows_frame_size;
  // TensorFlow's object detection: classes from 1 on, corners with rows first, in parts of the picture.
  const bool is_tensorflow = has_word(name(found.box), {"detection_boxes"});
  const bool is_dense = labels && evidence.has_all_places(*labels) &&
                        !evidence.has_operator("NonMaxSuppression") && !is_tensorflow;
  const bool is_class = has_word(name(found.label), {"class", "cls"});
  scheme.has_background = is_tensorflow || (!is_class && !is_dense && !scheme.in_picture && columns == 4 &&
                                            !has_class_zero(evidence, found));  // as torchvision
  scheme.coco91 = scheme.has_background;
  scheme.classes = evidence.outputs.classes.value_or(scheme.coco91 ? 90 : 80);
  scheme.coco91 &= scheme.classes == 90;
  scheme.suppresses = is_dense;
  scheme.is_certain = is_tensorflow || scheme.in_picture || columns == 5;
  scheme.reason = "boxes, scores and class numbers in outputs of their own";
  scheme.preprocessing = columns == 5 ? as_openmmlab(Fit::fit_to_window, 114)  // by MMDeploy
                         : is_dense || has_word(name(found.box), {"det_boxes", "pred_boxes"})
                             ? as_ultralytics()  // YOLOv7 and YOLO-NAS
                             : usual(Fit::standard, 0, true, {0, 0, 0}, {255, 255, 255});
  if (is_dense) scheme.reason += ", one for each place, which are not suppressed yet";
  if (is_tensorflow) {
    scheme.reason += ", as of TensorFlow: y before x, in parts of the picture, and classes from 1 on";
    scheme.rows_first = true;
    set_fractions(scheme, evidence);
    scheme.preprocessing = usual(Fit::standard, 0, true, {0, 0, 0}, {1, 1, 1});
  } else if (!scheme.is_certain) {
    settle_boxes(scheme, evidence);
  }
  return scheme;
}

constexpr std::int64_t kMostQueries = 1000;

// Boxes and scores of as many places, whichever comes first.
struct BoxPair {
  Sheet boxes, scores;
};

std::optional<BoxPair> pair_of(const Evidence& evidence) {
  if (!evidence.all_known || evidence.sheets.size() != 2) return {};
  const auto turned_to_boxes = [](const Sheet& sheet) {
    return sheet.channels != 4 && sheet.places == 4 ? sheet.turned() : sheet;
  };
  const auto is_named = [&](const Sheet& sheet) {
    return has_word(evidence.output_of(sheet).name, {"box", "dets", "loc", "reg", "coord"});
  };
  std::optional<BoxPair> chosen;
  for (const std::size_t i : {0U, 1U}) {
    const Sheet boxes = turned_to_boxes(evidence.sheets[i]);
    Sheet scores = evidence.sheets[1 - i];
    if (scores.places != boxes.places) scores = scores.turned();
    if (boxes.is_map || scores.is_map || boxes.channels != 4 || scores.places != boxes.places) continue;
    // Of two that could be either, the one with the name of boxes, or the one that is no probability.
    const bool is_better = chosen && (is_named(boxes) != is_named(chosen->boxes)
                                          ? is_named(boxes)
                                          : !boxes.is_probability && chosen->boxes.is_probability);
    if (!chosen || is_better) chosen = BoxPair{boxes, scores};
  }
  return chosen;
}

enum class ScoreKind { raw, each_by_itself, sum_to_one };

ScoreKind kind_of(const Evidence& evidence, const Sheet& scores) {
  const NetworkOutputs::Output& output = evidence.output_of(scores);
  if (output.is_softmax) return ScoreKind::sum_to_one;
  if (output.is_probability) return ScoreKind::each_by_itself;
  if (evidence.probe().empty()) return ScoreKind::raw;
  const Tensor& tensor = *evidence.probe()[static_cast<std::size_t>(scores.output)];
  if (tensor.size() < scores.places * scores.channels) return ScoreKind::raw;
  bool are_shares = true, sum_to_one = scores.channels > 1;
  for (std::int64_t place = 0; place < scores.places && are_shares; ++place) {
    double sum = 0;
    for (std::int64_t c = 0; c < scores.channels; ++c) {
      const float value = number_at(tensor, place * scores.place_step + c * scores.channel_step);
      are_shares &= value >= 0 && value <= 1;
      sum += value;
    }
    sum_to_one &= std::abs(sum - 1) < 1e-3;
  }
  return !are_shares ? ScoreKind::raw : sum_to_one ? ScoreKind::sum_to_one : ScoreKind::each_by_itself;
}

// Whether most queries find the last class in the test picture, more surely than not: it stands for no
// object. Networks that score each class by itself give low scores instead.
bool finds_last_class(const Evidence& evidence, const Sheet& scores) {
  if (evidence.probe().empty() || scores.channels < 2) return false;
  const Tensor& tensor = *evidence.probe()[static_cast<std::size_t>(scores.output)];
  if (tensor.size() < scores.places * scores.channels) return false;
  std::int64_t found = 0;
  for (std::int64_t place = 0; place < scores.places; ++place) {
    const auto at = [&](std::int64_t c) {
      return number_at(tensor, place * scores.place_step + c * scores.channel_step);
    };
    bool is_largest = at(scores.channels - 1) > 0;
    for (std::int64_t c = 0; c + 1 < scores.channels; ++c) is_largest &= at(scores.channels - 1) > at(c);
    found += is_largest;
  }
  return found > scores.places / 2;
}

}  // namespace

// Finished boxes of all places, and scores of each class by itself.
Match match_box_pair(const Evidence& evidence) {
  const auto pair = pair_of(evidence);
  if (!pair || !evidence.has_all_places(pair->boxes.places) || evidence.output_of(pair->boxes).is_raw ||
      !evidence.fits_classes(pair->scores.channels) ||
      kind_of(evidence, pair->scores) != ScoreKind::each_by_itself)
    return {};
  Scheme scheme;
  Head head;
  head.places = pair->boxes.places;
  head.box = pair->boxes.field();
  head.classes = pair->scores.field();
  scheme.heads = {head};
  scheme.classes = static_cast<int>(pair->scores.channels);
  scheme.coco91 = scheme.classes == 90 || scheme.classes == 91;
  scheme.in_picture = evidence.outputs.knows_scale;
  scheme.is_certain = scheme.in_picture;
  scheme.reason = "finished boxes of all places and their class scores";
  if (!scheme.in_picture) settle_boxes(scheme, evidence);
  const bool is_centre = scheme.box == BoxForm::centre, is_fraction = scheme.unit_x != 1;
  scheme.preprocessing = scheme.in_picture             ? as_paddle(evidence)
                         : scheme.coco91 && !is_centre ? as_image_net()  // EfficientDet
                         : is_fraction && !is_centre
                             ? usual(Fit::standard, 0, true, {0, 0, 0}, {255, 255, 255})
                             : as_ultralytics();
  return scheme;
}

Match match_detr(const Evidence& evidence) {
  if (Match finished = match_finished(evidence)) return finished;
  Scheme scheme;
  Head head;
  if (evidence.is_single()) {
    const Sheet& sheet = evidence.sheets[0];
    constexpr std::int64_t kCoco = 84;  // of others, the file says that it is one, or the user
    const bool is_unsure = sheet.channels != kCoco && !evidence.outputs.classes && evidence.wanted.empty();
    const bool is_grid = evidence.has_all_places(sheet.places) && evidence.wanted.empty();
    if (sheet.is_map || sheet.places > kMostQueries || is_unsure || is_grid ||
        !evidence.fits_classes(sheet.channels - 4))
      return {};
    head.places = sheet.places;
    head.box = sheet.field(0);
    head.classes = sheet.field(4);
    scheme.classes = static_cast<int>(sheet.channels - 4);
    scheme.preprocessing = usual(Fit::standard, 0, true, {0, 0, 0}, {255, 255, 255});
  } else {
    const auto pair = pair_of(evidence);
    if (!pair || pair->boxes.places > kMostQueries) return {};
    const Sheet &boxes = pair->boxes, &scores = pair->scores;
    // The first of such networks has a last class for no object.
    const std::int64_t names = evidence.outputs.classes.value_or(91);
    const bool may_have_no_object =
        !scores.is_probability && !has_word(evidence.output_of(scores).name, {"label"});
    const bool has_no_object =
        may_have_no_object &&
        (scores.channels == names + 1 || (!evidence.outputs.classes && finds_last_class(evidence, scores)));
    head.places = boxes.places;
    head.box = boxes.field();
    head.classes = scores.field();
    scheme.has_no_object = has_no_object;
    scheme.classes = static_cast<int>(scores.channels) - (has_no_object ? 1 : 0);
    scheme.activation = scores.is_probability ? ScoreFunction::none
                        : has_no_object       ? ScoreFunction::softmax
                                              : ScoreFunction::sigmoid;
    scheme.coco91 = scheme.classes == 91;
    // RT-DETR and D-FINE take the picture as it is; DETR and its kin, with COCO's gaps, and RF-DETR do not.
    const bool is_rfdetr = has_word(evidence.output_of(boxes).name, {"dets"});
    scheme.preprocessing = has_no_object || scheme.coco91 || is_rfdetr
                               ? as_image_net()
                               : usual(Fit::standard, 0, true, {0, 0, 0}, {255, 255, 255});
    scheme.is_certain =
        boxes.is_probability || has_word(evidence.output_of(boxes).name, {"pred_boxes", "dets"});
  }
  scheme.heads = {head};
  scheme.box = BoxForm::centre;
  set_fractions(scheme, evidence);
  scheme.suppresses = false;
  scheme.reason = "boxes and class scores of at most 1000 queries";
  return scheme;
}

namespace {

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

}  // namespace

Match match_ssd(const Evidence& evidence) {
  const auto pair = pair_of(evidence);
  if (!pair || pair->scores.channels < 2) return {};
  const Sheet &boxes = pair->boxes, &scores = pair->scores;
  const ScoreKind kind = kind_of(evidence, scores);
  // Scores of each class by itself have no background.
  if (kind == ScoreKind::each_by_itself && evidence.wanted.empty()) return {};
  Scheme scheme;
  Head head;
  head.places = boxes.places;
  head.box = boxes.field();
  set_classes(scheme, head, scores, ScoreFunction::softmax);
  if (kind != ScoreKind::raw) scheme.activation = ScoreFunction::none;
  scheme.heads = {head};
  scheme.has_background = true;
  --scheme.classes;  // without it
  set_fractions(scheme, evidence);
  scheme.reason = "boxes, and class scores of which the first is none";
  if (evidence.output_of(boxes).is_raw) {
    scheme.box = BoxForm::prior;
    scheme.is_certain = true;
    scheme.priors = boxes.places == 8732 ? ssd300_priors() : face_priors(evidence, boxes.places);
    if (scheme.priors.empty()) return {};
    scheme.reason += ", relative to priors that the file does not have";
  } else {
    settle_boxes(scheme, evidence);
  }
  const bool is_face = scheme.classes == 1;
  scheme.iou = is_face ? 0.3 : 0.45;
  scheme.threshold = is_face ? 0.6 : 0.3;
  scheme.preprocessing = usual(Fit::standard, 0, true, {127, 127, 127}, {128, 128, 128});
  return scheme;
}

}  // namespace sightline::network
