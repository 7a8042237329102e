#include "cascade/detector.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "cascade/survivors.hpp"
#include "image/integral.hpp"

namespace sightline::cascade {
namespace {

// Numbers of kResources.
enum : std::size_t { kOfFrame, kImages, kIntegrals, kSurvivors, kCandidates, kDetections };
constexpr std::string_view kResources[] = {"frame",     "images",     "integrals",
                                           "survivors", "candidates", "detections"};
constexpr StageInfo kStages[] = {
    {"pyramid", {kOfFrame}, {kImages}, true},   {"integral", {kImages}, {kIntegrals}, true},
    {"scan", {kIntegrals}, {kSurvivors}, true}, {"finish", {kIntegrals, kSurvivors}, {kCandidates}},
    {"group", {kCandidates}, {kDetections}},
};

constexpr double kSmallestStep = 1.001;
constexpr std::int64_t kMaxPyramidPixels = std::int64_t{1} << 28;

// Work a task: enough to be worth it, little enough to spread over the threads.
constexpr int kImageRows = 32;
constexpr int kBandWindows = 4096;
constexpr std::size_t kChunk = 64;  // survivors

CascadeWorkspace& own(Workspace& workspace) {
  return static_cast<CascadeWorkspace&>(workspace);
}

template <typename Work>
void for_each(const std::vector<Band>& bands, CascadeWorkspace& w, const Work& work) {
  parallel_for_isolated(
      bands.size(), [&](std::size_t i) { work(bands[i], i); }, &w.work);
}

GrayView luma_of_frame(CascadeWorkspace& w) {
  if (w.frame.is_gray()) return w.frame.gray();
  const PackedView& colour = w.frame.colour();
  w.converted.resize(colour.width, colour.height);
  const ImageView<std::uint8_t> target = w.converted.view();
  const int bands = (colour.height + kImageRows - 1) / kImageRows;
  parallel_for_isolated(
      bands,
      [&](int band) {
        to_gray(colour, target, band * kImageRows, std::min((band + 1) * kImageRows, colour.height));
      },
      &w.work);
  return target;
}

template <typename Part>
void append_all(const std::vector<std::vector<Part>>& parts, std::vector<Part>& all) {
  all.clear();
  for (const std::vector<Part>& part : parts) all.insert(all.end(), part.begin(), part.end());
}

std::string label_of(const std::string& name) {
  for (const std::string prefix : {"haarcascade_", "lbpcascade_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// Where OpenCV's cascades are, those that are looked at first in front.
std::vector<std::filesystem::path> opencv_folders() {
  std::vector<std::filesystem::path> folders;
  for (const char* root : {"/usr/share/opencv4", "/usr/local/share/opencv4", "/usr/share/opencv"}) {
    for (const char* kind : {"haarcascades", "lbpcascades"})
      folders.push_back(std::filesystem::path(root) / kind);
  }
  return folders;
}

// The file of a cascade that ships with OpenCV; empty where there is none of that name.
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
    : model_(std::move(model)), options_(options), limit_(options.max_candidates) {
  const Search& search = options_.search;
  if (!(search.scale_step >= kSmallestStep))
    throw Error(ExitCode::usage, "the scale step must be above 1", "give a --scale-step of 1.05 to 1.5");
  if (options_.min_neighbors < 0)
    throw Error(ExitCode::usage, "the number of neighbours is negative", "give --min-neighbors 0 or more");
  const bool limited = search.max_size.height > 0;
  if (limited &&
      (search.max_size.height < search.min_size.height || search.max_size.width < search.min_size.width))
    throw Error(ExitCode::usage, "the largest object size is below the smallest", "give a larger --max-size");
  if (!options_.kernels.empty() &&
      std::ranges::find(kKernelVariants, options_.kernels) == kKernelVariants.end()) {
    std::string forms;
    for (const char* form : kKernelVariants) forms += (forms.empty() ? "" : ", ") + std::string(form);
    throw Error(ExitCode::usage, "there are no '" + options_.kernels + "' kernels", "there are " + forms);
  }
  const int stages = static_cast<int>(model_.stages.size());
  early_stages_ = std::min(options_.early_stages > 0 ? options_.early_stages : stages, stages);

  tunable_ = {"early_stages", stages, {}};
  for (const int choice : {2, 4, 8, 12}) {
    if (choice < stages) tunable_.choices.push_back(choice);
  }

  info_.family = "cascade";
  info_.model = model_.name + ", " + (model_.kind == FeatureKind::lbp ? "LBP" : "Haar") + ", " +
                std::to_string(stages) + " stages";
  info_.labels = {options_.label.empty() ? label_of(model_.name) : options_.label};
  info_.cost_key = "cascade, " + model_.name + ", " + std::to_string(model_.nodes.size()) + " nodes, step " +
                   std::to_string(search.scale_step) + ", sizes " + std::to_string(search.min_size.height) +
                   " to " + std::to_string(search.max_size.height) + ", " + std::to_string(early_stages_) +
                   " stages scanned";
  info_.smallest_object = std::max(model_.window.height, search.min_size.height);
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
  w.frame = frame;
  w.early_stages = w.tuned > 0 ? std::min(w.tuned, tunable_.largest) : early_stages_;
  for (InterStageBuffer* product : {&w.images, &w.integrals}) product->lend(nullptr);
  w.survivors.clear();
  w.candidates.clear();
  w.detections.clear();
  if (w.frame_size != frame.size()) {
    w.frame_size = {-1, -1};  // until all is ready: memory may run out on the way
    w.layout.frame = frame.size();
    lay_out(w);
    plan_partition(w, partition);
    w.frame_size = frame.size();
  } else if (w.partition != partition) {
    plan_partition(w, partition);
  }
  return !w.layout.levels.empty();
}

// Geometry and memory of all levels, for frames of this size.
void CascadeDetector::lay_out(CascadeWorkspace& w) const {
  const Size frame = w.frame.size();
  w.layout = plan_layout(frame, model_, options_.search);
  if (w.layout.image_bytes > kMaxPyramidPixels) {
    throw Error(ExitCode::usage,
                "the pyramid of a " + std::to_string(frame.width) + "x" + std::to_string(frame.height) +
                    " frame would have " + std::to_string(w.layout.image_bytes / 1'000'000) +
                    " million pixels",
                "give a larger --min-size or a larger --scale-step");
  }
  if (!w.cascade.serves(w.layout)) w.cascade = PackedCascade(model_, w.layout);
  w.levels.resize(w.layout.levels.size());
  for (std::size_t i = 0; i < w.levels.size(); ++i)
    w.levels[i].samples = SamplePlan(frame, w.layout.levels[i].size);
  w.images.plan(w.layout.image_bytes);
  w.integrals.plan(w.layout.integral_bytes());
}

// The work of a frame is its windows. A share ends inside a level at a row of windows; only there do
// neighbouring partitions make some rows of pixels both.
void CascadeDetector::plan_partition(CascadeWorkspace& w, Partition partition) const {
  double windows = 0;
  for (const Level& level : w.layout.levels)
    windows += static_cast<double>(level.windows.width) * level.windows.height;
  double done = 0;
  for (auto* bands : {&w.image_bands, &w.integral_bands, &w.window_bands}) bands->clear();
  for (std::size_t i = 0; i < w.levels.size(); ++i) {
    const Level& level = w.layout.levels[i];
    LevelWork& work = w.levels[i];
    work.windows = work.image = {};
    if (level.windows.height == 0) continue;
    const double own = static_cast<double>(level.windows.width) * level.windows.height;
    const auto row_at = [&](double part) {
      return static_cast<int>(
          std::lround(std::clamp((part * windows - done) / own, 0.0, 1.0) * level.windows.height));
    };
    work.windows = {row_at(partition.begin), row_at(partition.end)};
    done += own;
    if (work.windows.empty()) continue;
    work.image = {work.windows.begin * level.step,
                  (work.windows.end - 1) * level.step + model_.window.height};
    const int index = static_cast<int>(i);
    const auto add = [&](std::vector<Band>& bands, Rows rows, int step) {
      for (int y = rows.begin; y < rows.end; y += step)
        bands.push_back({index, y, std::min(y + step, rows.end)});
    };
    add(w.image_bands, work.image, kImageRows);
    add(w.integral_bands, {0, w.layout.planes}, 1);
    add(w.window_bands, work.windows, std::max(kBandWindows / level.windows.width, 1));
  }
  w.band_survivors.resize(w.window_bands.size());
  w.partition = partition;
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
  const GrayView frame = luma_of_frame(w);
  static_cast<void>(w.images.data());  // made here, not by all threads at once
  for_each(w.image_bands, w, [&](const Band& band, std::size_t) {
    resample_rows(frame, w.levels[band.level].samples, band.begin, band.end, w.image(band.level));
  });
}

void CascadeDetector::integrate_all(CascadeWorkspace& w) const {
  std::byte* const integrals = w.integrals.data();
  static_cast<void>(w.images.data());
  for_each(w.integral_bands, w, [&](const Band& band, std::size_t) {
    const Rows rows = w.levels[band.level].image;
    integrate(w.image(band.level), w.layout, w.layout.levels[band.level], band.begin, rows.begin, rows.end,
              integrals);
  });
}

void CascadeDetector::scan(CascadeWorkspace& w) const {
  const std::byte* const integrals = w.integrals.data();
  for_each(w.window_bands, w, [&](const Band& band, std::size_t i) {
    w.band_survivors[i].clear();
    for (int row = band.begin; row < band.end; ++row)
      scan_row(w.cascade, band.level, integrals, row, w.early_stages, w.band_survivors[i]);
  });
  append_all(w.band_survivors, w.survivors);
}

void CascadeDetector::finish_survivors(CascadeWorkspace& w) const {
  const std::byte* const integrals = w.integrals.data();
  const std::span<const Survivor> all = w.survivors;
  const std::size_t chunks = (all.size() + kChunk - 1) / kChunk;
  if (w.chunk_candidates.size() < chunks) w.chunk_candidates.resize(chunks);
  for (std::vector<Candidate>& found : w.chunk_candidates) found.clear();
  parallel_for_isolated(
      chunks,
      [&](std::size_t i) {
        const auto part = all.subspan(i * kChunk, std::min(kChunk, all.size() - i * kChunk));
        finish(w.cascade, integrals, part, w.early_stages, w.chunk_candidates[i]);
      },
      &w.work);
  append_all(w.chunk_candidates, w.candidates);
}

void CascadeDetector::group(CascadeWorkspace& w) const {
  limit_.keep_best(w.candidates, [](const Candidate& a, const Candidate& b) {
    return std::tie(b.margin, a.window.level, a.window.y, a.window.x) <
           std::tie(a.margin, b.window.level, b.window.y, b.window.x);
  });
  std::vector<ScoredBox> boxes;
  boxes.reserve(w.candidates.size());
  for (const Candidate& c : w.candidates)
    boxes.push_back({box_in_frame(w.layout.levels[c.window.level], c.window.x, c.window.y), c.margin});
  w.detections = group_boxes(boxes, options_.min_neighbors, w.layout.frame);
  std::erase_if(w.detections, [&](const Detection& d) { return d.score < options_.threshold; });
}

void CascadeDetector::merge(Workspace& workspace, Workspace& other) const {
  std::vector<Candidate>& all = own(workspace).candidates;
  const std::vector<Candidate>& more = own(other).candidates;
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.window.level, a.window.y, a.window.x) <
           std::tie(b.window.level, b.window.y, b.window.x);
  });
}

std::vector<WorkCount> CascadeDetector::count_work(PictureView frame) const {
  StageSurvivors survivors;
  count_survivors(*this, frame, survivors);
  std::vector<WorkCount> counts{{"windows", survivors.windows}};
  for (std::size_t i = 0; i < survivors.passed.size(); ++i)
    counts.push_back({"left after stage " + std::to_string(i + 1), survivors.passed[i]});
  return counts;
}

std::vector<Detection> CascadeDetector::take_detections(Workspace& workspace) const {
  return std::move(own(workspace).detections);
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

std::unique_ptr<CascadeDetector> make_cascade_detector(const Config& config) {
  constexpr char kDefault[] = "haarcascade_frontalface_alt2";
  constexpr double kMaxSide = 1e6;
  Options options;
  options.search.scale_step =
      config.number("detector", "scale_step", options.search.scale_step, kSmallestStep, 8);
  options.min_neighbors =
      config.optional_whole_number("detector", "min_neighbors", 0, 1'000'000).value_or(options.min_neighbors);
  const auto side = [&](const char* key) {
    const int pixels = static_cast<int>(std::lround(config.number("detector", key, 0, 0, kMaxSide)));
    return Size{pixels, pixels};
  };
  options.search.min_size = side("min_size");
  options.search.max_size = side("max_size");
  options.threshold = config.number("detector", "threshold", 0, -1e9, 1e9);
  options.early_stages = config.optional_whole_number("detector", "early_stages", 0, kMaxStages).value_or(0);
  options.max_candidates = config.optional_whole_number("detector", "max_candidates", 1, kMostCandidates)
                               .value_or(options.max_candidates);
  options.label = config.text("detector", "label", "");
  options.kernels = config.text("detector", "kernels", "");
  const std::string name = config.text("detector", "model", kDefault);
  const int max_mebibytes = config.optional_whole_number("detector", "max_model_size", 1, kLargestModelSize)
                                .value_or(kMaxModelSize);
  const std::filesystem::path file = find_model(config.path("detector", "model", kDefault), name);
  return std::make_unique<CascadeDetector>(load_model(file, std::size_t(max_mebibytes) << 20), options);
}

}  // namespace sightline::cascade
