#include "detectors/census/model.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "model/check.hpp"
#include "model/header.hpp"
#include "model/safetensors.hpp"

namespace sightline::census {
namespace {

constexpr std::string_view kVersion = "1";
constexpr std::string_view kVersionWithCells = "2";
constexpr double kSmallestUnit = 1e-30, kLargestUnit = 1e30;
constexpr double kSmallestBoxScale = 0.25, kLargestBoxScale = 4;
constexpr double kLargestThreshold = 1e30;

std::string number(std::int64_t value) {
  return std::to_string(value);
}

void check_weak(const Model& model, const ModelCheck& check) {
  check.count("weak classifiers", std::ssize(model.weak), kMaxWeakClassifiers);
  for (std::size_t i = 0; i < model.weak.size(); ++i) {
    const WeakClassifier& weak = model.weak[i];
    const auto fail = [&](const std::string& problem, const std::string& remedy) {
      check.fail("weak classifier " + std::to_string(i) + " (counted from 0) " + problem, remedy);
    };
    if (weak.cell < 1 || weak.cell > kMostCell)
      fail("compares cells of " + number(weak.cell) + " pixels a side", "it must be 1 or 2");
    const int side = kCensusSide * weak.cell;
    if (weak.x + side > model.window.width || weak.y + side > model.window.height) {
      fail("looks at " + number(side) + "x" + number(side) + " pixels at (" + number(weak.x) + ", " +
               number(weak.y) + "), which is not inside the window",
           "the window has " + number(model.window.width) + "x" + number(model.window.height) + " pixels");
    }
    if (weak.weight < 1 || weak.weight > kMaxWeight)
      fail("has a weight out of range", "it must be a whole number from 1 to " + number(kMaxWeight));
  }
}

// True if the ends rise from above 0 to `last`.
template <typename Part>
bool rises(const std::vector<Part>& parts, std::size_t last) {
  int before = 0;
  for (const Part& part : parts) {
    if (part.end <= before) return false;
    before = part.end;
  }
  return static_cast<std::size_t>(before) == last;
}

void check_stages(const Model& model, const ModelCheck& check) {
  check.count("stages", std::ssize(model.stages), kMaxStages);
  if (!rises(model.stages, model.weak.size()))
    check.fail("'stage_ends' does not divide the weak classifiers into stages",
               "ends must rise, to the number of weak classifiers");
  for (std::size_t i = 0; i < model.stages.size(); ++i) {
    const std::int32_t threshold = model.stages[i].threshold;
    if (threshold < 0 || threshold > kMaxThreshold)
      check.fail("stage " + std::to_string(i) + " (counted from 0) has the threshold " + number(threshold),
                 "it must be a whole number from 0 to 2^30");
  }
}

void check_views(const Model& model, const ModelCheck& check) {
  check.count("views", std::ssize(model.views), kMaxViews);
  if (!rises(model.views, model.stages.size()))
    check.fail("'view_ends' does not divide the stages into views",
               "ends must rise, to the number of stages");
  std::set<std::string> names;
  for (const View& view : model.views) {
    if (view.name.empty() || view.name.size() > kMaxLabel || view.name.find(',') != std::string::npos)
      check.fail("a view has no usable name",
                 "it must have 1 to " + std::to_string(kMaxLabel) + " characters, no comma");
    if (!names.insert(view.name).second)
      check.fail("two views are called '" + view.name + "'", "give each a name of its own");
    check.range("'units' holds ", view.unit, kSmallestUnit, kLargestUnit);
  }
}

// Checks everything except the shapes of arrays.
void check_model(const Model& model, const ModelCheck& check) {
  check.label(model.label, kMaxLabel);
  check.window(model.window, kMinWindow, kMaxWindow);
  check.range("'box_scale' is ", model.box_scale, kSmallestBoxScale, kLargestBoxScale);
  check.range("'threshold' is ", model.threshold, -kLargestThreshold, kLargestThreshold);
  check_weak(model, check);
  check_stages(model, check);
  check_views(model, check);
  if (model.survivors.empty()) return;
  for (std::size_t view = 0, begin = 0; view < model.views.size(); ++view) {
    const auto end = static_cast<std::size_t>(model.views[view].end);
    check.falling_shares("survivors", std::span(model.survivors).subspan(begin, end - begin), begin);
    begin = end;
  }
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
    weak.weight = static_cast<std::uint16_t>(weights[i]);  // a negative weight becomes too large
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
    header.fail("'views' has " + std::to_string(names.size()) + " names, but there are " +
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
                "train it again, or use the version that made it");
  Model model;
  model.name = path.stem().string();
  model.label = header.text("label");
  model.window = read_window(header, kMinWindow, kMaxWindow);
  model.threshold = header.number("threshold", -kLargestThreshold, kLargestThreshold);
  model.calibration = ScoreCalibration::read(header);
  if (header.find("box_scale"))
    model.box_scale = header.number("box_scale", kSmallestBoxScale, kLargestBoxScale);
  if (const std::string* provenance = header.find("provenance")) model.provenance = *provenance;
  read_weak(file, model);
  read_stages(file, header, model);
  check_model(model, ModelCheck(header));
  return model;
}

bool looks_like_model(const std::filesystem::path& file) {
  return safetensors_kind(file) == kModelKind;
}

void save_model(const Model& model, const std::filesystem::path& file) {
  if (!model.survivors.empty() && model.survivors.size() != model.stages.size())
    throw std::invalid_argument("survivors are by stage");
  check_model(model, ModelCheck());
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
