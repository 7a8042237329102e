// Finds out what the outputs of a network mean, by their shapes, names, and the operators behind them.
#include <algorithm>
#include <array>
#include <cmath>

#include "detectors/network/evidence.hpp"

namespace sightline::network {
namespace {

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
  scheme.box = evidence.output_of(sheet).is_raw ? BoxForm::cell : BoxForm::centre;
  if (evidence.output_of(sheet).has_raw_scores) scheme.activation = ScoreFunction::sigmoid;
  add_heads(scheme, evidence, strides, [&](Head& head, std::int64_t place) {
    head.box = sheet.field(0, place);
    head.objectness = sheet.field(4, place);
    head.classes = sheet.field(5, place);
  });
  scheme.reason =
      "one row for each cell of strides 8, 16, ..., with four coordinates, objectness and classes";
  // YOLOv6 has the same rows, without the logarithms of sizes.
  const bool is_yolov6 = scheme.box == BoxForm::centre && !evidence.outputs.operators.contains("Exp");
  scheme.preprocessing = is_yolov6 ? as_ultralytics() : as_bytes_in_bgr(114);
  return scheme;
}

Match match_yolov5(const Evidence& evidence) {
  const std::vector<NetworkOutputs::Output>& all = evidence.outputs.all;
  const auto has_rank = [](std::size_t rank) {
    return
        [rank](const NetworkOutputs::Output& output) { return output.shape && output.shape->size() == rank; };
  };
  // Networks for masks have numbers of these behind the classes.
  const bool has_masks = all.size() == 2 && std::ranges::any_of(all, has_rank(4)) && evidence.outputs.classes;
  const auto are_rows = [&](const Sheet& sheet) {
    const std::int64_t classes = sheet.channels - evidence.first_class(sheet.channels);
    return !sheet.is_map && !evidence.strides_for(sheet.places, 3).empty() &&
           (evidence.fits_classes(classes) || (has_masks && classes > *evidence.outputs.classes));
  };
  const auto found = std::ranges::find_if(evidence.sheets, are_rows);
  // Older exports have the raw maps beside the finished rows.
  const auto others = static_cast<std::ptrdiff_t>(all.size()) - 1;
  if (found == evidence.sheets.end() || (!has_masks && std::ranges::count_if(all, has_rank(5)) != others))
    return match_raw_yolov5(evidence);
  const Sheet& sheet = *found;
  Scheme scheme;
  scheme.classes = has_masks ? *evidence.outputs.classes
                             : static_cast<int>(sheet.channels - evidence.first_class(sheet.channels));
  scheme.box = BoxForm::centre;
  Head head;
  head.places = sheet.places;
  head.box = sheet.field(0);
  head.objectness = sheet.field(4);
  head.classes = sheet.field(evidence.first_class(sheet.channels));
  scheme.reason =
      "three rows for each cell of strides 8, 16, ..., with four coordinates, objectness and classes";
  if (evidence.has_points_in_row(sheet.channels)) {
    head.points = sheet.field(5);
    scheme.points = 5;
    scheme.anchor = 0;
    scheme.reason += "; five points, as of a face";
  }
  scheme.heads = {head};
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
    std::int64_t classes = has_sides ? sheet.channels - kSides : sheet.channels;
    // Networks for masks or points have numbers of these behind the classes.
    if (has_sides && evidence.has_more_than_boxes() && evidence.outputs.classes)
      classes = std::min<std::int64_t>(classes, *evidence.outputs.classes);
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
  if (scheme.heads.size() < 2 || !evidence.all_known) return {};
  scheme.box = BoxForm::distribution;
  scheme.bins = kBins;
  scheme.reason = "maps of 64 channels of distances, as distributions, and of classes";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

// Finished boxes, as corners, and scores in an output of their own, in whatever order.
Match match_yolo_pair(const Evidence& evidence) {
  Head head;
  Scheme scheme;
  for (Sheet sheet : evidence.sheets) {
    if (evidence.strides_for(sheet.places).empty()) sheet = sheet.turned();
    if (sheet.is_map || evidence.strides_for(sheet.places).empty()) return {};
    const NetworkOutputs::Output& output = evidence.output_of(sheet);
    head.places = sheet.places;
    if (output.is_probability && evidence.fits_classes(sheet.channels)) {
      set_classes(scheme, head, sheet);
    } else if (sheet.channels == 4 && !output.is_raw) {
      head.box = sheet.field();
    }
  }
  if (evidence.sheets.size() != 2 || !evidence.all_known || !head.box.is_there() || !head.classes.is_there())
    return {};
  scheme.heads = {head};
  scheme.reason = "corners of boxes, and classes, for each cell of strides 8, 16, ...";
  scheme.in_picture = evidence.outputs.knows_scale;
  scheme.preprocessing = scheme.in_picture ? as_paddle(evidence) : as_ultralytics();
  return scheme;
}

Match match_yolov8(const Evidence& evidence) {
  if (Match pair = match_yolo_pair(evidence)) return pair;
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

// Places of what a row holds, as its name says; as in "batchno_classid_score_x1y1x2y2" and
// "label_xyxy_score".
std::optional<std::array<std::int64_t, 3>> order_of_row(const std::string& name) {
  std::map<std::size_t, std::pair<std::string_view, std::int64_t>> words;  // by place in the name
  for (const std::string_view word : {"batchno", "label", "classid", "score", "xyxy", "x1y1x2y2"}) {
    const std::size_t at = name.find(word);
    if (at != std::string::npos) words[at] = {word, word.starts_with('x') ? 4 : 1};
  }
  std::map<char, std::int64_t> starts;
  std::int64_t next = 0;
  for (const auto& [at, word] : words) {
    starts[word.first == "classid" ? 'l' : word.first[0]] = next;
    next += word.second;
  }
  if (!starts.contains('x') || !starts.contains('s') || !starts.contains('l')) return {};
  return {{starts['x'], starts['s'], starts['l']}};
}

// Rows of corners, score and class, in some order.
Match match_end_to_end(const Evidence& evidence) {
  const std::vector<NetworkOutputs::Output>& all = evidence.outputs.all;
  // PaddleDetection's have the number of rows beside them.
  const bool is_paddle = evidence.outputs.knows_scale && all.size() == 2 && all[0].columns == 6;
  if (all.empty() || (all.size() != 1 && !is_paddle)) return {};
  const std::int64_t columns = all[0].columns == -1 ? 6 : all[0].columns;
  // Ultralytics' networks for masks and points have their numbers behind the others.
  const bool has_more = columns > 7 && evidence.has_more_than_boxes();
  // Its RT-DETR has boxes and classes of queries.
  if (evidence.metadata("description").find("rtdetr") != std::string::npos) return {};
  if ((columns != 6 && columns != 7 && !has_more) || (all[0].shape && all[0].shape->size() > 3)) return {};
  std::array<std::int64_t, 3> order = {0, 4, 5};
  if (columns == 7) order = {1, 6, 5};  // of YOLOv7, with the number of the picture
  if (is_paddle) order = {2, 1, 0};
  order = order_of_row(all[0].name).value_or(order);
  Sheet sheet;
  sheet.place_step = columns;
  Scheme scheme;
  Head head;
  if (all[0].shape) head.places = elements_of(*all[0].shape) / columns;
  head.box = sheet.field(order[0]);
  head.classes = sheet.field(order[1]);
  head.label = sheet.field(order[2]);
  scheme.heads = {head};
  scheme.classes = evidence.outputs.classes.value_or(80);
  scheme.in_picture = is_paddle;
  scheme.suppresses = false;
  scheme.reason = "rows of corners, score and class";
  scheme.preprocessing = as_ultralytics();
  if (is_paddle) scheme.preprocessing = as_paddle(evidence);
  return scheme;
}

// --- boxes, scores and labels in outputs of their own

// Three outputs of finished boxes; their number may be known at run time alone.
Match match_finished(const Evidence& evidence) {
  Head head;
  bool counts_from_one = false;  // as torchvision does
  for (std::size_t i = 0; i < evidence.outputs.all.size(); ++i) {
    const NetworkOutputs::Output& output = evidence.outputs.all[i];
    const auto number = static_cast<int>(i);
    const std::int64_t channels = output.columns;
    if (has_word(output.name, {"num_"})) continue;  // of boxes
    if (output.kind == Kind::whole || has_word(output.name, {"label", "class"})) {
      head.label = {number, 0, 1, 1};
      counts_from_one = !has_word(output.name, {"class"});
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
  scheme.has_background = counts_from_one && !scheme.in_picture && head.box.place_step == 4;
  scheme.coco91 = scheme.has_background;
  scheme.classes = evidence.outputs.classes.value_or(scheme.coco91 ? 90 : 80);
  scheme.suppresses = false;
  scheme.reason = "finished boxes with scores and labels";
  scheme.preprocessing = head.box.place_step == 5 ? as_openmmlab(Fit::fit_to_window, 114)  // by MMDeploy
                                                  : usual(Fit::standard, 0, true, {0, 0, 0}, {255, 255, 255});
  return scheme;
}

constexpr std::int64_t kMostQueries = 1000;

Match match_detr(const Evidence& evidence) {
  if (Match finished = match_finished(evidence)) return finished;
  Scheme scheme;
  Head head;
  if (evidence.is_single()) {
    const Sheet& sheet = evidence.sheets[0];
    constexpr std::int64_t kCoco = 84;  // of others, the file says that it is one, or the user
    const bool is_unsure = sheet.channels != kCoco && !evidence.outputs.classes && evidence.wanted.empty();
    if (sheet.is_map || sheet.places > kMostQueries || is_unsure ||
        !evidence.fits_classes(sheet.channels - 4))
      return {};
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
    // The first of such networks has a last class for no object.
    const std::int64_t names = evidence.outputs.classes.value_or(91);
    const bool has_no_object = scores.channels == names + 1 && !scores.is_probability &&
                               !has_word(evidence.output_of(scores).name, {"label"});
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
  }
  scheme.heads = {head};
  scheme.box = BoxForm::centre;
  set_fractions(scheme, evidence);
  scheme.suppresses = false;
  scheme.reason = "boxes and classes of at most 1000 queries";
  return scheme;
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
  set_classes(scheme, head, scores, ScoreFunction::softmax);
  scheme.heads = {head};
  scheme.has_background = true;
  --scheme.classes;  // without it
  set_fractions(scheme, evidence);
  scheme.reason = "boxes, and classes of which the first is none";
  if (evidence.output_of(boxes).is_raw) {
    scheme.box = BoxForm::prior;
    scheme.priors = boxes.places == 8732 ? ssd300_priors() : face_priors(evidence, boxes.places);
    if (scheme.priors.empty()) return {};
    scheme.reason += ", relative to priors that the file does not have";
  }
  const bool is_face = scheme.classes == 1;
  scheme.iou = is_face ? 0.3 : 0.45;
  scheme.threshold = is_face ? 0.6 : 0.3;
  scheme.preprocessing = usual(Fit::standard, 0, true, {127, 127, 127}, {128, 128, 128});
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
    {"yolov5-face", "yolov5"},
    {"yolo", "yolov8"},
    {"yolov9", "yolov8"},
    {"yolov11", "yolov8"},
    {"yolo11", "yolov8"},
    {"yolo12", "yolov8"},
    {"yolo-nas", "yolov8"},
    {"yolov6", "yolox"},
    {"yolo26", "end_to_end"},
    {"ppyoloe", "end_to_end"},
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
  for (const NetworkOutputs::Output& one : outputs.all)
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
  const auto task = outputs.metadata.find("task");
  if (task != outputs.metadata.end() && (task->second == "obb" || task->second == "classify"))
    throw Problem("is made for the task '" + task->second +
                  "', which is not supported; detect, segment and pose are");
  // Ultralytics' networks for masks have the boxes first.
  NetworkOutputs read = outputs;
  if (outputs.metadata.contains("task") && outputs.all.size() == 2) read.all.resize(1);
  const Evidence evidence(read, name);
  for (const auto& [alias, own] : kAliases) {
    if (name == alias) name = own;
  }
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
  const bool has_anchors = std::ranges::any_of(
      outputs.all, [](const NetworkOutputs::Output& one) { return one.shape && one.shape->size() == 5; });
  if (has_anchors)
    throw Problem(
        "has raw outputs by anchors, whose sizes are not known: " + outputs_text(outputs) +
        "; give them with the key `anchors`, or export YOLOv5 or YOLOv7 with its last layer (--grid)");
  const std::string names =
      outputs.classes ? " (with " + std::to_string(*outputs.classes) + " labels)" : std::string();
  throw Problem("has outputs of no known detector" + names + ": " + outputs_text(outputs) +
                "; if it is one of these, name it with model_type in a configuration: " + known);
}

}  // namespace sightline::network
