// Boxes that networks have finished: in outputs of their own, or as rows.
#include <algorithm>

#include "detectors/network/output_rows.hpp"

namespace sightline::network {
namespace {

using namespace std::string_view_literals;

// Output numbers of finished boxes; -1: none.
struct Finished {
  int box = -1, score = -1, label = -1;
  bool has_scores_in_boxes = false;  // as the fifth column
  bool is_whole() const { return box >= 0 && label >= 0 && (score >= 0 || has_scores_in_boxes); }
};

Finished finished_by_name(const Evidence& evidence) {
  Finished found;
  for (std::size_t i = 0; i < evidence.outputs.all.size(); ++i) {
    const NetworkOutputs::Output& output = evidence.outputs.all[i];
    const auto number = static_cast<int>(i);
    // Some tell more than is needed.
    if (has_word(output.name, "num_ raw_ multiclass anchor_ind mask keypoint valid encoding rpn proposal"))
      continue;
    if (output.data != DataType::f32 || has_word(output.name, "label class cls")) {
      found.label = number;
    } else if (has_word(output.name, "dets") && (output.columns == 5 || output.columns == -1)) {
      found.box = number;
      found.has_scores_in_boxes = true;
    } else if (has_word(output.name, "box")) {
      if (output.columns != 4 && output.columns != -1) return {};
      found.box = number;
    } else if (has_word(output.name, "score conf prob")) {
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
    if (sheet.is_map) return {};
    const auto values = sheet.channels == 1 ? evidence.range(sheet, 0) : std::nullopt;
    const bool is_whole = evidence.output_of(sheet).data != DataType::f32 || (values && values->is_whole);
    if (sheet.channels == 4 && found.box < 0) {
      found.box = sheet.output;
    } else if (sheet.channels == 1) {
      (found.label < 0 && is_whole ? found.label : found.score) = sheet.output;
    }
  }
  return found;
}

// Whether a class number is 0 for the test picture; networks that count from 1 never give it to a box.
bool has_class_zero(const Evidence& evidence, const Head& head) {
  if (evidence.probe().empty()) return false;
  const auto values = [&](const Field& field) -> const Tensor& {
    return *evidence.probe()[static_cast<std::size_t>(field.output)];
  };
  const Tensor &labels = values(head.label), &scores = values(head.classes);
  for (std::int64_t i = 0, at = head.classes.offset; i < labels.size() && at < scores.size(); ++i) {
    if (number_at(labels, i) == 0 && number_at(scores, at) > 0) return true;
    at += head.classes.place_step;
  }
  return false;
}

constexpr char kNotSuppressed[] = ", one for each place, which are not suppressed yet";

}  // namespace

// Their number may be known at run time alone.
bool finished_boxes(const Evidence& evidence, const OutputRow&, Reading& reading) {
  Finished found = finished_by_name(evidence);
  if (!found.is_whole()) found = finished_by_values(evidence);
  if (!found.is_whole()) return false;
  const auto output = [&](int i) -> const NetworkOutputs::Output& {
    return evidence.outputs.all[static_cast<std::size_t>(i)];
  };
  const std::string &box = output(found.box).name, &label = output(found.label).name;
  const std::int64_t columns = found.has_scores_in_boxes ? 5 : 4;
  const auto &boxes = output(found.box).shape, &labels = output(found.label).shape;
  if (boxes && labels && elements_of(*boxes) != elements_of(*labels) * columns) return false;
  Head head;
  head.box = {found.box, 0, columns, 1};
  head.classes = found.has_scores_in_boxes ? Field{found.box, 4, 5, 1} : Field{found.score, 0, 1, 1};
  head.label = {found.label, 0, 1, 1};
  Scheme& scheme = reading.scheme;
  scheme.heads = {head};
  scheme.in_picture = evidence.outputs.knows_frame_size;
  // TensorFlow's object detection: classes from 1 on, corners with rows first, in parts of the picture.
  scheme.rows_first = has_word(box, "detection_boxes");
  scheme.suppresses = labels && evidence.has_all_places(elements_of(*labels)) &&
                      !evidence.has_operator("NonMaxSuppression") && !scheme.rows_first;
  scheme.is_certain = scheme.rows_first || scheme.in_picture || columns == 5;
  // Torchvision's classes are counted from 1 as well.
  scheme.has_background = scheme.rows_first || (!has_word(label, "class cls") && !scheme.suppresses &&
                                                !scheme.is_certain && !has_class_zero(evidence, head));
  scheme.classes = evidence.outputs.classes.value_or(scheme.has_background ? 90 : 80);
  scheme.coco91 = scheme.has_background && scheme.classes == 90;
  if (scheme.suppresses) scheme.reason += kNotSuppressed;
  if (columns == 5) {
    scheme.preprocessing = as_openmmlab(Fit::fit_to_window, 114);  // by MMDeploy
  } else if (scheme.rows_first) {
    scheme.reason += ", as of TensorFlow: y before x, in parts of the picture, and classes from 1 on";
    set_fractions(scheme, evidence);
    scheme.preprocessing = stretched(true, 1);
  } else if (scheme.suppresses || has_word(box, "det_boxes pred_boxes")) {
    scheme.preprocessing = as_ultralytics();  // YOLOv7 and YOLO-NAS
  }
  if (!scheme.is_certain) settle_boxes(scheme, evidence);
  return true;
}

namespace {

// The meaning of columns, a letter each: x coordinates, s score, l class number, - others. As the output's
// name says: "batchno_classid_score_x1y1x2y2", "label_xyxy_score".
std::string columns_by_name(const std::string& name) {
  if (has_word(name, "flat_predictions")) return "-xxxxsl";  // of YOLO-NAS
  std::map<std::size_t, std::string> words;                  // by place in the name
  for (const auto& [word, letters] : {std::pair{"batchno", "-"},
                                      {"label", "l"},
                                      {"classid", "l"},
                                      {"score", "s"},
                                      {"xyxy", "xxxx"},
                                      {"x1y1x2y2", "xxxx"}}) {
    if (const std::size_t at = name.find(word); at != std::string::npos) words[at] = letters;
  }
  std::string columns;
  for (const auto& [at, letters] : words) columns += letters;
  const bool has_all =
      std::ranges::all_of("xsl"sv, [&](char c) { return columns.find(c) != std::string::npos; });
  return has_all ? columns : "";
}

// As the file makes the columns: maybe the picture's number, four coordinates, and two of which one is a
// class.
std::string columns_by_content(const NetworkOutputs::Output& output, std::int64_t columns) {
  const std::vector<ChannelRun>& runs = output.last_runs;
  const std::string first = columns == 7 ? "-xxxx" : "xxxx";
  if (runs.size() != (columns == 7 ? 4U : 3U)) return "";
  if (runs.back().content == Content::label) return first + "sl";
  return runs[runs.size() - 2].content == Content::label ? first + "ls" : "";
}

// Whether the test picture has rows, and they fit.
bool fits_rows(const Evidence& evidence, const Scheme& scheme) {
  const Survey seen = survey(scheme, evidence.probe(), evidence.outputs.input);
  return seen.boxes > 0 && sign_of_error(scheme, seen, evidence.outputs.input).empty();
}

}  // namespace

bool finished_rows(const Evidence& evidence, const OutputRow&, Reading& reading) {
  const std::vector<NetworkOutputs::Output>& all = evidence.outputs.all;
  // PaddleDetection's have the number of rows beside them.
  const bool is_paddle = evidence.outputs.knows_scale && all.size() == 2 && all[0].columns == 6;
  if (all.empty() || (all.size() != 1 && !is_paddle)) return false;
  const std::optional<Shape>& shape = all[0].shape;
  const std::int64_t columns = all[0].columns == -1 ? 6 : all[0].columns;
  // Ultralytics' networks for masks and points have their numbers behind the others.
  const bool has_more = columns > 7 && evidence.has_more_than_boxes();
  // Its RT-DETR has boxes and classes of queries.
  const bool is_rtdetr = evidence.metadata("description").find("rtdetr") != std::string::npos;
  if (is_rtdetr || (columns != 6 && columns != 7 && !has_more) || (shape && shape->size() > 3)) return false;
  std::string order = columns_by_name(all[0].name);
  if (order.empty() && is_paddle) order = "lsxxxx";
  if (order.empty()) order = columns_by_content(all[0], columns);
  Scheme& scheme = reading.scheme;
  scheme.is_certain = !order.empty() || has_more || !evidence.metadata("task").empty();
  if (order.empty()) order = columns == 7 ? "-xxxxls" : "xxxxsl";  // YOLOv7, with the picture's number
  scheme.classes = evidence.outputs.classes.value_or(80);
  const auto set_order = [&] {
    const auto field = [&](char c) -> Field {
      return {0, static_cast<std::int64_t>(order.find(c)), columns, 1};
    };
    Head head;
    if (shape) head.places = elements_of(*shape) / columns;
    head.box = field('x');
    head.classes = field('s');
    head.label = field('l');
    scheme.heads = {head};
  };
  const auto swap = [&] {
    std::swap(order[order.find('s')], order[order.find('l')]);
    set_order();
  };
  set_order();
  if (!scheme.is_certain && !evidence.probe().empty() && !fits_rows(evidence, scheme)) {
    swap();
    if (!fits_rows(evidence, scheme)) swap();
  }
  const bool is_dense = evidence.all_known && evidence.is_dense(evidence.sheets[0]);
  scheme.in_picture = is_paddle;
  scheme.suppresses = is_dense;
  const Head& head = scheme.heads[0];
  scheme.reason = head.label.offset < head.box.offset       ? "rows of class, score and corners"
                  : head.classes.offset < head.label.offset ? "rows of corners, score and class"
                                                            : "rows of corners, class and score";
  if (is_dense) scheme.reason += kNotSuppressed;
  if (is_paddle) scheme.preprocessing = as_paddle(evidence);
  if (!is_paddle && is_dense && evidence.has_operator("Exp")) scheme.preprocessing = bytes_in_bgr(114);
  return true;
}

}  // namespace sightline::network
