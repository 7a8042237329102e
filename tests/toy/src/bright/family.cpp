// A complete family, as small as one can be: it finds bright cells of 16x16 pixels. CONTRIBUTING.md explains
// it.
#include <algorithm>

#include "detection/keys.hpp"
#include "detection/sliding_window.hpp"
#include "detectors/registry.hpp"
#include "family/family.hpp"
#include "family/model_show.hpp"
#include "model/safetensors.hpp"
#include "processing/frame_colour.hpp"
#include "processing/opencl/opencl_stages.hpp"
#include "processing/opencl/shared_device.hpp"
#include "training/registry.hpp"

namespace sightline::bright {
namespace {

constexpr int kCell = 16;  // pixels a side
enum Stage : std::size_t { kFind };
enum Resource : std::size_t { kFrame, kObjects };
constexpr std::string_view kResources[] = {"frame", "objects"};
constexpr StageInfo kStages[] = {{"find", {kFrame}, {kObjects}, true}};

// --- the model: a file with an array "threshold", the lowest mean luma of a bright cell
int load_threshold(const std::string& file) {
  return Safetensors::load(file).array<std::int32_t>("threshold", {1})[0];
}

// --- the detector: one stage, on the CPU
struct BrightWorkspace : SlidingWindowWorkspace {
  FrameColour colour;
};

struct BrightDetector : SlidingWindowDetector {
  BrightDetector(int threshold, bool is_red)
      : SlidingWindowDetector(kMostCandidates), least(threshold * kCell * kCell), red(is_red) {
    info_.family = "bright";
    info_.model = "cells from " + std::to_string(threshold);
    info_.labels = {"bright"};
    info_.smallest_objects = {kCell};
  }
  std::span<const std::string_view> resources() const override { return kResources; }
  std::span<const StageInfo> stages() const override { return kStages; }
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<BrightWorkspace>(); }
  FramePixels pixels() const override { return red ? FramePixels::luma_and_colour : FramePixels::luma; }
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;

  bool prepare(Workspace& workspace, PictureView frame, Partition partition) const override {
    auto& w = static_cast<BrightWorkspace&>(workspace);
    w.begin(
        frame, partition, [] {}, [] {});
    w.colour.begin(frame);
    return frame.width() >= kCell && frame.height() >= kCell;
  }
  void run_stage(std::size_t, Workspace& workspace) const override {
    auto& w = static_cast<BrightWorkspace&>(workspace);
    red ? w.colour.make(w) : w.make_luma();
    const GrayView pixels = red ? colour_plane(w.colour.rgb(), 0) : w.luma();
    for (int y = 0; y < pixels.height() / kCell; ++y) {
      for (int x = 0; x < pixels.width() / kCell; ++x) {
        int sum = 0;
        for (int i = 0; i < kCell * kCell; ++i)
          sum += pixels.at(x * kCell + i % kCell, y * kCell + i / kCell);
        if (sum >= least) w.candidates.push_back({{0, x, y}, 1.0 * sum});
      }
    }
    report(w);
  }
  void report(SlidingWindowWorkspace& w) const {  // wherever candidates were found
    std::sort(w.candidates.begin(), w.candidates.end(), higher_confidence);
    for (const Candidate& c : w.candidates)
      w.detections.push_back({{1.0 * c.x * kCell, 1.0 * c.y * kCell, kCell, kCell}, c.score});
  }
  const int least;  // sum of a bright cell's pixels
  const bool red;   // of the red plane, not of luma
};

// --- the same stage on OpenCL devices; the kernel is kernels/bright/find.cl
struct Found {
  cl_int level, x, y, sum;
};

struct BrightSlot : OpenClSlotBase {
  BrightSlot(const OpenClStageBase& stages, const opencl::Program& program)
      : OpenClSlotBase(stages), find(program, "find") {
    has_list(found, kObjects);
  }
  opencl::Kernel find;
  opencl::CandidateList<Found> found{1024, 256};
};

struct BrightStages : OpenClStagesOf<BrightWorkspace, BrightSlot> {
  BrightStages(const BrightDetector& bright, const opencl::Context& context, opencl::ProgramCache* cache)
      : OpenClStagesOf(bright, context, cache, {kFind}), detector(bright), code(program("bright/find.cl")) {
    list(kObjects);
  }
  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<BrightSlot>(*this, code); }
  void plan_geometry(BrightSlot& slot, const BrightWorkspace& w) const override {
    slot.windows = {{w.frame.width() / kCell, w.frame.height() / kCell, 1}};
  }
  void enqueue(BrightSlot& slot, const BrightWorkspace& w, std::size_t) const override {
    slot.launched(slot.found.clear(slot.queue));
    slot.find.arguments(detector.red ? slot.rgb() : slot.luma(), slot.luma_stride(), cl_int{detector.least},
                        slot.found.capacity(), slot.found.buffer());
    const auto cells = [](int pixels) { return static_cast<std::size_t>(pixels / kCell); };
    slot.launch(slot.find, {{cells(w.frame.width()), cells(w.frame.height()), 1}, {0, 0, 0}});
  }
  void take(BrightSlot& slot, BrightWorkspace& w, std::size_t) const override {
    for (const Found& f : slot.found.sorted(slot.queue, slot.windows))
      w.candidates.push_back({{f.level, f.x, f.y}, 1.0 * f.sum});
    detector.report(w);
  }
  const BrightDetector& detector;
  const opencl::Program code;
};

std::unique_ptr<DeviceStages> BrightDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  return std::make_unique<StagesOnDevice<BrightStages>>(*this, opened);
}

// --- what the program's commands offer: `model show`, `train bright`
struct BrightShow : ModelShow {
  void show(const std::string& model, const ShowContext& context) override {
    context.print("threshold      " + std::to_string(load_threshold(model)) + "\n");
  }
};

struct BrightTrainer : Trainer {  // the threshold lies between the mean luma of negatives and positives
  std::string description() const override { return "Train a detector of bright cells"; }
  std::size_t fewest_positives() const override { return 1; }
  OptionSet options() override {
    OptionSet options;
    options
        .add("--percent PERCENT", &percent,
             "Where between negatives (0) and positives (100) the threshold lies")
        .between(0, 100)
        .show_default();
    return options;
  }
  void check() override {}
  std::string summary() const override { return std::to_string(percent) + "% of the way"; }
  void train(const training::ImageSet& positives, const training::ImageSet& negatives,
             const std::filesystem::path&, const std::filesystem::path& output,
             const training::ReportProgress&) override {
    const double dark = mean(negatives);
    const auto threshold = static_cast<std::int32_t>(dark + (mean(positives) - dark) * percent / 100);
    Safetensors file;
    file.set<std::int32_t>("threshold", {1}, std::span(&threshold, 1));
    file.save(output);
  }
  static double mean(const training::ImageSet& images) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      const Image<std::uint8_t> image = images.load(i);
      for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x, ++count) sum += image.view().at(x, y);
    }
    return sum / std::max(count, 1.0);
  }
  int percent = 50;
};

// --- what the family says of itself
constexpr Parameter<int> kBrighter("brighter", {0, 255}, "--brighter LEVELS",
                                   "Bright cells: by how much more than the model says");
constexpr Parameter<bool> kRed("red", "--red", "Bright cells: of red, instead of luma");

FamilyInfo describe() {
  FamilyInfo info;
  info.name = "bright";
  info.title = "bright cells";
  info.one = "a detector of bright cells";
  info.model_file = "thresholds (.bright)";
  info.parameters = {keys::kModel, kBrighter, kRed};
  info.needs_no_config = true;
  return info;
}

struct BrightFamily : Family {
  BrightFamily() : Family(describe()) {}
  std::unique_ptr<Detector> make_detector(const Config& config) const override {
    const int more = kBrighter.read(config, 0);
    return std::make_unique<BrightDetector>(load_threshold(config.path("detector", "model", "")) + more,
                                            kRed.read(config, false));
  }
  bool recognises(const std::string& model) const override { return model.ends_with(".bright"); }
  std::unique_ptr<ModelShow> make_model_show() const override { return std::make_unique<BrightShow>(); }
};

const Family& family() {
  static const BrightFamily family;
  return family;
}

// --- the registration, before `main` runs
const bool kRegistered = [] {
  add_family(family());
  add_trainer(family(), []() -> std::unique_ptr<Trainer> { return std::make_unique<BrightTrainer>(); });
  return true;
}();

}  // namespace
}  // namespace sightline::bright
