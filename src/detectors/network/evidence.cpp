#include "detectors/network/evidence.hpp"

#include <cmath>
#include <cstdio>

namespace sightline::network {
namespace {

// Runs of a sheet's channels; empty unless all are known.
std::span<const ChannelRun> runs_of(const Evidence& evidence, const Sheet& sheet) {
  const NetworkOutputs::Output& output = evidence.output_of(sheet);
  const std::vector<ChannelRun>& runs = sheet.is_last ? output.last_runs : output.first_runs;
  std::int64_t sum = 0;
  for (const ChannelRun& run : runs) sum += run.count < 0 ? sheet.channels + 1 : run.count;
  return sum == sheet.channels ? std::span<const ChannelRun>(runs) : std::span<const ChannelRun>();
}

// Numbers behind the classes that Ultralytics' metadata tell: of points, as in kpt_shape "[17, 3]"; 0: none.
std::int64_t point_numbers(const Evidence& evidence) {
  int points = 0, numbers = 0;
  const std::string text = evidence.metadata("kpt_shape");
  return std::sscanf(text.c_str(), "%*[^0-9]%4d%*[^0-9]%4d", &points, &numbers) == 2 ? points * numbers : 0;
}

}  // namespace

Sheet Evidence::as_map(const Sheet& sheet) const {
  const Shape& shape = *output_of(sheet).shape;
  const bool is_map = shape.size() == 4 && shape[0] == 1;
  const int stride = is_map ? stride_of(shape[1] * shape[2]) : 0;
  if (stride == 0 || shape[2] != columns(stride) || stride_of(shape[2] * shape[3]) > 0) return sheet;
  Sheet last = sheet;
  last.is_last = true;
  last.channels = last.place_step = shape[3];
  last.channel_step = 1;
  last.places = shape[1] * shape[2];
  last.columns = shape[2];
  return last;
}

Content Evidence::content(const Sheet& sheet, std::int64_t channel) const {
  std::int64_t end = 0;
  for (const ChannelRun& run : runs_of(*this, sheet)) {
    end += run.count;
    if (channel < end) return run.content;
  }
  return Content::other;
}

bool Evidence::has_boundary(const Sheet& sheet, std::int64_t channel) const {
  std::int64_t end = 0;
  return std::ranges::any_of(runs_of(*this, sheet),
                             [&](const ChannelRun& run) { return (end += run.count) == channel; });
}

std::optional<Evidence::Range> Evidence::range(const Sheet& sheet, std::int64_t channel) const {
  const Tensor* const values = values_of(sheet);
  if (!values || sheet.places == 0) return {};
  Range range;
  for (std::int64_t place = 0; place < sheet.places; ++place) {
    const float value = sheet.at(*values, place, channel);
    range.smallest = place == 0 ? value : std::min(range.smallest, value);
    range.largest = place == 0 ? value : std::max(range.largest, value);
    range.is_whole &= value == std::floor(value);
  }
  return range;
}

Evidence::Classes Evidence::classes_of(const Sheet& sheet, std::int64_t first) const {
  const std::int64_t rest = sheet.channels - first;
  const std::int64_t behind = metadata("task") == "pose" ? point_numbers(*this) : mask_numbers;
  if (behind > 0 && behind < rest) return {first, rest - behind};
  if (content(sheet, first) == Content::raw) return {first, rest};
  std::vector<bool> are_scores;
  for (std::int64_t c = first; c < sheet.channels; ++c)
    are_scores.push_back(content(sheet, c) == Content::probability);
  if (std::ranges::find(are_scores, true) == are_scores.end()) {
    for (std::int64_t c = 0; c < rest; ++c) {
      const std::optional<Range> values = range(sheet, first + c);
      if (!values) return {first, rest};
      are_scores[static_cast<std::size_t>(c)] = values->is_share();
    }
  }
  const std::int64_t leading = std::ranges::find(are_scores, false) - are_scores.begin();
  if (leading > 0) return {first, leading};
  const std::int64_t trailing =
      std::find(are_scores.rbegin(), are_scores.rend(), false) - are_scores.rbegin();
  return trailing > 0 ? Classes{sheet.channels - trailing, trailing} : Classes{first, rest};
}

bool Evidence::is_dense(const Sheet& sheet) const {
  constexpr std::int64_t kColumns = 6, kScore = 4, kLabel = 5;
  if (sheet.is_map || sheet.channels != kColumns || !has_all_places(sheet.places)) return false;
  if (content(sheet, kLabel) != Content::other) return content(sheet, kLabel) == Content::label;
  const std::optional<Range> score = range(sheet, kScore), label = range(sheet, kLabel);
  return score && label && score->is_share() && !score->is_whole && label->is_whole && label->smallest >= 0;
}

void settle_boxes(Scheme& scheme, const Evidence& evidence) {
  if (evidence.probe().empty()) return;
  const Size input = evidence.outputs.input;
  struct Way {
    BoxForm form;
    bool is_fraction;
    const char* text;
  };
  constexpr Way kWays[] = {{BoxForm::corners, false, "corners in pixels"},
                           {BoxForm::corners, true, "corners in parts of the input"},
                           {BoxForm::centre, false, "centre and size in pixels"},
                           {BoxForm::centre, true, "centre and size in parts of the input"}};
  Scheme usual = scheme;
  const auto fits = [&](const Scheme& one) {
    const Survey seen = survey(one, evidence.probe(), input);
    return seen.boxes == 0 || sign_of_error(one, seen, input).empty();
  };
  // Centres and sizes of many boxes never look like corners throughout.
  constexpr std::int64_t kMany = 64;
  Scheme corners = usual;
  corners.box = BoxForm::corners;
  const Survey as_corners = survey(corners, evidence.probe(), input);
  const bool are_corners =
      usual.box == BoxForm::centre && as_corners.boxes >= kMany && as_corners.inverted == 0;
  if (!are_corners && fits(usual)) return;
  for (const Way& way : kWays) {
    scheme.box = way.form;
    scheme.unit_x = way.is_fraction ? static_cast<float>(input.width) : 1;
    scheme.unit_y = way.is_fraction ? static_cast<float>(input.height) : 1;
    if (!fits(scheme)) continue;
    scheme.reason += std::string(" (") + way.text + ", as a test picture shows)";
    return;
  }
  scheme = usual;
}

}  // namespace sightline::network
