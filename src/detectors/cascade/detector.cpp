#include "detectors/cascade/detector.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "detectors/cascade/mirror.hpp"
#include "detectors/cascade/survivors.hpp"
#include "image/integral.hpp"
#include "processing/opencl/kernel_variant.hpp"

namespace sightline::cascade {
namespace {

// Names by ResourceIndex.
constexpr std::string_view kResources[] = {"frame",     "images",     "integrals",
                                           "survivors", "candidates", "detections"};
constexpr StageInfo kStages[] = {
    {"pyramid", {kFrameResource}, {kImages}, true}, {"integral", {kImages}, {kIntegrals}, true},
    {"scan", {kIntegrals}, {kSurvivors}, true},     {"finish", {kIntegrals, kSurvivors}, {kCandidates}},
    {"group", {kCandidates}, {kDetections}},
};

constexpr double kSmallestStep = 1.001;

// Work a task: enough to be worth it, little enough to spread over the threads.
constexpr int kImageRows = 32;
constexpr int kBandWindows = 4096;
constexpr std::size_t kChunk = 64;  // survivors

CascadeWorkspace& own(Workspace& workspace) {
  return static_cast<CascadeWorkspace&>(workspace);
}

std::string label_of(const std::string& name) {
  for (const std::string prefix : {"haarcascade_", "lbpcascade_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// Folders of OpenCV's cascades, in search order.
std::vector<std::filesystem::path> opencv_folders() {
  std::vector<std::filesystem::path> folders;
  for (const char* root : {"/usr/share/opencv4", "/usr/local/share/opencv4", "/usr/share/opencv"}) {
    for (const char* kind : {"haarcascades", "lbpcascades"})
      folders.push_back(std::filesystem::path(root) / kind);
  }
  return folders;
}

// The file of a cascade that ships with OpenCV; empty if there is none of that name.
std::filesystem::path find_shipped(const std::string& name) {
  namespace fs = std::filesystem;
  if (name.empty() || name.find('/') != std::string::npos) return {};
  const std::string file = name.ends_with(".xml") ? name : name + ".xml";
  std::error_code error;
  for (const fs::path& folder : opencv_folders()) {
    if (fs::exists(folder / file, error)) return folder / file;
  }
  return {};
}

}  // namespace

CascadeDetector::CascadeDetector(Model model, const Options& options)
    : SlidingWindowDetector(options.max_candidates), model_(std::move(model)), options_(options) {
  const Search& search = options_.search;
  if (!(search.scale_step >= kSmallestStep))
    throw Error(ExitCode::usage, "the scale step must be above 1",
                "give a --scale-step of 1.05 to 1.5"_message);
  if (options_.min_neighbors < 0)
    throw Error(ExitCode::usage, "--min-neighbors is negative"_message,
                "give --min-neighbors=0 or more"_message);
  const bool limited = search.max_size.height > 0;
  if (limited &&
      (search.max_size.height < search.min_size.height || search.max_size.width < search.min_size.width))
    throw Error(ExitCode::usage, "the largest object size is below the smallest",
                "give a larger --max-size"_message);
  check_kernel_variant(options_.kernels, kKernelVariants);
  const int stages = static_cast<int>(model_.stages.size());
  early_stages_ = std::min(options_.early_stages > 0 ? options_.early_stages : stages, stages);

  tunable_ = {"early_stages", stages, {}};
  for (const int choice : {2, 4, 8, 12}) {
    if (choice < stages) tunable_.choices.push_back(choice);
  }

  info_.family = "cascade";
  info_.model = model_.name + ", " + (model_.kind == FeatureKind::lbp ? "LBP" : "Haar") + ", " +
                counted(stages, "stage");
  info_.labels = {options_.label.empty() ? label_of(model_.name) : options_.label};
  info_.smallest_objects = {static_cast<double>(std::max(model_.window.height, search.min_size.height))};
  info_.scale_step = search.scale_step;
  info_.threshold = options_.threshold;
}

std::span<const std::string_view> CascadeDetector::resources() const {
  return kResources;
}

std::span<const StageInfo> CascadeDetector::stages() const {
  return kStages;
}

std::unique_ptr<Workspace> CascadeDetector::make_workspace() const {
  return std::make_unique<CascadeWorkspace>();
}

bool CascadeDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  CascadeWorkspace& w = own(workspace);
  w.early_stages = w.tuned > 0 ? std::min(w.tuned, tunable_.largest) : early_stages_;
  for (InterStageBuffer* buffer : {&w.images, &w.integrals}) buffer->bind(nullptr);
  w.survivors.clear();
  w.begin(
      frame, partition, [&] { lay_out(w); }, [&] { plan_partition(w, partition); });
  return !w.layout.levels.empty();
}

// Geometry and memory of all levels, for frames of this size.
void CascadeDetector::lay_out(CascadeWorkspace& w) const {
  const Size frame = w.frame.size();
  w.layout = plan_layout(frame, model_, options_.search);
  check_pyramid_size(frame, w.layout.image_bytes);
  if (!w.cascade.serves(w.layout)) w.cascade = PackedCascade(model_, w.layout);
  w.levels.resize(w.layout.levels.size());
  for (std::size_t i = 0; i < w.levels.size(); ++i)
    w.levels[i].samples = SamplePlan(frame, w.layout.levels[i].size);
  w.images.plan(w.layout.image_bytes);
  w.integrals.plan(w.layout.integral_bytes());
}

// The work of a frame is its windows. A partition ends inside a level at a row of windows; only there do
// neighbouring partitions make some rows of pixels both.
void CascadeDetector::plan_partition(CascadeWorkspace& w, Partition partition) const {
  std::vector<LevelCost> costs;
  for (const Level& level : w.layout.levels) {
    const double windows = static_cast<double>(level.windows.width) * level.windows.height;
    costs.push_back({windows, level.windows.height});
  }
  const std::vector<Rows> windows = partition_windows(costs, partition);
  for (auto* bands : {&w.image_bands, &w.integral_bands, &w.window_bands}) bands->clear();
  for (std::size_t i = 0; i < w.levels.size(); ++i) {
    const Level& level = w.layout.levels[i];
    LevelWork& work = w.levels[i];
    work.windows = windows[i];
    work.image = {};
    if (work.windows.empty()) continue;
    work.image = {work.windows.begin * level.step,
                  (work.windows.end - 1) * level.step + model_.window.height};
    const int index = static_cast<int>(i);
    add_bands(w.image_bands, index, work.image, kImageRows);
    add_bands(w.integral_bands, index, {0, w.layout.planes}, 1);
    add_bands(w.window_bands, index, work.windows, std::max(kBandWindows / level.windows.width, 1));
  }
}

void CascadeDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  CascadeWorkspace& w = own(workspace);
  switch (stage) {
    case kPyramid:
      build_pyramid(w);
      break;
    case kIntegral:
      integrate_all(w);
      break;
    case kScan:
      scan(w);
      break;
    case kFinish:
      finish_survivors(w);
      break;
    case kGroup:
      group(w);
      break;
    default:
      throw Error(ExitCode::failed, "the cascade detector has no stage " + std::to_string(stage));
  }
}

void CascadeDetector::build_pyramid(CascadeWorkspace& w) const {
  w.make_luma();
  const GrayView frame = w.luma();
  static_cast<void>(w.images.data());  // made here, not by all threads at once
  for_each_band(w.image_bands, w, [&](const Band& band) {
    resample_rows(frame, w.levels[band.level].samples, band.begin, band.end, w.image(band.level));
  });
}

void CascadeDetector::integrate_all(CascadeWorkspace& w) const {
  std::byte* const integrals = w.integrals.data();
  static_cast<void>(w.images.data());
  for_each_band(w.integral_bands, w, [&](const Band& band) {
    const Rows rows = w.levels[band.level].image;
    integrate(w.image(band.level), w.layout, w.layout.levels[band.level], band.begin, rows.begin, rows.end,
              integrals);
  });
}

void CascadeDetector::scan(CascadeWorkspace& w) const {
  const std::byte* const integrals = w.integrals.data();
  const auto scan_band = [&](std::size_t i, std::vector<Survivor>& found) {
    const Band& band = w.window_bands[i];
    for (int row = band.begin; row < band.end; ++row)
      scan_row(w.cascade, band.level, integrals, row, w.early_stages, found);
  };
  w.scanned.run(w.window_bands.size(), w, w.survivors, scan_band);
}

void CascadeDetector::finish_survivors(CascadeWorkspace& w) const {
  const std::byte* const integrals = w.integrals.data();
  const std::span<const Survivor> all = w.survivors;
  const auto finish_chunk = [&](std::size_t i, std::vector<Candidate>& found) {
    const auto chunk = all.subspan(i * kChunk, std::min(kChunk, all.size() - i * kChunk));
    finish(w.cascade, integrals, chunk, w.early_stages, found);
  };
  w.finished.run((all.size() + kChunk - 1) / kChunk, w, w.candidates, finish_chunk);
}

void CascadeDetector::group(CascadeWorkspace& w) const {
  keep_top_k(w);
  std::vector<ScoredBox> boxes;
  boxes.reserve(w.candidates.size());
  for (const Candidate& c : w.candidates)
    boxes.push_back({box_in_frame(w.layout.levels[c.level], c.x, c.y), c.score});
  w.detections = group_boxes(boxes, options_.min_neighbors, w.layout.frame);
  std::erase_if(w.detections, [&](const Detection& d) { return d.score < options_.threshold; });
}

std::vector<WorkCount> CascadeDetector::count_work(PictureView frame) const {
  StageSurvivors survivors;
  count_survivors(*this, frame, survivors);
  std::vector<WorkCount> counts{{"windows", survivors.windows}};
  for (std::size_t i = 0; i < survivors.passed.size(); ++i)
    counts.push_back({"left after boosting stage " + std::to_string(i + 1), survivors.passed[i]});
  return counts;
}

std::filesystem::path find_model(const std::filesystem::path& path, const std::string& name) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  if (const auto found = find_shipped(name); !found.empty()) return found;
  const bool is_name = name.find('/') == std::string::npos;
  throw Error(ExitCode::model,
              "no cascade '" + name + "'" + (is_name ? "" : " (looked for as '" + path.string() + "')"),
              "OpenCV's cascades are in the Debian package opencv-data: sudo apt-get install opencv-data");
}

bool ships_with_opencv(const std::string& name) {
  return !find_shipped(name).empty();
}

std::vector<std::string> names_shipped_with_opencv() {
  std::set<std::string> names;
  std::error_code error;
  for (const std::filesystem::path& folder : opencv_folders()) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".xml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

Settings read_settings(const Config& config) {
  constexpr char kDefault[] = "haarcascade_frontalface_alt2";
  Settings settings;
  Options& options = settings.options;
  options.search.scale_step = keys::kScaleStep.read(config, options.search.scale_step);
  options.min_neighbors = kMinNeighbors.read(config, options.min_neighbors);
  const auto side = [&](const Parameter<double>& parameter) {
    const int pixels = static_cast<int>(std::lround(parameter.read(config, 0)));
    return Size{pixels, pixels};
  };
  options.search.min_size = side(keys::kMinSize);
  options.search.max_size = side(keys::kMaxSize);
  options.threshold = keys::kThreshold.read(config, 0);
  options.early_stages = kEarlyStages.read(config, 0);
  options.max_candidates = keys::kMaxCandidates.read(config, options.max_candidates);
  options.label = keys::kLabel.read(config, "");
  options.kernels = keys::kKernels.read(config, "");
  const std::string name = config.text("detector", "model", kDefault);
  const std::size_t max_mebibytes(keys::kMaxModelSize.read(config, kMaxModelSize));
  settings.file = find_model(config.path("detector", "model", kDefault), name);
  config.note_file("detector", "model", settings.file);
  settings.model = load_model(settings.file, max_mebibytes << 20);
  settings.is_mirrored = kMirrored.read(config, false);
  if (settings.is_mirrored) settings.model = mirrored(std::move(settings.model));
  return settings;
}

std::unique_ptr<CascadeDetector> make_cascade_detector(const Config& config) {
  Settings settings = read_settings(config);
  return std::make_unique<CascadeDetector>(std::move(settings.model), settings.options);
}

}  // namespace sightline::cascade
