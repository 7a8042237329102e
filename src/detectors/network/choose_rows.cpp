// Rules for one output with a row for each place.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "detectors/network/evidence.hpp"

namespace sightline::network {
namespace {

// Whether rows of one place a cell hold objectness in front of the classes: YOLOX decodes sizes with
// exponentials, or leaves them raw, and YOLOv6 has an objectness of 1. YOLOv8 has neither.
bool has_objectness(const Evidence& evidence, const Sheet& sheet) {
  constexpr std::int64_t kObjectness = 4, kFirstClass = 5, kCoco = 85;
  if (evidence.output_of(sheet).is_raw || evidence.has_operator("Exp") || !evidence.wanted.empty())
    return true;
  const Content objectness = evidence.content(sheet, kObjectness);
  if (objectness == Content::ones) return true;
  if (objectness == Content::probability) return evidence.has_boundary(sheet, kFirstClass);
  if (const auto values = evidence.range(sheet, kObjectness);
      values && values->smallest == 1 && values->largest == 1)
    return true;
  return evidence.outputs.classes ? sheet.channels == *evidence.outputs.classes + kFirstClass
                                  : sheet.channels == kCoco;
}

// Rows as YOLOv5-Lite exports them: the last layer is missing but for its sigmoid, or with it. One place for
// each anchor of a cell, anchor by anchor.
Match match_raw_rows(const Evidence& evidence, const Sheet& sheet, bool is_activated) {
  constexpr std::int64_t kAnchors = 3;
  const std::vector<int> strides = evidence.strides_for(sheet.places, kAnchors);
  const bool is_face = evidence.has_points_in_row(sheet.channels);
  const auto [anchors, whose] = anchors_for(evidence, strides.size(), is_face);
  if (anchors.size() != 2 * kAnchors * strides.size()) return {};
  Scheme scheme;
  scheme.box = BoxForm::anchor;
  scheme.classes = static_cast<int>(sheet.channels - evidence.first_class(sheet.channels));
  scheme.points = is_face ? 5 : 0;
  scheme.activation = is_activated ? ScoreFunction::none : ScoreFunction::sigmoid;
  scheme.is_certain = true;
  std::int64_t start = 0;
  std::size_t next = 0;
  for (const int stride : strides) {
    for (std::int64_t anchor = 0; anchor < kAnchors; ++anchor, next += 2) {
      Head head = head_of(evidence, evidence.cells(stride), stride);
      head.box = sheet.field(0, start);
      head.objectness = sheet.field(4, start);
      head.classes = sheet.field(evidence.first_class(sheet.channels), start);
      if (is_face) head.points = sheet.field(5, start);
      head.anchor_width = static_cast<float>(anchors[next]);
      head.anchor_height = static_cast<float>(anchors[next + 1]);
      scheme.heads.push_back(head);
      start += head.places;
    }
  }
  scheme.reason = fmt::format(
      "{} rows of coordinates, objectness and classes for each anchor of a cell; anchors {} (the key "
      "`anchors` gives "
      "others)",
      is_activated ? "sigmoids, not decoded:" : "raw", whose);
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

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

}  // namespace

Match match_yolox(const Evidence& evidence) {
  if (!evidence.is_single()) return {};
  const Sheet& sheet = evidence.sheets[0];
  const std::vector<int> strides = evidence.strides_for(sheet.places);
  constexpr std::int64_t kCocoOfYolo8 = 84, kCocoOfNanoDet = 112;
  const bool is_other =
      !evidence.outputs.classes && (sheet.channels == kCocoOfYolo8 || sheet.channels == kCocoOfNanoDet);
  if (strides.empty() || is_other || evidence.is_dense(sheet) ||
      evidence.content(sheet, 0) == Content::probability || !evidence.fits_classes(sheet.channels - 5) ||
      !has_objectness(evidence, sheet))
    return {};
  Scheme scheme;
  scheme.classes = static_cast<int>(sheet.channels - 5);
  scheme.box = evidence.output_of(sheet).is_raw ? BoxForm::cell : BoxForm::centre;
  if (evidence.output_of(sheet).has_raw_scores) scheme.activation = ScoreFunction::sigmoid;
  scheme.is_certain = scheme.activation != ScoreFunction::none ||
                      evidence.content(sheet, sheet.channels - 1) == Content::probability;
  add_heads(scheme, evidence, strides, [&](Head& head, std::int64_t place) {
    head.box = sheet.field(0, place);
    head.objectness = sheet.field(4, place);
    head.classes = sheet.field(5, place);
  });
  scheme.reason =
      "each row is a cell of an 8, 16 or 32 pixel grid, with four coordinates, objectness and class scores";
  // YOLOv6 has the same rows, without the logarithms of sizes.
  const bool is_yolov6 = scheme.box == BoxForm::centre && !evidence.has_operator("Exp");
  scheme.preprocessing = is_yolov6 ? as_ultralytics() : as_bytes_in_bgr(114);
  return scheme;
}

Match match_yolov5(const Evidence& evidence) {
  const std::vector<NetworkOutputs::Output>& all = evidence.outputs.all;
  const auto are_rows = [&](const Sheet& sheet) {
    return !sheet.is_map && !evidence.strides_for(sheet.places, 3).empty() && !evidence.is_dense(sheet) &&
           sheet.channels > 5 && evidence.fits_classes(evidence.classes_of(sheet, 5).count);
  };
  const auto has_five_sides = [](const NetworkOutputs::Output& output) {
    return output.shape && output.shape->size() == 5;
  };
  const auto found = std::ranges::find_if(evidence.sheets, are_rows);
  // Older exports have the raw maps beside the finished rows.
  if (found == evidence.sheets.end() ||
      std::ranges::count_if(all, has_five_sides) != static_cast<std::ptrdiff_t>(all.size()) - 1)
    return match_raw_yolov5(evidence);
  const Sheet& sheet = *found;
  if (is_undecoded(evidence, sheet))
    return match_raw_rows(evidence, sheet, evidence.content(sheet, 0) != Content::raw);
  Evidence::Classes classes = evidence.classes_of(sheet, 5);
  constexpr std::int64_t kFirstOfFace = 15;
  // Without a test picture, rows of eleven numbers behind objectness are taken for a face's.
  const bool is_face = evidence.has_points_in_row(sheet.channels) &&
                       (classes.first == kFirstOfFace || !evidence.range(sheet, 0));
  if (is_face) classes = {kFirstOfFace, 1};
  Scheme scheme;
  scheme.classes = static_cast<int>(classes.count);
  scheme.box = BoxForm::centre;
  Head head;
  head.places = sheet.places;
  head.box = sheet.field(0);
  head.objectness = sheet.field(4);
  head.classes = sheet.field(classes.first);
  scheme.reason =
      "three rows for each cell of an 8, 16 or 32 pixel grid, with four coordinates, objectness and class "
      "scores";
  if (is_face) {
    head.points = sheet.field(5);
    scheme.points = 5;
    scheme.anchor = 0;
    scheme.reason += "; five points, as of a face";
  } else if (classes.first > 5) {
    scheme.reason += fmt::format("; {} numbers in front of the scores are coordinates", classes.first - 5);
  }
  scheme.heads = {head};
  scheme.is_certain = evidence.content(sheet, classes.first) == Content::probability;
  if (!scheme.is_certain) settle_boxes(scheme, evidence);
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

namespace {

// One map of 64 + classes channels, or two of 64 and of classes, for each stride.
Match match_yolov8_maps(const Evidence& evidence) {
  constexpr std::int64_t kBins = 16, kSides = 4 * kBins;
  constexpr std::int64_t kCocoOfThreeAnchors = 3 * 85;  // not 64 and 191 classes
  Scheme scheme;
  std::map<std::int64_t, Head> heads;  // by number of places
  for (const Sheet& sheet : evidence.sheets) {
    const int stride = evidence.stride_of(sheet.places);
    if (!sheet.is_map || stride == 0) return {};
    if (sheet.channels == kCocoOfThreeAnchors && evidence.wanted.empty() && !evidence.outputs.classes)
      return {};
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
  scheme.is_certain = true;
  scheme.reason = "maps of 64 channels of distances, as distributions, and of classes";
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

}  // namespace

Match match_yolov8(const Evidence& evidence) {
  const Match pair = match_box_pair(evidence);
  if (pair && (!evidence.strides_for(pair->heads[0].places).empty() || !evidence.wanted.empty())) return pair;
  if (!evidence.is_single() || evidence.sheets[0].is_map) return match_yolov8_maps(evidence);
  Sheet sheet = evidence.sheets[0].turned();
  // Some exports have a row for each place, as others have a column.
  if (evidence.strides_for(sheet.places).empty()) sheet = evidence.sheets[0];
  const bool is_other = evidence.output_of(sheet).is_raw && evidence.wanted.empty();  // its boxes are decoded
  const bool has_scores_first = evidence.content(sheet, 0) == Content::probability;
  if (evidence.strides_for(sheet.places).empty() || sheet.channels < 5 || is_other || has_scores_first ||
      evidence.is_dense(sheet))
    return {};
  const Evidence::Classes classes = evidence.classes_of(sheet, 4);
  if (!evidence.fits_classes(classes.count)) return {};
  Scheme scheme;
  scheme.classes = static_cast<int>(classes.count);
  scheme.box = BoxForm::centre;
  Head head;
  head.places = sheet.places;
  head.box = sheet.field(0);
  head.classes = sheet.field(classes.first);
  scheme.heads = {head};
  scheme.reason = "four coordinates and class scores for each cell of an 8, 16 or 32 pixel grid";
  const std::int64_t behind = sheet.channels - classes.first - classes.count;
  if (behind == 1 && evidence.outputs.metadata.empty())
    throw Problem(
        "has a number behind the class scores, as networks for turned boxes (obb) do, which are not "
        "supported");
  if (behind > 0) scheme.reason += fmt::format("; the {} numbers behind them are no scores", behind);
  scheme.is_certain = evidence.content(sheet, classes.first) == Content::probability;
  if (!scheme.is_certain) settle_boxes(scheme, evidence);
  scheme.preprocessing = as_ultralytics();
  return scheme;
}

namespace {

// First columns of what a row holds.
struct RowOrder {
  std::int64_t box, score, label;
};

// As the output's name says: "batchno_classid_score_x1y1x2y2", "label_xyxy_score".
std::optional<RowOrder> named_order(const std::string& name) {
  if (has_word(name, {"flat_predictions"})) return RowOrder{1, 5, 6};      // of YOLO-NAS
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
  return RowOrder{starts['x'], starts['s'], starts['l']};
}

// As the file makes the columns: the picture's number, four coordinates, and two of which one is a class.
std::optional<RowOrder> made_order(const NetworkOutputs::Output& output, std::int64_t columns) {
  const std::vector<ChannelRun>& runs = output.last_runs;
  const std::size_t parts = columns == 7 ? 4 : 3;
  const std::int64_t first = columns == 7 ? 1 : 0;
  if (runs.size() != parts) return {};
  if (runs[parts - 1].content == Content::label) return RowOrder{first, first + 4, first + 5};
  if (runs[parts - 2].content == Content::label) return RowOrder{first, first + 5, first + 4};
  return {};
}

Scheme rows_scheme(const Evidence& evidence, const RowOrder& order, std::int64_t columns) {
  const NetworkOutputs::Output& output = evidence.outputs.all[0];
  Sheet sheet;
  sheet.place_step = columns;
  Scheme scheme;
  Head head;
  if (output.shape) head.places = elements_of(*output.shape) / columns;
  head.box = sheet.field(order.box);
  head.classes = sheet.field(order.score);
  head.label = sheet.field(order.label);
  scheme.heads = {head};
  scheme.classes = evidence.outputs.classes.value_or(80);
  return scheme;
}

// Whether the test picture has rows, and they fit.
bool fits_rows(const Evidence& evidence, const Scheme& scheme) {
  const Survey seen = survey(scheme, evidence.probe(), evidence.outputs.input);
  return seen.boxes > 0 && sign_of_error(scheme, seen, evidence.outputs.input).empty();
}

}  // namespace

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
  std::optional<RowOrder> order = named_order(all[0].name);
  if (!order && is_paddle) order = RowOrder{2, 1, 0};
  if (!order) order = made_order(all[0], columns);
  const bool is_told = order || has_more || !evidence.metadata("task").empty();
  if (!order)
    order = columns == 7 ? RowOrder{1, 6, 5} : RowOrder{0, 4, 5};  // YOLOv7, with the picture's number
  Scheme scheme = rows_scheme(evidence, *order, columns);
  if (!is_told && !evidence.probe().empty() && !fits_rows(evidence, scheme)) {
    const Scheme other = rows_scheme(evidence, {order->box, order->label, order->score}, columns);
    if (fits_rows(evidence, other)) {
      scheme = other;
      std::swap(order->score, order->label);
    }
  }
  const bool is_dense = evidence.all_known && evidence.is_dense(evidence.sheets[0]);
  scheme.in_picture = is_paddle;
  scheme.suppresses = is_dense;
  scheme.is_certain = is_told;
  scheme.reason = order->label < order->box     ? "rows of class, score and corners"
                  : order->score < order->label ? "rows of corners, score and class"
                                                : "rows of corners, class and score";
  if (is_dense) scheme.reason += ", one for each place, which are not suppressed yet";
  scheme.preprocessing = is_paddle                                  ? as_paddle(evidence)
                         : is_dense && evidence.has_operator("Exp") ? as_bytes_in_bgr(114)
                                                                    : as_ultralytics();
  return scheme;
}

}  // namespace sightline::network
