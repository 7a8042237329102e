// The predicates that rows ask of outputs by shapes and names.
#include <algorithm>

#include "detectors/network/output_rows.hpp"

namespace sightline::network {
namespace {

// Channels of a part; 0: those that the other parts leave.
std::int64_t fixed_channels(const Evidence& evidence, const OutputPart& part) {
  constexpr int kCocoClasses = 80;
  if (part.channels == kNamed) return evidence.outputs.classes.value_or(kCocoClasses);
  return part.channels > 0 && part.channels < kNamed ? part.channels : 0;
}

bool fits(const Evidence& evidence, const OutputPart& part, std::int64_t channels) {
  constexpr std::int64_t kMostBins = 64;
  if (part.channels == kFourSides) return channels >= 4 && channels % 4 == 0 && channels <= 4 * kMostBins;
  const std::int64_t fixed = fixed_channels(evidence, part);
  return fixed > 0 ? channels == fixed
                   : evidence.fits_classes(channels) && part.channels != any_but(channels);
}

// Gives channels of a sheet to a part.
void put(Reading& reading, Head& head, const OutputPart& part, const Sheet& sheet, std::int64_t first,
         std::int64_t channels) {
  if (!part.field) return;
  Scheme& scheme = reading.scheme;
  head.*part.field = sheet.field(first);
  if (part.field == &Head::box) reading.boxes = sheet;
  if (part.field == &Head::points) scheme.points = static_cast<int>(channels / 2);
  if (part.channels == kFourSides && channels != 4) {
    scheme.box = BoxForm::distribution;
    scheme.bins = static_cast<int>(channels / 4);
  }
  if (part.field != &Head::classes) return;
  reading.scores = sheet;
  reading.scores.first_class = first;
  scheme.classes = static_cast<int>(channels);
}

// All parts in turn from one output.
bool take_joined(const Evidence& evidence, const OutputRow& row, const Sheet& sheet, Head& head,
                 Reading& reading) {
  std::int64_t rest = sheet.channels, next = 0;
  for (const OutputPart& part : row.parts) rest -= part.is_optional ? 0 : fixed_channels(evidence, part);
  for (const OutputPart& part : row.parts) {
    if (part.is_optional) continue;
    const std::int64_t fixed = fixed_channels(evidence, part);
    Evidence::Classes taken{next, fixed > 0 ? fixed : rest};
    next += taken.count;
    if (part.channels == kAmong) taken = evidence.classes_of(sheet, taken.first);
    if (part.channels == kBefore && evidence.has_more_than_boxes() && evidence.outputs.classes)
      taken.count = std::min<std::int64_t>(taken.count, *evidence.outputs.classes);
    if (!fits(evidence, part, taken.count)) return false;
    put(reading, head, part, sheet, taken.first, taken.count);
  }
  return true;
}

// Each part from an output of its own: the first that fits it and no part before.
bool take_apart(const Evidence& evidence, const OutputRow& row, std::vector<Sheet> sheets, Head& head,
                Reading& reading) {
  ScoreFunction& activation = reading.scheme.activation;
  for (const OutputPart& part : row.parts) {
    if (part.field && (head.*part.field).is_there()) continue;
    const auto found = std::ranges::find_if(sheets, [&](const Sheet& sheet) {
      return fits(evidence, part, sheet.channels) &&
             (!*part.words || has_word(evidence.output_of(sheet).name, part.words));
    });
    if (found == sheets.end()) continue;
    const bool are_probabilities =
        found->is_probability && (reading.scheme.heads.empty() || activation == ScoreFunction::none);
    if (part.field == &Head::classes)
      activation = are_probabilities ? ScoreFunction::none : row.scheme.activation;
    put(reading, head, part, *found, 0, found->channels);
    sheets.erase(found);
  }
  return sheets.empty() && std::ranges::all_of(row.parts, [&](const OutputPart& part) {
           return part.is_optional || (head.*part.field).is_there();
         });
}

struct Grid {
  int stride = 0;
  std::int64_t anchors = 1;
};

// Grids of MediaPipe's networks for faces and palms, in the order of their rows; empty unless they have so
// many.
std::vector<Grid> mediapipe_grids(const Evidence& evidence, std::int64_t places) {
  const std::vector<Grid> known[] = {{{8, 2}, {16, 6}}, {{16, 2}, {32, 6}}, {{8, 2}, {16, 2}, {32, 6}},
                                     {{4, 1}},          {{8, 2}},           {{16, 6}},
                                     {{16, 2}},         {{32, 6}}};
  for (const std::vector<Grid>& grids : known) {
    std::int64_t sum = 0;
    for (const Grid& grid : grids) sum += grid.anchors * evidence.cells(grid.stride);
    if (sum == places) return grids;
  }
  return {};
}

// Adds heads for the places of `head`, one for each stride unless they are not cut.
bool cut(const Evidence& evidence, const OutputRow& row, Head head, std::int64_t places, Reading& reading) {
  std::vector<Grid> grids;
  if (row.cells == Cells::mediapipe) {
    grids = mediapipe_grids(evidence, places);
  } else if (row.cells == Cells::stride) {
    const int stride = places % row.anchors == 0 ? evidence.stride_of(places / row.anchors) : 0;
    if (stride > 0) grids = {{stride, row.anchors}};
  } else if (row.cells != Cells::any) {
    for (const int stride : evidence.strides_for(places, row.anchors)) grids.push_back({stride, row.anchors});
  }
  if (row.cells == Cells::any || row.cells == Cells::strides_uncut) {
    head.places = places;
    reading.scheme.heads.push_back(head);
    return row.cells == Cells::any || !grids.empty();
  }
  for (const auto& [stride, anchors] : grids) {
    head = evidence.with_cells(head, stride, anchors);
    reading.scheme.heads.push_back(head);
    for (Field* const field : head.fields()) field->offset += head.places * field->place_step;
  }
  return !grids.empty();
}

}  // namespace

Match match(const OutputRow& row, const Evidence& evidence) {
  Reading reading{row.scheme};
  reading.scheme.type = row.type;
  reading.scheme.is_certain = !row.is_doubtful;
  if (row.is_in_fractions) set_fractions(reading.scheme, evidence);
  if (row.only_as_told && evidence.wanted.empty()) return {};
  if (!row.look(evidence, row, reading) ||
      (row.refine && !row.refine(evidence, reading.boxes, reading.scores, reading.scheme)))
    return {};
  return reading.scheme;
}

bool one_sheet(const Evidence& evidence, const OutputRow& row, Reading& reading) {
  const std::vector<NetworkOutputs::Output>& all = evidence.outputs.all;
  const auto maps_beside = std::ranges::count_if(
      all, [](const NetworkOutputs::Output& one) { return one.shape && one.shape->size() == 5; });
  if (evidence.sheets.size() != 1 || all.size() != static_cast<std::size_t>(maps_beside + 1) ||
      (maps_beside > 0 && row.anchors == 1))
    return false;
  const Sheet& sheet = evidence.sheets[0];
  if (row.are_maps.value_or(sheet.is_map) != sheet.is_map) return false;
  const bool is_turned = row.may_turn && !evidence.strides_for(sheet.channels).empty();
  const Sheet rows = is_turned ? sheet.turned() : sheet;
  Head head;
  return take_joined(evidence, row, rows, head, reading) && cut(evidence, row, head, rows.places, reading);
}

bool groups(const Evidence& evidence, const OutputRow& row, Reading& reading) {
  std::map<std::int64_t, std::vector<Sheet>, std::greater<>> by_places;
  for (const Sheet& one : evidence.sheets) {
    const Sheet sheet = row.has_either_layout ? evidence.as_map(one) : one;
    if (row.are_maps.value_or(sheet.is_map) != sheet.is_map) return false;
    by_places[sheet.places].push_back(sheet);
  }
  if (!evidence.all_known || by_places.size() < row.groups[0] || by_places.size() > row.groups[1])
    return false;
  const Scheme& scheme = reading.scheme;
  for (const auto& [places, sheets] : by_places) {
    const int classes = scheme.classes;
    Head head;
    const bool is_taken = row.may_join && sheets.size() == 1
                              ? take_joined(evidence, row, sheets[0], head, reading)
                              : take_apart(evidence, row, sheets, head, reading);
    const bool is_alike =
        scheme.heads.empty() ||
        (scheme.classes == classes && scheme.heads[0].points.is_there() == head.points.is_there());
    if (!is_taken || !is_alike || !cut(evidence, row, head, places, reading)) return false;
  }
  return true;
}

bool box_pair(const Evidence& evidence, const OutputRow& row, Reading& reading) {
  if (!evidence.all_known || evidence.sheets.size() != 2) return false;
  const auto is_named = [&](const Sheet& sheet) {
    return has_word(evidence.output_of(sheet).name, "box dets loc reg coord");
  };
  Sheet& boxes = reading.boxes;
  Sheet& scores = reading.scores;
  for (const std::size_t i : {0U, 1U}) {
    Sheet one = evidence.sheets[i], other = evidence.sheets[1 - i];
    if (one.channels != 4 && one.places == 4) one = one.turned();
    if (other.places != one.places) other = other.turned();
    if (one.is_map || other.is_map || one.channels != 4 || other.places != one.places) continue;
    // If both outputs could be the boxes, the one named so is; otherwise the one that is no probability.
    const bool is_better =
        boxes.places == 0 ||
        (is_named(one) != is_named(boxes) ? is_named(one) : !one.is_probability && boxes.is_probability);
    if (!is_better) continue;
    boxes = one;
    scores = other;
  }
  if (boxes.places == 0) return false;
  Head head;
  put(reading, head, {&Head::box}, boxes, 0, 4);
  put(reading, head, {&Head::classes}, scores, 0, scores.channels);
  return cut(evidence, row, head, boxes.places, reading);
}

}  // namespace sightline::network
