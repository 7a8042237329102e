#include "detection/combined_detector.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "processing/device_stages.hpp"

namespace sightline {
namespace {

// A name that none of those before it has.
std::string unused(const std::string& name, const std::vector<std::string>& used) {
  std::string own = name;
  for (int number = 2; std::ranges::find(used, own) != used.end(); ++number)
    own = name + " " + std::to_string(number);
  return own;
}

// A detector's resources, but for the frame, stand one after the other.
ResourceSet moved(ResourceSet resources, std::size_t by) {
  ResourceSet all;
  for (std::size_t number = 0; number < kMostStages; ++number) {
    if (resources.contains(number)) all.insert(number == kFrameResource ? number : number + by);
  }
  return all;
}

}  // namespace

class CombinedDetector::CombinedWorkspace : public Workspace {
 public:
  std::vector<std::unique_ptr<Workspace>> own;  ///< by detector
  std::vector<bool> searches;                   ///< by detector: whether the frame is large enough for it
};

CombinedDetector::CombinedDetector(std::vector<std::unique_ptr<Detector>> detectors)
    : detectors_(std::move(detectors)) {
  info_ = detectors_.front()->info();
  info_.family.clear();
  info_.model.clear();
  info_.cost_key = "combined";
  info_.labels.clear();
  info_.smallest_objects.clear();
  info_.variant.clear();
  info_.accuracy.clear();
  info_.missed.reset();
  info_.scale_step = 0;
  info_.cpu_only.clear();
  std::size_t count = 0;
  std::size_t resources = 1;
  std::string only;
  for (const auto& detector : detectors_) {
    const DetectorInfo& info = detector->info();
    info_.model += (info_.model.empty() ? "" : "; ") + info.model;
    info_.cost_key += " + " + info.cost_key;
    info_.threshold = std::min(info_.threshold, info.threshold);
    info_.names_objects = info_.names_objects || info.names_objects;
    if (!info.cpu_only.empty()) only = info.cpu_only;
    std::vector<int>& labels = labels_.emplace_back();
    const std::vector<std::string> before = info_.labels;
    for (const std::string& label : info.labels) {
      labels.push_back(static_cast<int>(info_.labels.size()));
      info_.labels.push_back(unused(label, before));
    }
    info_.smallest_objects.insert(info_.smallest_objects.end(), info.smallest_objects.begin(),
                                  info.smallest_objects.end());
    info_.smallest_objects.resize(info_.labels.size());
    names_.push_back(unused(
        labels.empty() ? info.family : info_.labels[static_cast<std::size_t>(labels.front())], names_));
    count += detector->stages().size();
    resources += detector->resources().size() - 1;
  }
  if (std::ranges::all_of(detectors_, [](const auto& one) { return !one->info().cpu_only.empty(); }))
    info_.cpu_only = only;
  if (count > kMostStages || resources > kMostStages) {
    throw Error(ExitCode::usage,
                std::to_string(detectors_.size()) + " detectors have too many stages together (" +
                    std::to_string(count) + " of " + std::to_string(kMostStages) + ")",
                "use fewer detectors");
  }

  // Those that divide frames, then the rest, then each detector's last.
  const auto add = [&](std::size_t detector, std::size_t first, std::size_t last) {
    for (std::size_t stage = first; stage < last; ++stage) places_.push_back({detector, stage});
  };
  const auto divides = [&](std::size_t detector) {
    return std::min(detectors_[detector]->partitionable_stages(), detectors_[detector]->stages().size() - 1);
  };
  for (std::size_t i = 0; i < detectors_.size(); ++i) add(i, 0, divides(i));
  const bool all_divide =
      std::ranges::all_of(detectors_, [](const auto& one) { return one->partitionable_stages() > 0; });
  partitionable_ = all_divide ? places_.size() : 0;
  for (std::size_t i = 0; i < detectors_.size(); ++i) add(i, divides(i), detectors_[i]->stages().size() - 1);
  for (std::size_t i = 0; i < detectors_.size(); ++i)
    add(i, detectors_[i]->stages().size() - 1, detectors_[i]->stages().size());

  texts_.reserve(count + resources);  // views of them are handed out
  resources_.push_back(detectors_.front()->resources().front());
  std::vector<std::size_t> moved_by;
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    moved_by.push_back(resources_.size() - 1);
    for (const std::string_view name : detectors_[i]->resources().subspan(1))
      resources_.push_back(texts_.emplace_back(names_[i] + "'s " + std::string(name)));
  }
  for (const auto& [detector, stage] : places_) {
    StageInfo info = detectors_[detector]->stages()[stage];
    std::string name = names_[detector] + "." + std::string(info.name);
    std::ranges::replace(name, ' ', '-');  // as --map takes it
    info.name = texts_.emplace_back(std::move(name));
    for (ResourceSet* set : {&info.reads, &info.writes, &info.reuses}) *set = moved(*set, moved_by[detector]);
    info.makes_result = stage + 1 == detectors_[detector]->stages().size();
    stages_.push_back(info);
  }
  join_settings();
}

// As many steps to each side as the detector has that can be turned furthest there.
void CombinedDetector::join_settings() {
  std::size_t after = 0;
  for (const auto& one : detectors_) {
    const std::size_t count = one->run_settings().size();
    if (count < 2) continue;
    configured_ = std::max(configured_, one->configured_setting());
    after = std::max(after, count - 1 - one->configured_setting());
  }
  if (configured_ + after == 0) return;
  for (std::size_t number = 0; number <= configured_ + after; ++number) {
    ProcessorSetting& joined = settings_.emplace_back();
    for (std::size_t i = 0; i < detectors_.size(); ++i) {
      const int own = setting_of(i, static_cast<int>(number));
      if (own < 0) continue;
      joined.name += (joined.name.empty() ? "" : "; ") + names_[i] + ": " +
                     detectors_[i]->run_settings()[static_cast<std::size_t>(own)].name;
    }
  }
}

// A detector's own for one of all; below 0 where it has only one.
int CombinedDetector::setting_of(std::size_t detector, int setting) const {
  const auto count = static_cast<int>(detectors_[detector]->run_settings().size());
  if (count < 2 || setting < 0) return -1;
  const auto own = static_cast<int>(detectors_[detector]->configured_setting());
  return std::clamp(own + setting - static_cast<int>(configured_), 0, count - 1);
}

CombinedDetector::~CombinedDetector() = default;

std::shared_ptr<const KnownNames> CombinedDetector::known_names() const {
  std::vector<std::shared_ptr<const KnownNames>> several;
  for (const auto& one : detectors_) several.push_back(sightline::known_names(*one));
  return joined(several);
}

std::unique_ptr<Workspace> CombinedDetector::make_workspace() const {
  auto workspace = std::make_unique<CombinedWorkspace>();
  for (const auto& detector : detectors_) workspace->own.push_back(detector->make_workspace());
  workspace->searches.resize(detectors_.size());
  return workspace;
}

bool CombinedDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  auto& w = static_cast<CombinedWorkspace&>(workspace);
  const Tunable* const tuned = tunable();
  bool any = false;
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    w.own[i]->tuned = tuned && detectors_[i]->tunable() == tuned ? w.tuned : 0;
    w.own[i]->setting = setting_of(i, w.setting);
    w.searches[i] = detectors_[i]->prepare(*w.own[i], frame, partition);
    any = any || w.searches[i];
  }
  return any;
}

void CombinedDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<CombinedWorkspace&>(workspace);
  const auto [detector, own] = places_[stage];
  if (!w.searches[detector]) return;
  detectors_[detector]->run_stage(own, *w.own[detector]);
  w.work.add(std::chrono::nanoseconds(std::llround(1e9 * w.own[detector]->work.take())));
}

void CombinedDetector::merge(Workspace& workspace, Workspace& other) const {
  auto& w = static_cast<CombinedWorkspace&>(workspace);
  auto& more = static_cast<CombinedWorkspace&>(other);
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    if (w.searches[i]) detectors_[i]->merge(*w.own[i], *more.own[i]);
  }
}

const Tunable* CombinedDetector::tunable() const {
  for (const auto& detector : detectors_) {
    if (const Tunable* const one = detector->tunable()) return one;
  }
  return nullptr;
}

std::vector<WorkCount> CombinedDetector::count_work(PictureView frame) const {
  std::vector<WorkCount> all;
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    for (const WorkCount& one : detectors_[i]->count_work(frame))
      all.push_back({names_[i] + ": " + one.what, one.count});
  }
  return all;
}

std::vector<Detection> CombinedDetector::take_detections(Workspace& workspace) const {
  auto& w = static_cast<CombinedWorkspace&>(workspace);
  std::vector<Detection> all;
  for (std::size_t i = 0; i < detectors_.size(); ++i) {
    if (!w.searches[i]) continue;
    for (Detection& detection : detectors_[i]->take_detections(*w.own[i])) {
      detection.label = labels_[i][static_cast<std::size_t>(detection.label)];
      all.push_back(std::move(detection));
    }
  }
  return all;
}

// --- on a device
// ---------------------------------------------------------------------------------------------

class CombinedDetector::CombinedSlot : public DeviceSlot {
 public:
  explicit CombinedSlot(const ComputeDevice& device) : queue(device.make_queue()) {}
  SharedFrameUpload frame;
  std::vector<std::unique_ptr<DeviceSlot>> own;  ///< by detector; null where it has no stages there
  std::unique_ptr<DeviceQueue> queue;            ///< in which the ends of all come together
  std::size_t first = 0;                         ///< stages of the last `submit`
  std::size_t last = 0;
  std::vector<DeviceEvent> ends;  ///< of the detectors' parts
};

// Each detector's stages with its own workspace and slot, all on the same device.
class CombinedDetector::CombinedStages : public DeviceStages {
 public:
  CombinedStages(const CombinedDetector& detector, std::shared_ptr<ComputeDevice> device)
      : detector_(detector), device_(std::move(device)) {
    for (const auto& one : detector.detectors_) own_.push_back(one->make_stages_on(device_));
    for (std::size_t i = 0; i < detector.places_.size(); ++i) {
      const auto [which, stage] = detector.places_[i];
      supported_[i] = own_[which] && own_[which]->supported()[stage];
    }
  }

  const ComputeDevice& device() const override { return *device_; }
  StageSet supported() const override { return supported_; }
  bool any() const { return supported_.any(); }

  void check(const StageSet& on_device, std::span<const std::string_view> names) const override {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      if (!own_[i]) continue;
      std::vector<std::string_view> own_names(detector_.detectors_[i]->stages().size());
      for (std::size_t stage = 0; stage < own_names.size(); ++stage)
        own_names[stage] = names[stage_of(i, stage)];
      own_[i]->check(part_of(on_device, i), own_names);
    }
    // A detector's consecutive stages are handed over at once; the others' in between may not part them.
    std::vector<std::size_t> run(own_.size(),
                                 0);  // by detector: in which piece of the chain its last stage was
    std::size_t piece = 1;
    for (std::size_t i = 0; i < detector_.places_.size(); ++i) {
      const auto [which, stage] = detector_.places_[i];
      if (i > 0 && on_device[i] != on_device[i - 1]) ++piece;
      const bool goes_on = stage > 0 && on_device[i] && part_of(on_device, which)[stage - 1];
      if (goes_on && run[which] != piece) {
        throw Error(
            ExitCode::usage,
            "stage '" + std::string(names[i]) + "' cannot run on the device apart from the stage before it",
            "map both to the CPU, or all stages between them to the device");
      }
      run[which] = piece;
    }
  }

  std::unique_ptr<DeviceSlot> make_slot() const override {
    auto slot = std::make_unique<CombinedSlot>(*device_);
    for (const auto& one : own_) {
      slot->own.push_back(one ? one->make_slot() : nullptr);
      if (one) slot->own.back()->shared_frame = &slot->frame;
    }
    return slot;
  }

  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const override {
    auto& s = static_cast<CombinedSlot&>(slot);
    auto& w = static_cast<CombinedWorkspace&>(workspace);
    s.frame = {};
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const StageSet part = part_of(on_device, i);
      if (part.any() && w.searches[i]) own_[i]->prepare(*s.own[i], *w.own[i], part);
    }
  }

  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const override {
    auto& s = static_cast<CombinedSlot&>(slot);
    s.spans.clear();
    s.first = first;
    s.last = last;
    s.ends.clear();
    for_each_part(s, workspace, [&](std::size_t i, Workspace& own, std::size_t begin, std::size_t end) {
      own_[i]->submit(*s.own[i], own, begin, end);
      s.ends.push_back(s.own[i]->done);
      for (DeviceSpan span : s.own[i]->spans) {
        span.stage = stage_of(i, span.stage);
        s.spans.push_back(std::move(span));
      }
    });
    join_ends(s);
    s.queue->flush();
  }

  void complete(DeviceSlot& slot, Workspace& workspace) const override {
    auto& s = static_cast<CombinedSlot&>(slot);
    for_each_part(s, workspace, [&](std::size_t i, Workspace& own, std::size_t, std::size_t) {
      own_[i]->complete(*s.own[i], own);
    });
  }

  bool runs_in_steps() const override {
    return std::ranges::all_of(own_, [](const auto& one) { return !one || one->runs_in_steps(); });
  }
  void submit_inputs(DeviceSlot& slot, Workspace& workspace, std::size_t first,
                     std::size_t last) const override {
    auto& s = static_cast<CombinedSlot&>(slot);
    s.spans.clear();
    s.done = {};
    s.first = first;
    s.last = last;
    for_each_part(s, workspace, [&](std::size_t i, Workspace& own, std::size_t begin, std::size_t end) {
      own_[i]->submit_inputs(*s.own[i], own, begin, end);
      tell(s, i);
    });
  }
  void submit_stage(DeviceSlot& slot, Workspace& workspace, std::size_t stage) const override {
    auto& s = static_cast<CombinedSlot&>(slot);
    auto& w = static_cast<CombinedWorkspace&>(workspace);
    const auto [which, own_stage] = detector_.places_[stage];
    if (!w.searches[which]) return;
    s.own[which]->spans.clear();
    own_[which]->submit_stage(*s.own[which], *w.own[which], own_stage);
    tell(s, which);
  }
  void submit_outputs(DeviceSlot& slot, Workspace& workspace) const override {
    auto& s = static_cast<CombinedSlot&>(slot);
    s.ends.clear();
    for_each_part(s, workspace, [&](std::size_t i, Workspace& own, std::size_t, std::size_t) {
      s.own[i]->spans.clear();
      own_[i]->submit_outputs(*s.own[i], own);
      s.ends.push_back(s.own[i]->done);
      tell(s, i);
    });
    join_ends(s);
    s.queue->flush();
  }

 private:
  static void join_ends(CombinedSlot& slot) {
    slot.done = slot.ends.size() == 1 ? slot.ends.front() : slot.queue->marker_after(slot.ends);
  }

  // What one detector has just enqueued, in the words of all.
  void tell(CombinedSlot& slot, std::size_t detector) const {
    for (DeviceSpan span : slot.own[detector]->spans) {
      span.stage = stage_of(detector, span.stage);
      slot.spans.push_back(std::move(span));
    }
  }

  // One detector's stages out of all.
  StageSet part_of(const StageSet& all, std::size_t detector) const {
    StageSet part;
    for (std::size_t i = 0; i < detector_.places_.size(); ++i) {
      if (detector_.places_[i].detector == detector) part[detector_.places_[i].stage] = all[i];
    }
    return part;
  }
  std::size_t stage_of(std::size_t detector, std::size_t stage) const {
    const auto found = std::ranges::find_if(detector_.places_, [&](const Place& place) {
      return place.detector == detector && place.stage == stage;
    });
    return static_cast<std::size_t>(found - detector_.places_.begin());
  }

  // The detectors that have stages among those submitted, and something to search.
  template <typename Visit>
  void for_each_part(CombinedSlot& slot, Workspace& workspace, const Visit& visit) const {
    auto& w = static_cast<CombinedWorkspace&>(workspace);
    for (std::size_t i = 0; i < own_.size(); ++i) {
      std::size_t begin = kMostStages;
      std::size_t end = 0;
      for (std::size_t at = slot.first; at < slot.last; ++at) {
        if (detector_.places_[at].detector != i) continue;
        begin = std::min(begin, detector_.places_[at].stage);
        end = std::max(end, detector_.places_[at].stage + 1);
      }
      if (begin < end && w.searches[i]) visit(i, *w.own[i], begin, end);
    }
  }

  const CombinedDetector& detector_;
  std::shared_ptr<ComputeDevice> device_;
  std::vector<std::unique_ptr<DeviceStages>> own_;  ///< by detector; null where it has none
  StageSet supported_;
};

std::unique_ptr<DeviceStages> CombinedDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  auto stages = std::make_unique<CombinedStages>(*this, std::move(device));
  return stages->any() ? std::move(stages) : nullptr;
}

}  // namespace sightline
