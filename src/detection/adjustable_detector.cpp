#include "detection/adjustable_detector.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "processing/device_stages.hpp"

namespace sightline {
namespace {

[[noreturn]] void differ(const std::string& name, const std::string& other, const std::string& how) {
  throw Error(ExitCode::usage, "settings '" + other + "' and '" + name + "' " + how,
              "use settings that differ in speed and accuracy alone");
}

// Schedules, transfers and results are the same for all frames, whatever their setting.
void check_alike(const Detector& one, const Detector& other, const std::string& name,
                 const std::string& other_name) {
  if (!std::ranges::equal(one.stages(), other.stages()) ||
      !std::ranges::equal(one.resources(), other.resources()) ||
      one.partitionable_stages() != other.partitionable_stages()) {
    differ(name, other_name, "have different stages");
  }
  if (one.info().labels != other.info().labels) differ(name, other_name, "have different labels");
  const Tunable* const tuned = one.tunable();
  const Tunable* const other_tuned = other.tunable();
  if ((tuned != nullptr) != (other_tuned != nullptr) ||
      (tuned && (tuned->name != other_tuned->name || tuned->largest != other_tuned->largest)))
    differ(name, other_name, "are tuned in different ways");
}

}  // namespace

class AdjustableDetector::AdjustableWorkspace : public Workspace {
 public:
  std::vector<std::unique_ptr<Workspace>> own;  ///< by setting; null until a frame has needed it
  std::size_t current = 0;                      ///< the setting of the frame that it was prepared for

  Workspace& now() const { return *own[current]; }
};

AdjustableDetector::AdjustableDetector(std::vector<Named> settings, std::size_t configured)
    : configured_(configured) {
  for (Named& one : settings) {
    const DetectorInfo& info = one.detector->info();
    for (const ProcessorSetting& known : settings_) {
      if (known.name == one.name) differ(one.name, known.name, "are the same");
    }
    if (!detectors_.empty())
      check_alike(*detectors_.front(), *one.detector, one.name, settings_.front().name);
    settings_.push_back({one.name, info.accuracy, info.missed});
    detectors_.push_back(std::move(one.detector));
  }
  info_ = this->configured().info();
  for (const auto& one : detectors_) {
    std::ranges::transform(info_.smallest_objects, one->info().smallest_objects,
                           info_.smallest_objects.begin(), [](double a, double b) { return std::min(a, b); });
    info_.threshold = std::min(info_.threshold, one->info().threshold);
    if (info_.cpu_only.empty()) info_.cpu_only = one->info().cpu_only;
  }
}

AdjustableDetector::~AdjustableDetector() = default;

std::size_t AdjustableDetector::number_of(const Workspace& workspace) const {
  return workspace.setting < 0 ? configured_ : static_cast<std::size_t>(workspace.setting);
}

std::unique_ptr<Workspace> AdjustableDetector::make_workspace() const {
  auto workspace = std::make_unique<AdjustableWorkspace>();
  workspace->own.resize(detectors_.size());
  workspace->current = configured_;
  workspace->own[configured_] = configured().make_workspace();
  return workspace;
}

bool AdjustableDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  auto& w = static_cast<AdjustableWorkspace&>(workspace);
  const std::size_t number = number_of(w);
  if (!w.own.at(number)) w.own[number] = detectors_[number]->make_workspace();
  w.current = number;
  w.now().tuned = w.tuned;
  return detectors_[number]->prepare(w.now(), frame, partition);
}

void AdjustableDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<AdjustableWorkspace&>(workspace);
  detectors_[w.current]->run_stage(stage, w.now());
  w.work.add(std::chrono::nanoseconds(std::llround(1e9 * w.now().work.take())));
}

void AdjustableDetector::merge(Workspace& workspace, Workspace& other) const {
  auto& w = static_cast<AdjustableWorkspace&>(workspace);
  detectors_[w.current]->merge(w.now(), static_cast<AdjustableWorkspace&>(other).now());
}

std::vector<Detection> AdjustableDetector::take_detections(Workspace& workspace) const {
  auto& w = static_cast<AdjustableWorkspace&>(workspace);
  return detectors_[w.current]->take_detections(w.now());
}

// --- on a device -------------------------------------------------------------------------------------------

class AdjustableDetector::AdjustableSlot : public DeviceSlot {
 public:
  std::vector<std::unique_ptr<DeviceSlot>> own;  ///< by setting; null until a frame has needed it
};

// Each setting's stages with its own workspaces and slots, all on the same device.
class AdjustableDetector::AdjustableStages : public DeviceStages {
 public:
  AdjustableStages(const AdjustableDetector& detector, std::shared_ptr<ComputeDevice> device)
      : device_(std::move(device)) {
    supported_.set();
    for (const auto& one : detector.detectors_) {
      own_.push_back(one->make_stages_on(device_));
      supported_ &= own_.back() ? own_.back()->supported() : StageSet();
    }
  }

  const ComputeDevice& device() const override { return *device_; }
  StageSet supported() const override { return supported_; }
  void check(const StageSet& on_device, std::span<const std::string_view> names) const override {
    for (const auto& one : own_) one->check(on_device, names);
  }

  std::unique_ptr<DeviceSlot> make_slot() const override {
    auto slot = std::make_unique<AdjustableSlot>();
    slot->own.resize(own_.size());
    return slot;
  }

  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const override {
    auto& s = static_cast<AdjustableSlot&>(slot);
    auto& w = static_cast<AdjustableWorkspace&>(workspace);
    std::unique_ptr<DeviceSlot>& own = s.own[w.current];
    if (!own) own = own_[w.current]->make_slot();
    own->shared_frame = slot.shared_frame;
    own_[w.current]->prepare(*own, w.now(), on_device);
  }

  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const override {
    auto& w = static_cast<AdjustableWorkspace&>(workspace);
    DeviceSlot& own = *static_cast<AdjustableSlot&>(slot).own[w.current];
    own_[w.current]->submit(own, w.now(), first, last);
    slot.done = own.done;
    slot.spans = own.spans;
  }

  void complete(DeviceSlot& slot, Workspace& workspace) const override {
    auto& w = static_cast<AdjustableWorkspace&>(workspace);
    own_[w.current]->complete(*static_cast<AdjustableSlot&>(slot).own[w.current], w.now());
  }

 private:
  std::shared_ptr<ComputeDevice> device_;
  std::vector<std::unique_ptr<DeviceStages>> own_;  ///< by setting
  StageSet supported_;
};

std::unique_ptr<DeviceStages> AdjustableDetector::make_stages_on(
    std::shared_ptr<ComputeDevice> device) const {
  auto stages = std::make_unique<AdjustableStages>(*this, std::move(device));
  return stages->supported().any() ? std::move(stages) : nullptr;
}

}  // namespace sightline
