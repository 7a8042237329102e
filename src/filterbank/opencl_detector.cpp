#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "filterbank/opencl_stages.hpp"
#include "filterbank/tuner.hpp"

namespace sightline::filterbank {

// A CPU workspace for geometry and results, and the device's buffers beside it.
struct OpenClFilterbankDetector::DeviceWorkspace : FilterbankWorkspace {
  std::unique_ptr<OpenClSlot> slot;
  bool on_device = false;            // this frame's stages run there
  std::vector<double> busy_seconds;  // by stage, of the frame just finished there
};

OpenClFilterbankDetector::OpenClFilterbankDetector(std::unique_ptr<FilterbankDetector> cpu,
                                                   const opencl::ChosenDevice& device,
                                                   const KernelTuning& tuning)
    : cpu_(std::move(cpu)),
      context_(std::make_unique<opencl::Context>(device)),
      cache_(std::make_unique<opencl::ProgramCache>(opencl::ProgramCache::default_folder())),
      stages_(std::make_unique<OpenClStages>(*cpu_, *context_, cache_.get(), tuning)) {}

OpenClFilterbankDetector::~OpenClFilterbankDetector() = default;

std::unique_ptr<Workspace> OpenClFilterbankDetector::make_workspace() const {
  auto workspace = std::make_unique<DeviceWorkspace>();
  try {
    workspace->slot = std::make_unique<OpenClSlot>(*stages_);
  } catch (const std::exception& e) {
    take_out(e);
  }
  return workspace;
}

bool OpenClFilterbankDetector::prepare(Workspace& workspace, GrayView frame) const {
  auto& w = static_cast<DeviceWorkspace&>(workspace);
  w.on_device = false;
  if (!cpu_->prepare(w, frame)) return false;
  if (device_lost_ || !w.slot) return true;
  try {
    stages_->prepare(*w.slot, w);
    w.on_device = true;
  } catch (const std::exception& e) {
    take_out(e);
  }
  return true;
}

void OpenClFilterbankDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<DeviceWorkspace&>(workspace);
  if (!w.on_device) {
    cpu_->run_stage(stage, w);
    return;
  }
  // All stages are enqueued at once by the first; the last collects what the device found.
  const bool first = stage == 0;
  const bool last = stage + 1 == stages().size();
  if (!first && !last) return;
  try {
    if (first) {
      stages_->enqueue(*w.slot, w);
    } else {
      stages_->wait(*w.slot);
      const auto start = std::chrono::steady_clock::now();
      stages_->finish(*w.slot, w);
      const std::chrono::duration<double> grouping = std::chrono::steady_clock::now() - start;
      w.busy_seconds.assign(stages().size(), 0.0);
      for (const OpenClSlot::StageEvents& events : w.slot->events()) {
        w.busy_seconds[stage_of(events.name)] += events.seconds(context_->name());
      }
      w.busy_seconds.back() = grouping.count();
    }
  } catch (const std::exception& e) {
    take_out(e);
    w.on_device = false;
    for (std::size_t redo = 0; redo <= stage; ++redo) cpu_->run_stage(redo, w);
  }
}

// Which of the detector's stages a part of the device's work belongs to.
std::size_t OpenClFilterbankDetector::stage_of(const std::string& launches) const {
  const std::string_view name = launches == "upload"       ? "pyramid"
                                : launches == "normalise"  ? "histogram"
                                : launches == "candidates" ? "classify"
                                                           : std::string_view(launches);
  const auto all = stages();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const StageInfo& info) { return info.name == name; });
  return static_cast<std::size_t>(found - all.begin());
}

std::optional<double> OpenClFilterbankDetector::busy_seconds(const Workspace& workspace,
                                                             std::size_t stage) const {
  const auto& w = static_cast<const DeviceWorkspace&>(workspace);
  if (!w.on_device) return std::nullopt;
  return w.busy_seconds[stage];
}

std::vector<Detection> OpenClFilterbankDetector::take_detections(Workspace& workspace) const {
  return cpu_->take_detections(workspace);
}

void OpenClFilterbankDetector::take_out(const std::exception& error) const {
  if (!device_lost_.exchange(true)) {
    spdlog::warn("{}. The device is taken out: this frame and all that follow are searched on the CPU",
                 error.what());
  }
}

std::unique_ptr<Detector> make_detector(const Config& config,
                                        const std::optional<opencl::ChosenDevice>& device) {
  auto cpu = make_cpu_detector(config);
  if (!device) return cpu;
  const TuningDatabase database(TuningDatabase::default_file());
  const KernelTuning tuning =
      database.find(device->device, cpu->model().dictionary.size()).value_or(default_tuning(device->device));
  return std::make_unique<OpenClFilterbankDetector>(std::move(cpu), *device, tuning);
}

}  // namespace sightline::filterbank
