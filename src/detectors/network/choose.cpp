// Finds out what the outputs of a network mean, by their shapes, names, the operators behind them, and, where
// these leave several readings, by their values for a test picture.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "detectors/network/evidence.hpp"

namespace sightline::network {
namespace {

struct Rule {
  std::string_view name;
  Match (*match)(const Evidence& evidence);
};

// The first that fits is taken.
constexpr Rule kRules[] = {{"classification", match_classification},
                           {"yunet", match_yunet},
                           {"scrfd", match_scrfd},
                           {"retinaface", match_retinaface},
                           {"yolov3", match_darknet},
                           {"yolov5", match_yolov5},
                           {"yolox", match_yolox},
                           {"yolov8", match_yolov8},
                           {"decoded", match_box_pair},
                           {"end_to_end", match_end_to_end},
                           {"nanodet", match_nanodet},
                           {"detr", match_detr},
                           {"ssd", match_ssd},
                           {"fcos", match_fcos},
                           {"centerface", match_centerface},
                           {"centernet", match_centernet},
                           {"fastestdet", match_fastestdet},
                           {"yolov2", match_yolov2},
                           {"yolo-fastestv2", match_yolo_fastest},
                           {"mediapipe", match_mediapipe}};

// Other words for the same.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"classify", "classification"},
    {"yolov7", "yolov5"},
    {"yolov5-lite", "yolov5"},
    {"yolov4", "yolov3"},
    {"efficientdet", "decoded"},
    {"deepstream", "end_to_end"},
    {"tensorflow", "detr"},
    {"torchvision", "detr"},
    {"blazeface", "mediapipe"},
    {"yolo13", "yolov8"},
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

// A sign that a reading is wrong, from the test picture, where the file's structure does not prove it.
std::string doubt_about(const Scheme& scheme, const Evidence& evidence) {
  if (scheme.is_certain || evidence.probe().empty()) return "";
  try {
    return sign_of_error(scheme, survey(scheme, evidence.probe(), evidence.outputs.input),
                         evidence.outputs.input);
  } catch (const Problem& problem) {
    return std::string("the test picture ") + problem.what();
  }
}

// Other rules that the shapes fit.
std::vector<std::string> other_readings(const NetworkOutputs& outputs, std::string_view chosen) {
  NetworkOutputs known = outputs;
  known.probe = nullptr;
  const Evidence evidence(known, "");
  std::vector<std::string> names;
  for (const Rule& rule : kRules) {
    if (rule.name != chosen && rule.match(evidence)) names.emplace_back(rule.name);
  }
  return names;
}

// The first rule that fits without a sign of an error; otherwise the first that fits.
Match first_match(const Evidence& evidence, std::string_view wanted_rule) {
  Match doubtful;
  for (const Rule& rule : kRules) {
    if (!wanted_rule.empty() && rule.name != wanted_rule) continue;
    Match scheme = rule.match(evidence);
    if (!scheme) continue;
    scheme->type = rule.name;
    scheme->doubt = doubt_about(*scheme, evidence);
    scheme->others = other_readings(evidence.outputs, rule.name);
    if (scheme->doubt.empty()) return scheme;
    if (!doubtful) doubtful = scheme;
  }
  return doubtful;
}

// Tries the rules with as many classes as there are names, then with any number: names choose between
// readings that fit, and make none.
Match match_outputs(const NetworkOutputs& outputs, const std::string& word, std::string_view wanted_rule,
                    std::int64_t mask_numbers = 0) {
  Evidence evidence(outputs, word);
  evidence.mask_numbers = mask_numbers;
  Match scheme = first_match(evidence, wanted_rule);
  // Rows that hold class numbers fit any number of names.
  const auto fits_any = [](const Match& match) { return match->heads.front().label.is_there(); };
  if (!outputs.classes || (scheme && !fits_any(scheme))) return scheme;
  NetworkOutputs unnamed = outputs;
  unnamed.classes.reset();
  Evidence other(unnamed, word);
  other.mask_numbers = mask_numbers;
  Match any = first_match(other, wanted_rule);
  return scheme && (!any || fits_any(any)) ? scheme : any;
}

// Some of the outputs.
NetworkOutputs part_of(const NetworkOutputs& outputs, const std::vector<std::size_t>& kept) {
  NetworkOutputs part = outputs;
  part.all.clear();
  for (const std::size_t i : kept) part.all.push_back(outputs.all[i]);
  if (!outputs.probe) return part;
  part.probe = [all = outputs.probe, kept] {
    std::vector<const Tensor*> some;
    const std::vector<const Tensor*> values = all();
    for (const std::size_t i : kept) {
      if (i < values.size()) some.push_back(values[i]);
    }
    return some;
  };
  return part;
}

Match match_part(const NetworkOutputs& outputs, const std::vector<std::size_t>& kept, const std::string& word,
                 std::string_view wanted_rule, std::int64_t mask_numbers = 0) {
  if (kept.empty() || kept.size() == outputs.all.size()) return {};
  Match scheme = match_outputs(part_of(outputs, kept), word, wanted_rule, mask_numbers);
  if (!scheme) return {};
  for (Head& head : scheme->heads) {
    for (Field* field : {&head.classes, &head.objectness, &head.box, &head.points, &head.label}) {
      if (field->is_there()) field->output = static_cast<int>(kept[static_cast<std::size_t>(field->output)]);
    }
  }
  std::string unused;
  for (std::size_t i = 0; i < outputs.all.size(); ++i) {
    if (std::ranges::find(kept, i) == kept.end())
      unused += (unused.empty() ? "'" : ", '") + outputs.all[i].name + "'";
  }
  scheme->reason += "; not used: " + unused;
  return scheme;
}

std::vector<std::size_t> all_but(const NetworkOutputs& outputs, const auto& is_left_out) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < outputs.all.size(); ++i) {
    if (!is_left_out(i)) kept.push_back(i);
  }
  return kept;
}

// How many masks an output holds, as those of Ultralytics: maps of a quarter of the input's sides; 0: none.
std::int64_t masks_in(const NetworkOutputs& outputs, std::size_t i) {
  const auto& shape = outputs.all[i].shape;
  const bool are_masks = shape && shape->size() == 4 && (*shape)[2] == outputs.input.height / 4 &&
                         (*shape)[3] == outputs.input.width / 4;
  return are_masks ? (*shape)[1] : 0;
}

// The reading of all outputs, or of those without ones that are more than is needed.
Match match_any(const NetworkOutputs& outputs, const std::string& word, std::string_view wanted_rule) {
  const std::size_t count = outputs.all.size();
  for (std::size_t i = 0; count == 2 && i < count; ++i) {
    const auto& other = outputs.all[1 - i].shape;
    const std::int64_t masks = masks_in(outputs, i);
    if (masks == 0 || (other && other->size() == 4)) continue;
    if (Match scheme = match_part(outputs, {1 - i}, word, wanted_rule, masks)) return scheme;
  }
  if (Match scheme = match_outputs(outputs, word, wanted_rule)) return scheme;
  const auto is_more = [&](std::size_t i) {
    return has_word(outputs.all[i].name, {"hidden", "embed", "feature", "mask", "proto", "aux", "enc_",
                                          "encoder", "intermediate", "denoising", "reference", "init_"});
  };
  if (Match scheme = match_part(outputs, all_but(outputs, is_more), word, wanted_rule)) return scheme;
  // An output that looks like another one belongs to it.
  const auto has_sibling = [&](std::size_t i) {
    const auto shape_of = [&](std::size_t k) { return outputs.all[k].shape.value_or(Shape{}); };
    const auto channels = [](const Shape& shape) { return shape.size() == 4 ? shape[1] : shape.back(); };
    const Shape own = shape_of(i);
    for (std::size_t k = 0; k < count; ++k) {
      const Shape other = shape_of(k);
      if (k != i && !own.empty() && own.size() == other.size() && channels(own) == channels(other))
        return true;
    }
    return false;
  };
  constexpr std::size_t kMostOutputs = 32;
  Match doubtful;
  for (std::size_t i = count; i-- > 0 && count <= kMostOutputs;) {
    if (has_sibling(i)) continue;
    Match scheme =
        match_part(outputs, all_but(outputs, [&](std::size_t k) { return k == i; }), word, wanted_rule);
    // One that is left of several may be scores of boxes.
    if (scheme && scheme->box == BoxForm::picture) continue;
    if (scheme && scheme->doubt.empty()) return scheme;
    if (!doubtful) doubtful = scheme;
  }
  return doubtful;
}

}  // namespace

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  for (const Rule& rule : kRules) names.push_back(rule.name);
  return names;
}

Scheme choose_scheme(const NetworkOutputs& outputs, const std::string& wanted) {
  const std::string word = in_lower_case(wanted);
  std::string rule = word;
  for (const auto& [alias, own] : kAliases) {
    if (word == alias) rule = own;
  }
  std::string known;
  for (const std::string_view name : scheme_names()) known += (known.empty() ? "" : ", ") + std::string(name);
  if (!rule.empty() && std::ranges::find(kRules, rule, &Rule::name) == std::end(kRules))
    throw Problem("is read as model_type '" + wanted + "', which is not known; known are: " + known);
  const auto task = outputs.metadata.find("task");
  if (task != outputs.metadata.end() && task->second == "obb")
    throw Problem(
        "is made for the task 'obb', which is not supported; detect, segment, pose and classify are");
  if (Match scheme = match_any(outputs, word, rule)) return *scheme;
  if (!rule.empty())
    throw Problem("has outputs that do not fit model_type '" + wanted + "': " + outputs_text(outputs));
  constexpr std::int64_t kCocoOfThreeAnchors = 3 * 85;
  const bool has_anchors = std::ranges::any_of(outputs.all, [](const NetworkOutputs::Output& one) {
    return one.shape &&
           (one.shape->size() == 5 || (one.shape->size() == 4 && (*one.shape)[1] == kCocoOfThreeAnchors));
  });
  if (has_anchors)
    throw Problem(
        "has raw outputs by anchors, whose sizes are not known: " + outputs_text(outputs) +
        "; give them with the key `anchors`, or export YOLOv5 or YOLOv7 with its last layer (--grid)");
  throw Problem("has outputs of no known detector: " + outputs_text(outputs) +
                "; if it is one of these, name it with --model-type (key `model_type`): "_message + known +
                "; otherwise export it with its last step, so that it gives boxes, scores and classes");
}

}  // namespace sightline::network
