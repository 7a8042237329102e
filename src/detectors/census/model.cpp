#include "detectors/census/model.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "model/header.hpp"
#include "model/safetensors.hpp"

namespace sightline::census {
namespace {

constexpr std::string_view kVersion = "1";
constexpr std::string_view kVersionWithCells = "2";
constexpr double kSmallestUnit = 1e-30, kLargestUnit = 1e30;
constexpr double kSmallestBoxScale = 0.25, kLargestBoxScale = 4;
constexpr double kLargestThreshold = 1e30;

// What keeps a model from being used, and what to do about it; the text is empty where nothing does.
struct Problem {
  std::string what;
  std::string remedy;
};

std::string number(std::int64_t value) {
  return std::to_string(value);
}

Problem problem_of_weak(const Model& model) {
  for (std::size_t i = 0; i < model.weak.size(); ++i) {
    const WeakClassifier& weak = model.weak[i];
    const std::string name = "weak classifier " + std::to_string(i) + " (counted from 0) ";
    if (weak.cell < 1 || weak.cell > kMostCell)
      return {name + "compares cells of " + number(weak.cell) + " pixels a side", "they have 1 or 2"};
    const int side = kCensusSide * weak.cell;
    if (weak.x + side > model.window.width || weak.y + side > model.window.height) {
      return {name + "looks at " + number(side) + "x" + number(side) + " pixels at (" + number(weak.x) +
                  ", " + number(weak.y) + "), which do not lie in the window",
              "the window has " + number(model.window.width) + "x" + number(model.window.height) + " pixels"};
    }
    if (weak.weight < 1 || weak.weight > kMaxWeight)
      return {name + "has a weight out of range",
              "it must be a whole number from 1 to " + number(kMaxWeight)};
  }
  return {};
}

// Of ends that must rise from above 0 to `last`.
template <typename Part>
bool rises(const std::vector<Part>& parts, std::size_t last) {
  int before = 0;
  for (const Part& part : parts) {
    if (part.end <= before) return false;
    before = part.end;
  }
  return static_cast<std::size_t>(before) == last;
}

Problem problem_of_stages(const Model& model) {
  if (model.stages.empty() || model.stages.size() > std::size_t{kMaxStages})
    return {"there are " + std::to_string(model.stages.size()) + " stages",
            "a model has 1 to " + number(kMaxStages)};
  if (!rises(model.stages, model.weak.size()))
    return {"'stage_ends' does not divide the weak classifiers into stages",
            "ends must rise, to the number of weak classifiers"};
  for (std::size_t i = 0; i < model.stages.size(); ++i) {
    const std::int32_t threshold = model.stages[i].threshold;
    if (threshold < 0 || threshold > kMaxThreshold)
      return {"stage " + std::to_string(i) + " (counted from 0) has the threshold " + number(threshold),
              "it must be a whole number from 0 to 2^30"};
  }
  return {};
}

Problem problem_of_views(const Model& model) {
  if (model.views.empty() || model.views.size() > std::size_t{kMaxViews})
    return {"there are " + std::to_string(model.views.size()) + " views",
            "a model has 1 to " + number(kMaxViews)};
  if (!rises(model.views, model.stages.size()))
    return {"'view_ends' does not divide the stages into views", "ends must rise, to the number of stages"};
  std::set<std::string> names;
  for (const View& view : model.views) {
    if (view.name.empty() || view.name.size() > kMaxLabel || view.name.find(',') != std::string::npos)
      return {"a view has no usable name",
              "it must have 1 to " + std::to_string(kMaxLabel) + " characters, no comma"};
    if (!names.insert(view.name).second)
      return {"two views are called '" + view.name + "'", "each has its own name"};
    if (!(view.unit >= kSmallestUnit && view.unit <= kLargestUnit))
      return {"'units' is out of range", "it must hold numbers above 0, up to 1e30"};
  }
  return {};
}

Problem problem_of_survivors(const Model& model) {
  for (std::size_t view = 0, i = 0; view < model.views.size() && !model.survivors.empty(); ++view) {
    float before = 1;
    for (; i < static_cast<std::size_t>(model.views[view].end); ++i) {
      const float share = model.survivors[i];
      if (!(share >= 0 && share <= before)) {
        return {"'survivors' holds " + std::to_string(share) + " at " + std::to_string(i),
                "shares lie between 0 and 1, and none of a view is larger than the one before"};
      }
      before = share;
    }
  }
  return {};
}

// All that a file may get wrong beside the shapes of its arrays.
Problem problem_of(const Model& model) {
  if (model.label.empty() || model.label.size() > kMaxLabel)
    return {"'label' must have 1 to " + std::to_string(kMaxLabel) + " characters", ""};
  for (const int side : {model.window.width, model.window.height}) {
    if (side < kMinWindow || side > kMaxWindow) {
      return {"'window' is " + number(model.window.width) + "x" + number(model.window.height),
              "each side must be a whole number from " + number(kMinWindow) + " to " + number(kMaxWindow)};
    }
  }
  if (model.weak.empty() || model.weak.size() > std::size_t{kMaxWeakClassifiers}) {
    return {"there are " + std::to_string(model.weak.size()) + " weak classifiers",
            "a model has 1 to " + number(kMaxWeakClassifiers)};
  }
  if (!(model.box_scale >= kSmallestBoxScale && model.box_scale <= kLargestBoxScale))
    return {"'box_scale' is out of range", "it must be a number between 0.25 and 4"};
  if (!(std::abs(model.threshold) <= kLargestThreshold))
    return {"'threshold' is out of range", "it must be a number between -1e30 and 1e30"};
  for (const auto check : {problem_of_weak, problem_of_stages, problem_of_views, problem_of_survivors}) {
    if (Problem problem = check(model); !problem.what.empty()) return problem;
  }
  return {};
}

// A side that is no whole number, or too large for any window, becomes 0, which no window has either.
Size read_window(const ModelHeader& header) {
  const std::vector<double> sides = header.numbers("window", 2, 'x');
  const auto side = [](double value) {
    return value >= 0 && value <= kMaxWindow && value == std::floor(value) ? static_cast<int>(value) : 0;
  };
  return {side(sides[0]), side(sides[1])};
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void read_weak(const Safetensors& file, Model& model) {
  const auto places = file.array<std::uint8_t>("places", {Safetensors::kAny, 2});
  const auto count = static_cast<std::int64_t>(places.size() / 2);
  const auto codes = file.array<std::uint8_t>("codes", {count, kSetBytes});
  const auto weights = file.array<std::int16_t>("weights", {count});
  const bool has_cells = file.contains("cells");
  const auto cells = has_cells ? file.array<std::uint8_t>("cells", {count}) : decltype(places)();
  model.weak.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < model.weak.size(); ++i) {
    WeakClassifier& weak = model.weak[i];
    weak.x = places[2 * i];
    weak.y = places[2 * i + 1];
    weak.weight = static_cast<std::uint16_t>(weights[i]);  // of a negative one, too large
    std::copy_n(codes.begin() + static_cast<std::ptrdiff_t>(i * kSetBytes), kSetBytes, weak.codes.begin());
    if (has_cells) weak.cell = cells[i];
  }
}

void read_stages(const Safetensors& file, const ModelHeader& header, Model& model) {
  const auto ends = file.array<std::int32_t>("stage_ends", {Safetensors::kAny});
  const auto count = static_cast<std::int64_t>(ends.size());
  const auto thresholds = file.array<std::int32_t>("stage_thresholds", {count});
  for (std::size_t i = 0; i < ends.size(); ++i) model.stages.push_back({ends[i], thresholds[i]});
  const auto view_ends = file.array<std::int32_t>("view_ends", {Safetensors::kAny});
  const auto units = file.array<double>("units", {static_cast<std::int64_t>(view_ends.size())});
  const std::vector<std::string> names = split(header.text("views"));
  if (names.size() != view_ends.size()) {
    header.fail("'views' has " + std::to_string(names.size()) + " names, and there are " +
                std::to_string(view_ends.size()) + " views");
  }
  for (std::size_t i = 0; i < names.size(); ++i) model.views.push_back({names[i], view_ends[i], units[i]});
  if (!file.contains("survivors")) return;
  const auto survivors = file.array<float>("survivors", {count});
  model.survivors.assign(survivors.begin(), survivors.end());
}

}  // namespace

int Model::most_stages() const {
  int most = 0, begin = 0;
  for (const View& view : views) most = std::max(most, view.end - std::exchange(begin, view.end));
  return most;
}

int Model::most_cell() const {
  int most = 1;
  for (const WeakClassifier& one : weak) most = std::max<int>(most, one.cell);
  return most;
}

Model load_model(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Safetensors file = Safetensors::load(path, max_bytes);
  const ModelHeader header(file, path);
  header.expect("kind", kModelKind, "choose a census cascade, or the configuration that fits this model");
  header.expect("version", file.contains("cells") ? kVersionWithCells : kVersion,
                "train it again, or use the program that it was made for");
  Model model;
  model.name = path.stem().string();
  model.label = header.text("label");
  model.window = read_window(header);
  model.threshold = header.number("threshold", -kLargestThreshold, kLargestThreshold);
  model.calibration = ScoreCalibration::read(header);
  if (header.find("box_scale"))
    model.box_scale = header.number("box_scale", kSmallestBoxScale, kLargestBoxScale);
  if (const std::string* provenance = header.find("provenance")) model.provenance = *provenance;
  read_weak(file, model);
  read_stages(file, header, model);
  const Problem problem = problem_of(model);
  if (!problem.what.empty()) header.fail(problem.what, problem.remedy);
  return model;
}

bool looks_like_model(const std::filesystem::path& file) {
  return safetensors_kind(file) == kModelKind;
}

void save_model(const Model& model, const std::filesystem::path& file) {
  if (!model.survivors.empty() && model.survivors.size() != model.stages.size())
    throw std::invalid_argument("survivors are by stage");
  if (const Problem problem = problem_of(model); !problem.what.empty())
    throw std::invalid_argument(problem.what + "; " + problem.remedy);
  const bool has_cells = model.most_cell() > 1;
  std::vector<std::uint8_t> places, codes, cells;
  std::vector<std::int16_t> weights;
  for (const WeakClassifier& weak : model.weak) {
    places.insert(places.end(), {weak.x, weak.y});
    codes.insert(codes.end(), weak.codes.begin(), weak.codes.end());
    weights.push_back(static_cast<std::int16_t>(weak.weight));
    cells.push_back(weak.cell);
  }
  std::vector<std::int32_t> ends, thresholds, view_ends;
  for (const Stage& stage : model.stages) {
    ends.push_back(stage.end);
    thresholds.push_back(stage.threshold);
  }
  std::vector<double> units;
  std::string names;
  for (const View& view : model.views) {
    view_ends.push_back(view.end);
    units.push_back(view.unit);
    names += (names.empty() ? "" : ",") + view.name;
  }
  const auto length = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  Safetensors container;
  container.metadata = {
      {"kind", std::string(kModelKind)},
      {"version", std::string(has_cells ? kVersionWithCells : kVersion)},
      {"label", model.label},
      {"window", std::to_string(model.window.width) + "x" + std::to_string(model.window.height)},
      {"views", names},
      {"threshold", join_numbers({model.threshold}, ',')},
  };
  if (model.box_scale != 1) container.metadata["box_scale"] = join_numbers({model.box_scale}, ',');
  if (!model.calibration.empty()) container.metadata["calibration"] = model.calibration.to_text();
  if (!model.provenance.empty()) container.metadata["provenance"] = model.provenance;
  container.set<std::uint8_t>("places", {length(model.weak), 2}, places);
  container.set<std::uint8_t>("codes", {length(model.weak), kSetBytes}, codes);
  container.set<std::int16_t>("weights", {length(weights)}, weights);
  if (has_cells) container.set<std::uint8_t>("cells", {length(cells)}, cells);
  container.set<std::int32_t>("stage_ends", {length(ends)}, ends);
  container.set<std::int32_t>("stage_thresholds", {length(thresholds)}, thresholds);
  container.set<std::int32_t>("view_ends", {length(view_ends)}, view_ends);
  container.set<double>("units", {length(units)}, units);
  if (!model.survivors.empty()) container.set<float>("survivors", {length(model.survivors)}, model.survivors);
  container.save(file);
}

}  // namespace sightline::census
