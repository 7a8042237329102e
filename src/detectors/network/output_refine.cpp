// Refinements of rows: what a reading takes from the file itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "detectors/network/labels.hpp"
#include "detectors/network/output_rows.hpp"

namespace sightline::network {

Preprocessing as_paddle(const Evidence& evidence) {
  constexpr int kFew = 16;  // of those that make scores alone
  return evidence.count_of("Sigmoid") > kFew ? stretched(true, 255) : as_image_net();
}

bool refine_retinaface(const Evidence& evidence, const Sheet&, const Sheet&, Scheme& scheme) {
  scheme.classes = 1;  // beside the background
  scheme.priors = usual_priors(evidence, scheme.heads[0].places);
  scheme.reason = evidence.outputs.anchors.empty()
                      ? "scores, boxes and five points relative to priors in each cell, of 16, 32, 64, 128, "
                        "256 and 512 pixels"
                      : "scores, boxes and five points relative to the given anchors";
  scheme.reason += " (the key `anchors` gives others)";
  return !scheme.priors.empty();
}

namespace {

// Whether the first coordinate grows along a row of cells, as it does once it is decoded.
bool follows_cells(const Evidence& evidence, const Sheet& sheet) {
  const Tensor& values = *evidence.probe()[static_cast<std::size_t>(sheet.output)];
  constexpr int kStride = 8;
  const std::int64_t columns = evidence.columns(kStride), rows = evidence.cells(kStride) / columns;
  std::int64_t growing = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = [&](std::int64_t column) {
      return number_at(values, (row * columns + column) * sheet.place_step);
    };
    growing += at(columns - 1) - at(0) > 0.5F;
  }
  return growing > rows / 2;
}

// Whether coordinates are sigmoids that are not decoded: no finished box lies in the first pixel, unless it
// is in parts of the input.
bool is_undecoded(const Evidence& evidence, const Sheet& sheet) {
  const Content first = evidence.content(sheet, 0);
  if (first != Content::other) return first == Content::probability || first == Content::raw;
  const auto is_share = [&](std::int64_t c) {
    const auto values = evidence.range(sheet, c);
    return values && values->is_share() && !values->is_whole;
  };
  return is_share(0) && is_share(1) && is_share(2) && is_share(3) && !follows_cells(evidence, sheet);
}

// Looks at the values of boxes unless the file makes scores of them.
bool settle_unless_scored(const Evidence& evidence, const Sheet& scores, std::int64_t first_class,
                          Scheme& scheme) {
  scheme.is_certain = evidence.content(scores, first_class) == Content::probability;
  if (!scheme.is_certain) settle_boxes(scheme, evidence);
  return true;
}

}  // namespace

bool refine_yolov5_undecoded(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme& scheme) {
  return !evidence.is_dense(scores) && is_undecoded(evidence, scores) &&
         add_undecoded_rows(evidence, scores, scheme);
}

bool refine_yolov5(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme& scheme) {
  if (evidence.is_dense(scores) || is_undecoded(evidence, scores)) return false;
  constexpr std::int64_t kFirst = 5, kFirstOfFace = 15;
  std::int64_t first_class = scores.first_class;
  // Without a test picture, rows of eleven numbers behind objectness are taken for a face's.
  if (evidence.has_points_in_row(scores.channels) &&
      (first_class == kFirstOfFace || !evidence.range(scores, 0))) {
    first_class = kFirstOfFace;
    scheme.classes = 1;
    scheme.heads[0].classes = scores.field(kFirstOfFace);
    scheme.heads[0].points = scores.field(kFirst);
    scheme.points = 5;
    scheme.anchor = 0;
    scheme.reason += "; five points, as of a face";
  } else if (first_class > kFirst) {
    scheme.reason += fmt::format("; {} numbers in front of the scores are coordinates", first_class - kFirst);
  }
  return settle_unless_scored(evidence, scores, first_class, scheme);
}

namespace {

// Whether rows of one place a cell hold objectness in front of the classes: YOLOX decodes sizes with
// exponentials, or leaves them raw, and YOLOv6 has an objectness of 1. YOLOv8 has neither.
bool has_objectness(const Evidence& evidence, const Sheet& sheet) {
  constexpr std::int64_t kObjectness = 4, kFirstClass = 5, kCocoColumns = 85;
  if (evidence.output_of(sheet).is_raw || evidence.has_operator("Exp") || !evidence.wanted.empty())
    return true;
  const Content objectness = evidence.content(sheet, kObjectness);
  if (objectness == Content::ones) return true;
  if (objectness == Content::probability) return evidence.has_boundary(sheet, kFirstClass);
  if (const auto values = evidence.range(sheet, kObjectness);
      values && values->smallest == 1 && values->largest == 1)
    return true;
  return evidence.outputs.classes ? sheet.channels == *evidence.outputs.classes + kFirstClass
                                  : sheet.channels == kCocoColumns;
}

}  // namespace

bool refine_yolox(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme& scheme) {
  const NetworkOutputs::Output& output = evidence.output_of(scores);
  constexpr std::int64_t kCocoOfYolo8 = 84, kCocoOfNanoDet = 112;
  const bool is_other =
      !evidence.outputs.classes && (scores.channels == kCocoOfYolo8 || scores.channels == kCocoOfNanoDet);
  if (is_other || evidence.is_dense(scores) || evidence.content(scores, 0) == Content::probability ||
      !has_objectness(evidence, scores))
    return false;
  if (output.is_raw) scheme.box = BoxForm::cell;
  if (output.has_raw_scores) scheme.activation = ScoreFunction::sigmoid;
  scheme.is_certain =
      output.has_raw_scores || evidence.content(scores, scores.channels - 1) == Content::probability;
  // YOLOv6 has the same rows, without the logarithms of sizes.
  if (!output.is_raw && !evidence.has_operator("Exp")) scheme.preprocessing = as_ultralytics();
  return true;
}

bool refine_yolov8(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme& scheme) {
  const bool is_raw = evidence.output_of(scores).is_raw && evidence.wanted.empty();  // its boxes are decoded
  if (is_raw || evidence.content(scores, 0) == Content::probability || evidence.is_dense(scores))
    return false;
  const std::int64_t behind = scores.channels - scores.first_class - scheme.classes;
  if (behind == 1 && evidence.outputs.metadata.empty())
    throw Problem(
        "has a number behind the class scores, as networks for turned boxes (obb) do, which are not "
        "supported");
  if (behind > 0) scheme.reason += fmt::format("; the {} numbers behind them are no scores", behind);
  return settle_unless_scored(evidence, scores, scores.first_class, scheme);
}

bool refine_yolov8_maps(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme&) {
  constexpr std::int64_t kCocoOfThreeAnchors = 3 * 85;  // not 64 and 191 classes
  return scores.channels != kCocoOfThreeAnchors || !evidence.wanted.empty() ||
         evidence.outputs.classes.has_value();
}

// Scores come first.
bool refine_nanodet(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme&) {
  return evidence.content(scores, 0) == Content::probability ||
         evidence.content(scores, scores.channels - 1) != Content::probability;
}

// Github.com/dog-qiuqiu/FastestDet.
bool refine_fastestdet(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme& scheme) {
  Content objectness = evidence.content(scores, 0);
  if (const auto values = evidence.range(scores, 0);
      objectness == Content::other && values && values->is_share())
    objectness = Content::probability;
  if (objectness == Content::raw) scheme.activation = ScoreFunction::softmax_of_classes;
  return scores.columns == scheme.heads[0].columns &&
         (objectness == Content::probability || !evidence.wanted.empty());
}

namespace {

enum class ScoreKind { raw, each_by_itself, sum_to_one };

// What most places' scores are: raw, a probability of each class by itself, or of one class among all.
ScoreKind kind_of(const Evidence& evidence, const Sheet& scores) {
  const NetworkOutputs::Output& output = evidence.output_of(scores);
  if (output.is_softmax) return ScoreKind::sum_to_one;
  if (output.is_probability) return ScoreKind::each_by_itself;
  const Tensor* const tensor = evidence.values_of(scores);
  if (!tensor) return ScoreKind::raw;
  bool are_shares = true, sum_to_one = scores.channels > 1;
  for (std::int64_t place = 0; place < scores.places && are_shares; ++place) {
    double sum = 0;
    for (std::int64_t c = 0; c < scores.channels; ++c) {
      const float value = scores.at(*tensor, place, c);
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
  const Tensor* const tensor = evidence.values_of(scores);
  if (!tensor || scores.channels < 2) return false;
  std::int64_t found = 0;
  for (std::int64_t place = 0; place < scores.places; ++place) {
    const float last = scores.at(*tensor, place, scores.channels - 1);
    bool is_largest = last > 0;
    for (std::int64_t c = 0; c + 1 < scores.channels; ++c) is_largest &= last > scores.at(*tensor, place, c);
    found += is_largest;
  }
  return found > scores.places / 2;
}

}  // namespace

bool refine_decoded(const Evidence& evidence, const Sheet& boxes, const Sheet& scores, Scheme& scheme) {
  if (!evidence.has_all_places(boxes.places) || evidence.output_of(boxes).is_raw ||
      !evidence.fits_classes(scheme.classes) || kind_of(evidence, scores) != ScoreKind::each_by_itself)
    return false;
  scheme.coco91 = scheme.classes == 90 || scheme.classes == 91;
  scheme.in_picture = scheme.is_certain = evidence.outputs.knows_scale;
  if (!scheme.in_picture) settle_boxes(scheme, evidence);
  const bool is_centre = scheme.box == BoxForm::centre, is_fraction = scheme.unit_x != 1;
  scheme.preprocessing = scheme.in_picture ? as_paddle(evidence)
                         : is_centre       ? as_ultralytics()
                         : scheme.coco91   ? as_image_net()  // EfficientDet
                         : is_fraction     ? stretched(true, 255)
                                           : as_ultralytics();
  return true;
}

namespace {

constexpr std::int64_t kMostQueries = 1000;

}  // namespace

bool refine_queries(const Evidence& evidence, const Sheet&, const Sheet& scores, Scheme&) {
  constexpr std::int64_t kCocoColumns = 84;  // of others, the file says that it is one, or the user
  const bool is_unsure = scores.channels != kCocoColumns && !evidence.outputs.classes;
  return scores.places <= kMostQueries &&
         (!evidence.wanted.empty() || (!is_unsure && !evidence.has_all_places(scores.places)));
}

bool refine_query_pair(const Evidence& evidence, const Sheet& boxes, const Sheet& scores, Scheme& scheme) {
  if (boxes.places > kMostQueries) return false;
  const std::string& boxes_name = evidence.output_of(boxes).name;
  // The first of such networks has a last class for no object.
  const std::int64_t names = evidence.outputs.classes.value_or(91);
  scheme.has_no_object =
      !scores.is_probability && !has_word(evidence.output_of(scores).name, "label") &&
      (scores.channels == names + 1 || (!evidence.outputs.classes && finds_last_class(evidence, scores)));
  if (scheme.has_no_object) --scheme.classes;
  if (scores.is_probability) scheme.activation = ScoreFunction::none;
  if (scheme.has_no_object) scheme.activation = ScoreFunction::softmax;
  scheme.coco91 = scheme.classes == 91;
  // RT-DETR and D-FINE take the picture as it is; DETR and its kin, with COCO's gaps, and RF-DETR do not.
  if (scheme.has_no_object || scheme.coco91 || has_word(boxes_name, "dets"))
    scheme.preprocessing = as_image_net();
  scheme.is_certain = boxes.is_probability || has_word(boxes_name, "pred_boxes dets");
  return true;
}

bool refine_ssd(const Evidence& evidence, const Sheet& boxes, const Sheet& scores, Scheme& scheme) {
  const ScoreKind kind = kind_of(evidence, scores);
  // Scores of each class by itself have no background.
  if (scheme.classes < 2 || (kind == ScoreKind::each_by_itself && evidence.wanted.empty())) return false;
  if (kind == ScoreKind::raw) scheme.activation = ScoreFunction::softmax;
  --scheme.classes;  // without the background
  if (evidence.output_of(boxes).is_raw) {
    scheme.box = BoxForm::prior;
    scheme.is_certain = true;
    scheme.priors = usual_priors(evidence, boxes.places);
    if (scheme.priors.empty()) return false;
    scheme.reason += ", relative to priors that the file does not have";
  } else {
    settle_boxes(scheme, evidence);
  }
  if (scheme.classes > 1) return true;
  scheme.threshold = 0.6;  // faces
  scheme.iou = 0.3;
  return true;
}

namespace {

// Whether the numbers of one output are a description of the picture, as of a face to be recognised.
bool is_description(const Evidence& evidence, const NetworkOutputs::Output& output) {
  return evidence.wanted.empty() && !evidence.outputs.classes &&
         (has_word(output.name, "embed feature descriptor") || output.maker == "BatchNormalization" ||
          output.maker == "Div" || output.maker == "Where");
}

// The usual input of a classifier, and whose it is: unless the network normalises pictures itself, what its
// exporter or the picture's form tells; otherwise torchvision's.
const char* set_classifier_input(const Evidence& evidence, Preprocessing& p) {
  constexpr int kSmall = 96;  // pixels: those of CIFAR and MNIST are not cut
  constexpr double kUsualCrop = 0.875;
  const NetworkOutputs& outputs = evidence.outputs;
  const bool is_ultralytics = evidence.metadata("task") == "classify";
  const bool is_small = std::min(outputs.input.width, outputs.input.height) < kSmall;
  const struct {
    bool fits;
    double mean, scale;
    const char* text;
  } inputs[] = {
      {outputs.highest_level == 255, 0, 1, "normalised by the network itself, from levels up to 255"},
      {outputs.highest_level == 1, 0, 255, "normalised by the network itself, from levels up to 1"},
      {is_ultralytics, 0, 255, "as Ultralytics prepares it"},
      {outputs.channels == 1, 0, 255, "gray, with levels up to 1"},
      {outputs.has_channels_last, 127.5, 127.5, "as Keras prepares it for MobileNet"}};
  p = as_image_net();
  p.fit = outputs.has_channels_last ? Fit::standard : Fit::crop;
  p.crop_fraction = is_ultralytics || is_small ? 1 : kUsualCrop;
  p.antialias = true;
  for (const auto& [fits, mean, scale, text] : inputs) {
    if (!fits) continue;
    p.mean.fill(mean);
    p.scale.fill(scale);
    return text;
  }
  return "as torchvision prepares it";
}

}  // namespace

// 1xN, or 1xNx1x1. What is joined of several parts is one detection.
bool whole_picture(const Evidence& evidence, const OutputRow&, Reading& reading) {
  const NetworkOutputs& outputs = evidence.outputs;
  if (outputs.all.size() != 1 || !outputs.all[0].shape) return false;
  const NetworkOutputs::Output& output = outputs.all[0];
  const Shape& shape = *output.shape;
  if ((shape.size() != 2 && shape.size() != 4) || shape[0] != 1 || shape[1] != elements_of(shape) ||
      output.data != DataType::f32 || shape[1] < 1 || shape[1] > static_cast<std::int64_t>(kMostClasses) ||
      output.last_runs.size() > 1 || is_description(evidence, output))
    return false;
  Scheme& scheme = reading.scheme;
  scheme.classes = static_cast<int>(shape[1]);
  // TensorFlow's networks for ImageNet have a class 0 that stands for none.
  constexpr int kImageNet = 1000;
  scheme.has_background = scheme.classes == kImageNet + 1 && outputs.classes == kImageNet;
  if (scheme.has_background) --scheme.classes;
  if (outputs.classes && *outputs.classes != scheme.classes) return false;
  Head head;
  head.places = 1;
  head.classes = {0, 0, shape[1], 1};
  scheme.heads = {head};
  const bool is_single = shape[1] == 1;
  if (is_single) scheme.threshold = 0.5;
  const char* function = "which are probabilities";
  if (!output.is_probability) {
    scheme.activation = is_single ? ScoreFunction::sigmoid : ScoreFunction::softmax;
    function =
        is_single ? "of which a sigmoid makes a probability" : "of which a softmax makes probabilities";
  }
  scheme.reason = std::string("scores of classes of the whole picture, ") + function + "; the input is " +
                  set_classifier_input(evidence, scheme.preprocessing);
  return true;
}

}  // namespace sightline::network
