// Finds out what the outputs of a network mean, by their shapes, names, the operators behind them, and, where
// these leave several readings, by their values for a test picture.
#include <fmt/format.h>

#include <algorithm>

#include "detectors/network/output_rows.hpp"

namespace sightline::network {
namespace {

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

// Other types that the shapes fit.
std::vector<std::string> other_readings(const NetworkOutputs& outputs, std::string_view chosen) {
  NetworkOutputs known = outputs;
  known.probe = nullptr;
  const Evidence evidence(known, "");
  std::vector<std::string> names;
  for (const OutputRow& row : output_rows()) {
    if (row.type != chosen && (names.empty() || names.back() != row.type) && match(row, evidence))
      names.emplace_back(row.type);
  }
  return names;
}

// The reading of the first type that fits without a sign of an error; otherwise of the first that fits. A
// type's first row that fits is its reading.
Match first_match(const Evidence& evidence, std::string_view wanted_type) {
  Match doubtful;
  std::string_view seen;
  for (const OutputRow& row : output_rows()) {
    if (row.type == seen || (!wanted_type.empty() && row.type != wanted_type)) continue;
    Match scheme = match(row, evidence);
    if (!scheme) continue;
    seen = row.type;
    scheme->doubt = doubt_about(*scheme, evidence);
    scheme->others = other_readings(evidence.outputs, row.type);
    if (scheme->doubt.empty()) return scheme;
    if (!doubtful) doubtful = scheme;
  }
  return doubtful;
}

// Tries the rows with as many classes as there are names, then with any number: names choose between
// readings that fit, and make none.
Match match_outputs(const NetworkOutputs& outputs, const std::string& word, std::string_view wanted_type,
                    std::int64_t mask_numbers = 0) {
  Match scheme = first_match(Evidence(outputs, word, mask_numbers), wanted_type);
  // Rows that hold class numbers fit any number of names.
  const auto fits_any = [](const Match& match) { return match->heads.front().label.is_there(); };
  if (!outputs.classes || (scheme && !fits_any(scheme))) return scheme;
  NetworkOutputs unnamed = outputs;
  unnamed.classes.reset();
  Match any = first_match(Evidence(unnamed, word, mask_numbers), wanted_type);
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
                 std::string_view wanted_type, std::int64_t mask_numbers = 0) {
  if (kept.empty() || kept.size() == outputs.all.size()) return {};
  Match scheme = match_outputs(part_of(outputs, kept), word, wanted_type, mask_numbers);
  if (!scheme) return {};
  for (Head& head : scheme->heads) {
    for (Field* const field : head.fields()) {
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
Match match_any(const NetworkOutputs& outputs, const std::string& word, std::string_view wanted_type) {
  const std::size_t count = outputs.all.size();
  for (std::size_t i = 0; count == 2 && i < count; ++i) {
    const auto& other = outputs.all[1 - i].shape;
    const std::int64_t masks = masks_in(outputs, i);
    if (masks == 0 || (other && other->size() == 4)) continue;
    if (Match scheme = match_part(outputs, {1 - i}, word, wanted_type, masks)) return scheme;
  }
  if (Match scheme = match_outputs(outputs, word, wanted_type)) return scheme;
  const auto is_more = [&](std::size_t i) {
    return has_word(
        outputs.all[i].name,
        "hidden embed feature mask proto aux enc_ encoder intermediate denoising reference init_");
  };
  if (Match scheme = match_part(outputs, all_but(outputs, is_more), word, wanted_type)) return scheme;
  // An output that looks like another one belongs to it.
  const auto look_of = [](const NetworkOutputs::Output& one) {
    const Shape shape = one.shape.value_or(Shape{});
    return std::pair(shape.size(), shape.empty() ? 0 : shape[shape.size() == 4 ? 1 : shape.size() - 1]);
  };
  const auto has_sibling = [&](std::size_t i) {
    const auto look = look_of(outputs.all[i]);
    return look.first > 0 && std::ranges::count(outputs.all, look, look_of) > 1;
  };
  constexpr std::size_t kMostOutputs = 32;
  Match doubtful;
  for (std::size_t i = count; i-- > 0 && count <= kMostOutputs;) {
    if (has_sibling(i)) continue;
    Match scheme =
        match_part(outputs, all_but(outputs, [&](std::size_t k) { return k == i; }), word, wanted_type);
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
  for (const OutputRow& row : output_rows()) {
    if (names.empty() || names.back() != row.type) names.push_back(row.type);
  }
  return names;
}

Scheme choose_scheme(const NetworkOutputs& outputs, const std::string& wanted) {
  const std::string word = in_lower_case(wanted);
  std::string_view type;
  for (const OutputRow& row : output_rows()) {
    if (word.empty()) break;
    if (word == row.type ||
        fmt::format(" {} ", row.also).find(fmt::format(" {} ", word)) != std::string::npos)
      type = row.type;
  }
  std::string known;
  for (const std::string_view name : scheme_names()) known += (known.empty() ? "" : ", ") + std::string(name);
  if (!word.empty() && type.empty())
    throw Problem("is read as model_type '" + wanted + "', which is not known; known are: " + known);
  const auto task = outputs.metadata.find("task");
  if (task != outputs.metadata.end() && task->second == "obb")
    throw Problem(
        "is made for the task 'obb', which is not supported; detect, segment, pose and classify are");
  if (Match scheme = match_any(outputs, word, type)) return *scheme;
  if (!word.empty())
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
