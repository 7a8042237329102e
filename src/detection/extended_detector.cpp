#include "detection/extended_detector.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "processing/device_stages.hpp"

namespace sightline {

const ProcessorInfo& ObjectProcessor::info() const {
  static const ProcessorInfo none;  // the ExtendedDetector's is what people see
  return none;
}

void ObjectProcessor::take_result(Workspace& workspace, FrameResult& result) const {
  result.objects = take_objects(workspace);
}

class ExtendedDetector::PairWorkspace : public Workspace {
 public:
  std::unique_ptr<Workspace> outer, further;
};

ExtendedDetector::ExtendedDetector(std::unique_ptr<Detector> outer, std::unique_ptr<ObjectProcessor> further)
    : outer_(std::move(outer)), further_(std::move(further)), info_(outer_->info()) {
  const std::span<const StageInfo> first = outer_->stages(), behind = further_->stages();
  const std::span<const std::string_view> names = further_->resources();
  stages_.assign(first.begin(), first.end());
  resources_.assign(outer_->resources().begin(), outer_->resources().end());
  const std::size_t own = ObjectProcessor::kObjectsResource + 1;  // the first that its stages write
  const std::size_t moved_by = resources_.size() - own;
  resources_.insert(resources_.end(), names.begin() + static_cast<std::ptrdiff_t>(own), names.end());
  if (first.size() + behind.size() > kMostStages || resources_.size() > kMostStages) {
    throw Error(ExitCode::usage,
                "a detector and its further stages have too many stages together (" +
                    std::to_string(first.size() + behind.size()) + " of " + std::to_string(kMostStages) + ")",
                "use fewer of them");
  }
  // Objects are what the detector's last stage leaves.
  const auto here = [&](ResourceSet set) {
    ResourceSet moved = set & ResourceSet{kFrameResource};
    if (set.contains(ObjectProcessor::kObjectsResource)) moved = moved | first.back().writes;
    for (std::size_t number = own; number < names.size(); ++number) {
      if (set.contains(number)) moved.insert(number + moved_by);
    }
    return moved;
  };
  for (StageInfo stage : behind) {
    for (ResourceSet* set : {&stage.reads, &stage.writes, &stage.reuses}) *set = here(*set);
    stages_.push_back(stage);
  }
  further_->extend(info_);
}

ExtendedDetector::~ExtendedDetector() = default;

std::shared_ptr<const KnownNames> ExtendedDetector::known_names() const {
  return joined({sightline::known_names(*outer_), further_->known_names()});
}

std::unique_ptr<Workspace> ExtendedDetector::make_workspace() const {
  auto workspace = std::make_unique<PairWorkspace>();
  workspace->outer = outer_->make_workspace();
  workspace->further = further_->make_workspace();
  return workspace;
}

bool ExtendedDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  auto& w = static_cast<PairWorkspace&>(workspace);
  w.outer->tuned = w.tuned;
  w.outer->setting = w.setting;
  return outer_->prepare(*w.outer, frame, partition) && further_->prepare(*w.further, frame);
}

void ExtendedDetector::hand_over(PairWorkspace& w) const {
  further_->set_objects(*w.further, outer_->take_detections(*w.outer));
}

void ExtendedDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<PairWorkspace&>(workspace);
  const std::size_t first = outer_->stages().size();
  if (stage == first) hand_over(w);
  Workspace& own = stage < first ? *w.outer : *w.further;
  if (stage < first) {
    outer_->run_stage(stage, own);
  } else {
    further_->run_stage(stage - first, own);
  }
  w.work.add(std::chrono::nanoseconds(std::llround(1e9 * own.work.take())));
}

void ExtendedDetector::merge(Workspace& workspace, Workspace& other) const {
  outer_->merge(*static_cast<PairWorkspace&>(workspace).outer, *static_cast<PairWorkspace&>(other).outer);
}

std::vector<Detection> ExtendedDetector::take_detections(Workspace& workspace) const {
  return further_->take_objects(*static_cast<PairWorkspace&>(workspace).further);
}

// --- on a device -------------------------------------------------------------------------------------------

class ExtendedDetector::PairSlot : public DeviceSlot {
 public:
  SharedFrameUpload frame;
  std::unique_ptr<DeviceSlot> outer, further;  ///< null where there are no stages
  bool is_further = false;                     ///< whose stages the last `submit` was of
};

// The stages of both, each with its own workspace and slot.
class ExtendedDetector::PairStages : public DeviceStages {
 public:
  PairStages(const ExtendedDetector& detector, std::shared_ptr<ComputeDevice> device)
      : detector_(detector),
        device_(std::move(device)),
        first_(detector.outer_->stages().size()),
        outer_(detector.outer_->make_stages_on(device_)),
        further_(detector.further_->make_stages_on(device_)) {
    for (std::size_t i = 0; i < detector.stages_.size(); ++i) {
      const DeviceStages* const stages = i < first_ ? outer_.get() : further_.get();
      supported_[i] = stages && stages->supported()[i < first_ ? i : i - first_];
    }
  }

  const ComputeDevice& device() const override { return *device_; }
  StageSet supported() const override { return supported_; }
  bool any() const { return supported_.any(); }

  void check(const StageSet& on_device, std::span<const std::string_view> names) const override {
    if (outer_) outer_->check(outer_part(on_device), names.first(first_));
    if (further_) further_->check(further_part(on_device), names.subspan(first_));
    if (on_device[first_ - 1] && on_device[first_]) {
      const auto name = [&](std::size_t stage) { return std::string(names[stage]); };
      throw Error(ExitCode::usage,
                  "stage '" + name(first_) + "' cannot run on the device right behind '" + name(first_ - 1) +
                      "', whose objects are on the host",
                  "use --map " + name(first_) + "=cpu");
    }
  }

  std::unique_ptr<DeviceSlot> make_slot() const override {
    auto slot = std::make_unique<PairSlot>();
    if (outer_) slot->outer = outer_->make_slot();
    if (further_) slot->further = further_->make_slot();
    for (DeviceSlot* one : {slot->outer.get(), slot->further.get()}) {
      if (one) one->shared_frame = &slot->frame;
    }
    return slot;
  }

  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const override {
    auto& s = static_cast<PairSlot&>(slot);
    auto& w = static_cast<PairWorkspace&>(workspace);
    SharedFrameUpload& frame = slot.shared_frame ? *slot.shared_frame : s.frame;
    if (!slot.shared_frame) frame = {};
    for (DeviceSlot* one : {s.outer.get(), s.further.get()}) {
      if (one) one->shared_frame = &frame;
    }
    if (const StageSet part = outer_part(on_device); part.any()) outer_->prepare(*s.outer, *w.outer, part);
    if (const StageSet part = further_part(on_device); part.any())
      further_->prepare(*s.further, *w.further, part);
  }

  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const override {
    auto& s = static_cast<PairSlot&>(slot);
    auto& w = static_cast<PairWorkspace&>(workspace);
    s.is_further = first >= first_;
    if (first == first_) detector_.hand_over(w);
    const std::size_t begin = s.is_further ? first_ : 0;
    stages_of(s).submit(slot_of(s), workspace_of(s, w), first - begin, last - begin);
    s.spans.clear();
    tell(s);
  }

  bool runs_in_steps() const override {
    return (!outer_ || outer_->runs_in_steps()) && (!further_ || further_->runs_in_steps());
  }
  void submit_inputs(DeviceSlot& slot, Workspace& workspace, std::size_t first,
                     std::size_t last) const override {
    auto& s = static_cast<PairSlot&>(slot);
    auto& w = static_cast<PairWorkspace&>(workspace);
    s.is_further = first >= first_;
    if (first == first_) detector_.hand_over(w);
    const std::size_t begin = s.is_further ? first_ : 0;
    stages_of(s).submit_inputs(slot_of(s), workspace_of(s, w), first - begin, last - begin);
    s.spans.clear();
    tell(s);
  }
  void submit_stage(DeviceSlot& slot, Workspace& workspace, std::size_t stage) const override {
    auto& s = static_cast<PairSlot&>(slot);
    slot_of(s).spans.clear();
    stages_of(s).submit_stage(slot_of(s), workspace_of(s, static_cast<PairWorkspace&>(workspace)),
                              stage - (s.is_further ? first_ : 0));
    tell(s);
  }
  void submit_outputs(DeviceSlot& slot, Workspace& workspace) const override {
    auto& s = static_cast<PairSlot&>(slot);
    slot_of(s).spans.clear();
    stages_of(s).submit_outputs(slot_of(s), workspace_of(s, static_cast<PairWorkspace&>(workspace)));
    tell(s);
  }

  void complete(DeviceSlot& slot, Workspace& workspace) const override {
    auto& s = static_cast<PairSlot&>(slot);
    auto& w = static_cast<PairWorkspace&>(workspace);
    if (s.is_further) {
      further_->complete(*s.further, *w.further);
    } else {
      outer_->complete(*s.outer, *w.outer);
    }
  }

 private:
  // Of the one whose stages were submitted last.
  const DeviceStages& stages_of(const PairSlot& slot) const { return slot.is_further ? *further_ : *outer_; }
  static DeviceSlot& slot_of(PairSlot& slot) { return slot.is_further ? *slot.further : *slot.outer; }
  static Workspace& workspace_of(const PairSlot& slot, PairWorkspace& workspace) {
    return slot.is_further ? *workspace.further : *workspace.outer;
  }
  // What one of the two has just enqueued, in the words of both.
  void tell(PairSlot& slot) const {
    const DeviceSlot& own = slot_of(slot);
    slot.done = own.done;
    for (DeviceSpan span : own.spans) {
      if (slot.is_further) span.stage += first_;
      slot.spans.push_back(std::move(span));
    }
  }

  StageSet outer_part(const StageSet& all) const {
    StageSet part;
    for (std::size_t i = 0; i < first_; ++i) part[i] = all[i];
    return part;
  }
  StageSet further_part(const StageSet& all) const { return all >> first_; }

  const ExtendedDetector& detector_;
  std::shared_ptr<ComputeDevice> device_;
  std::size_t first_;  ///< stage of the further ones
  std::unique_ptr<DeviceStages> outer_, further_;
  StageSet supported_;
};

std::unique_ptr<DeviceStages> ExtendedDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  auto stages = std::make_unique<PairStages>(*this, std::move(device));
  return stages->any() ? std::move(stages) : nullptr;
}

}  // namespace sightline
