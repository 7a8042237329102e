#include "detection/composite_detector.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "processing/device_stages.hpp"

namespace sightline {
namespace {

[[noreturn]] void differ(const std::string& name, const std::string& other, const std::string& how) {
  throw Error(ExitCode::usage, "settings '" + other + "' and '" + name + "' " + how,
              "a run turns between settings that differ in speed and accuracy alone");
}

// Schedules, transfers and results must be the same for all frames, whatever their operating point.
void check_alike(const NamedDetector& one, const NamedDetector& other) {
  const Detector& a = *one.detector;
  const Detector& b = *other.detector;
  if (!std::ranges::equal(a.stages(), b.stages()) || !std::ranges::equal(a.resources(), b.resources()) ||
      a.partitionable_stages() != b.partitionable_stages())
    differ(other.name, one.name, "have different stages");
  if (a.info().labels != b.info().labels) differ(other.name, one.name, "find different things");
  const Tunable* const tuned = a.tunable();
  const Tunable* const other_tuned = b.tunable();
  if ((tuned != nullptr) != (other_tuned != nullptr) ||
      (tuned && (tuned->name != other_tuned->name || tuned->largest != other_tuned->largest)))
    differ(other.name, one.name, "are tuned in different ways");
}

std::vector<CompositeBranch> one_branch(CompositeBranch branch) {
  std::vector<CompositeBranch> branches;
  branches.push_back(std::move(branch));
  return branches;
}

// The name, with a number if it is taken.
std::string untaken(const std::string& name, const std::vector<std::string>& taken) {
  std::string own = name;
  for (int number = 2; std::ranges::find(taken, own) != taken.end(); ++number)
    own = name + " " + std::to_string(number);
  return own;
}

}  // namespace

const ProcessorInfo& ObjectProcessor::info() const {
  static const ProcessorInfo none;  // users see the CompositeDetector's
  return none;
}

void ObjectProcessor::take_result(Workspace& workspace, FrameResult& result) const {
  result.objects = take_objects(workspace);
}

CompositeBranch::CompositeBranch(std::unique_ptr<Detector> detector, std::unique_ptr<ObjectProcessor> behind)
    : info_(detector->info()) {
  points_.push_back({"", std::move(detector)});
  if (behind) add(std::move(behind));
}

CompositeBranch::CompositeBranch(std::vector<NamedDetector> points, std::size_t configured)
    : points_(std::move(points)), configured_(configured), info_(points_[configured].detector->info()) {
  for (auto point = points_.begin(); point != points_.end(); ++point) {
    if (std::find_if(points_.begin(), point, [&](const auto& o) { return o.name == point->name; }) != point)
      differ(point->name, point->name, "are the same");
    if (point != points_.begin()) check_alike(points_.front(), *point);
    const DetectorInfo& info = point->detector->info();
    std::ranges::transform(info_.smallest_objects, info.smallest_objects, info_.smallest_objects.begin(),
                           [](double a, double b) { return std::min(a, b); });
    info_.threshold = std::min(info_.threshold, info.threshold);
    if (info_.cpu_only.empty()) info_.cpu_only = info.cpu_only;
  }
}

void CompositeBranch::add(std::unique_ptr<ObjectProcessor> behind) {
  behind->extend(info_);
  behind_.push_back(std::move(behind));
}

class CompositeDetector::CompositeWorkspace : public Workspace {
 public:
  std::vector<std::vector<std::unique_ptr<Workspace>>> own;  ///< by member and point; null until needed
  std::vector<std::size_t> point;                            ///< by member: the frame's operating point
  std::vector<bool> active;  ///< by branch: whether the frame is large enough for it

  Workspace& now(std::size_t member) const { return *own[member][point[member]]; }
};

CompositeDetector::CompositeDetector(CompositeBranch branch)
    : CompositeDetector(one_branch(std::move(branch))) {}

CompositeDetector::CompositeDetector(std::vector<CompositeBranch> branches) : branches_(std::move(branches)) {
  add_members();
  join_infos();
  check_size();
  add_stages();
  join_settings();
}

CompositeDetector::~CompositeDetector() = default;

std::unique_ptr<Detector> CompositeDetector::compose(std::vector<CompositeBranch> branches) {
  CompositeBranch& first = branches.front();
  if (branches.size() == 1 && first.behind_.empty() && first.points_.front().name.empty())
    return std::move(first.points_.front().detector);
  return std::make_unique<CompositeDetector>(std::move(branches));
}

std::unique_ptr<Detector> CompositeDetector::compose(CompositeBranch branch) {
  return compose(one_branch(std::move(branch)));
}

void CompositeDetector::add_members() {
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    members_.push_back({i, {}, branches_[i].configured_, nullptr, {}});
    for (const auto& point : branches_[i].points_) members_.back().points.push_back(point.detector.get());
    for (const auto& one : branches_[i].behind_) members_.push_back({i, {one.get()}, 0, one.get(), {}});
  }
  const auto has_tunable = [](const Member& one) { return !one.behind && one.processor().tunable(); };
  tuned_ = static_cast<std::size_t>(std::ranges::find_if(members_, has_tunable) - members_.begin());
}

void CompositeDetector::join_infos() {
  if (!several()) {
    info_ = branches_.front().info();
    return;
  }
  info_.plan_key = "combined";
  info_.threshold = std::numeric_limits<double>::infinity();
  for (const CompositeBranch& branch : branches_) {
    const DetectorInfo& info = branch.info();
    info_.model += (info_.model.empty() ? "" : "; ") + info.model;
    info_.plan_key += " + " + info.plan_key;
    info_.threshold = std::min(info_.threshold, info.threshold);
    info_.names_objects = info_.names_objects || info.names_objects;
    info_.classifies_frames = info_.classifies_frames || info.classifies_frames;
    if (!info.cpu_only.empty()) info_.cpu_only = info.cpu_only;
    std::vector<int>& labels = labels_.emplace_back();
    const std::vector<std::string> before = info_.labels;
    for (const std::string& label : info.labels) {
      labels.push_back(static_cast<int>(info_.labels.size()));
      info_.labels.push_back(untaken(label, before));
    }
    info_.smallest_objects.insert(info_.smallest_objects.end(), info.smallest_objects.begin(),
                                  info.smallest_objects.end());
    info_.smallest_objects.resize(info_.labels.size());
    names_.push_back(untaken(
        labels.empty() ? info.family : info_.labels[static_cast<std::size_t>(labels.front())], names_));
  }
  if (std::ranges::any_of(branches_, [](const auto& one) { return one.info().cpu_only.empty(); }))
    info_.cpu_only.clear();
}

void CompositeDetector::check_size() const {
  std::size_t stages = 0, resources = 1;
  for (const Member& one : members_) {
    stages += one.processor().stages().size();
    resources += one.processor().resources().size() - one.first_resource();
  }
  if (stages <= kMostStages && resources <= kMostStages) return;
  throw Error(ExitCode::usage,
              (several() ? std::to_string(branches_.size()) + " detectors have"
                         : std::string("a detector and what works on its objects have")) +
                  " too many stages together (" + std::to_string(stages) + " of " +
                  std::to_string(kMostStages) + ")",
              several() ? "search with fewer at a time" : "leave some of it out");
}

// Stages that divide frames come first, then the others, then each branch's last.
void CompositeDetector::add_stages() {
  enum Phase { divides, follows, ends };
  struct Step {
    Place place;
    StageInfo info;
    Phase phase;
  };
  std::vector<Step> steps;
  resources_.push_back(members_.front().processor().resources().front());
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Member& member = members_[m];
    const FrameProcessor& processor = member.processor();
    const std::span<const std::string_view> names = processor.resources();
    const std::span<const StageInfo> stages = processor.stages();
    const std::size_t own = member.first_resource(), base = resources_.size();
    for (const std::string_view name : names.subspan(own)) {
      resources_.push_back(several() ? texts_.emplace_back(names_[member.branch] + "'s " + std::string(name))
                                     : name);
    }
    // The objects are the last output of the previous member.
    const ResourceSet objects = member.behind ? steps.back().info.writes : ResourceSet();
    const auto here = [&](ResourceSet set) {
      ResourceSet moved = set & ResourceSet{kFrameResource};
      if (member.behind && set.contains(ObjectProcessor::kObjectsResource)) moved = moved | objects;
      for (std::size_t number = own; number < names.size(); ++number) {
        if (set.contains(number)) moved.insert(base + number - own);
      }
      return moved;
    };
    const std::size_t divisible = member.behind ? 0 : processor.partitionable_stages();
    for (std::size_t i = 0; i < stages.size(); ++i) {
      StageInfo info = stages[i];
      for (ResourceSet* set : {&info.reads, &info.writes, &info.reuses}) *set = here(*set);
      const bool is_last = i + 1 == stages.size() && is_last_of_branch(m);
      if (several()) {
        std::string& name = texts_.emplace_back(names_[member.branch] + "." + std::string(info.name));
        std::ranges::replace(name, ' ', '-');  // as in --map
        info.name = name;
        info.makes_result = is_last;
      }
      steps.push_back({{m, i}, info, is_last ? ends : i < divisible ? divides : follows});
    }
    member.stages.resize(stages.size());
  }
  std::ranges::stable_sort(steps, {}, &Step::phase);
  for (const Step& step : steps) {
    members_[step.place.member].stages[step.place.stage] = places_.size();
    places_.push_back(step.place);
    stages_.push_back(step.info);
  }
  if (std::ranges::all_of(branches_,
                          [](const auto& one) { return one.detector().partitionable_stages() > 0; }))
    partitionable_ = static_cast<std::size_t>(std::ranges::count(steps, divides, &Step::phase));
}

// The joint range to each side is the longest of any branch.
void CompositeDetector::join_settings() {
  std::size_t after = 0;
  for (const CompositeBranch& branch : branches_) {
    configured_ = std::max(configured_, branch.configured_);
    after = std::max(after, branch.points_.size() - 1 - branch.configured_);
  }
  for (std::size_t number = 0; number <= configured_ + after; ++number) {
    OperatingPoint joined;
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      const CompositeBranch& branch = branches_[i];
      const NamedDetector& point = branch.points_[point_of(branch, static_cast<int>(number))];
      if (!several()) {
        const DetectorInfo& info = point.detector->info();
        joined.name = point.name;
        // Models are evaluated window by window, which says nothing of coarser scales.
        if (info.scale_step <= branch.points_.front().detector->info().scale_step) {
          joined.accuracy = info.accuracy;
          joined.missed = info.missed;
        }
      } else if (branch.points_.size() > 1) {
        joined.name += (joined.name.empty() ? "" : "; ") + names_[i] + ": " + point.name;
      }
    }
    if (!joined.name.empty()) settings_.push_back(std::move(joined));
  }
}

// Operating point of a branch for one of `operating_points`, or for the configured one if below 0.
std::size_t CompositeDetector::point_of(const CompositeBranch& branch, int setting) const {
  if (setting < 0) return branch.configured_;
  const int wanted = static_cast<int>(branch.configured_) + setting - static_cast<int>(configured_);
  return static_cast<std::size_t>(std::clamp(wanted, 0, static_cast<int>(branch.points_.size()) - 1));
}

std::shared_ptr<const KnownNames> CompositeDetector::known_names() const {
  std::vector<std::shared_ptr<const KnownNames>> several;
  for (const CompositeBranch& branch : branches_) {
    several.push_back(branch.detector().known_names());
    for (const auto& one : branch.behind_) several.push_back(one->known_names());
  }
  return joined(several);
}

FramePixels CompositeDetector::pixels() const {
  FramePixels all = FramePixels::luma;
  for (const Member& member : members_)
    for (const FrameProcessor* point : member.points) all = std::max(all, point->pixels());
  return all;
}

const Tunable* CompositeDetector::tunable() const {
  return tuned_ < members_.size() ? members_[tuned_].processor().tunable() : nullptr;
}

std::vector<WorkCount> CompositeDetector::count_work(PictureView frame) const {
  if (!several()) return branches_.front().detector().count_work(frame);
  std::vector<WorkCount> all;
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    for (const WorkCount& one : branches_[i].detector().count_work(frame))
      all.push_back({names_[i] + ": " + one.what, one.count});
  }
  return all;
}

// --- one frame ---------------------------------------------------------------------------------------------

std::unique_ptr<Workspace> CompositeDetector::make_workspace() const {
  auto workspace = std::make_unique<CompositeWorkspace>();
  for (const Member& member : members_) {
    auto& own = workspace->own.emplace_back(member.points.size());
    own[member.configured] = member.processor().make_workspace();
    workspace->point.push_back(member.configured);
  }
  workspace->active.resize(branches_.size());
  return workspace;
}

bool CompositeDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  auto& w = static_cast<CompositeWorkspace&>(workspace);
  w.active.assign(branches_.size(), true);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const Member& member = members_[m];
    if (!w.active[member.branch]) continue;
    const std::size_t point = member.behind ? 0 : point_of(branches_[member.branch], w.setting);
    w.point[m] = point;
    if (!w.own[m][point]) w.own[m][point] = member.points[point]->make_workspace();
    w.now(m).tuned = m == tuned_ ? w.tuned : 0;
    w.active[member.branch] =
        member.points[point]->prepare(w.now(m), frame, member.behind ? Partition() : partition);
  }
  return std::ranges::find(w.active, true) != w.active.end();
}

std::vector<Detection> CompositeDetector::take_objects(CompositeWorkspace& w, std::size_t m) const {
  const Member& member = members_[m];
  if (member.behind) return member.behind->take_objects(w.now(m));
  return branches_[member.branch].points_[w.point[m]].detector->take_detections(w.now(m));
}

// To a member's first stage, if the member works on objects.
void CompositeDetector::hand_over(CompositeWorkspace& w, std::size_t m, std::size_t stage) const {
  if (members_[m].behind && stage == 0) members_[m].behind->set_objects(w.now(m), take_objects(w, m - 1));
}

void CompositeDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<CompositeWorkspace&>(workspace);
  const auto [m, own] = places_[stage];
  if (!w.active[members_[m].branch]) return;
  hand_over(w, m, own);
  members_[m].points[w.point[m]]->run_stage(own, w.now(m));
  w.work.add(w.now(m).work);
}

void CompositeDetector::merge(Workspace& workspace, Workspace& other) const {
  auto& w = static_cast<CompositeWorkspace&>(workspace);
  auto& more = static_cast<CompositeWorkspace&>(other);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (!members_[m].behind && w.active[members_[m].branch])
      members_[m].points[w.point[m]]->merge(w.now(m), more.now(m));
  }
}

std::vector<Detection> CompositeDetector::take_detections(Workspace& workspace) const {
  auto& w = static_cast<CompositeWorkspace&>(workspace);
  if (!several()) return take_objects(w, members_.size() - 1);
  std::vector<Detection> all;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const std::size_t branch = members_[m].branch;
    if (!is_last_of_branch(m) || !w.active[branch]) continue;
    for (Detection& detection : take_objects(w, m)) {
      detection.label = labels_[branch][static_cast<std::size_t>(detection.label)];
      all.push_back(std::move(detection));
    }
  }
  return all;
}

// --- on a device -------------------------------------------------------------------------------------------

class CompositeDetector::CompositeSlot : public DeviceSlot {
 public:
  SharedFrameUpload frame;                                    ///< shared by several members
  std::vector<std::vector<std::unique_ptr<DeviceSlot>>> own;  ///< by member and point; null until needed
  std::unique_ptr<DeviceQueue> queue;                         ///< joins the branches' ends, if several
  std::vector<DeviceEvent> ends;                              ///< ends of the members' parts of a submission
  std::vector<DeviceWork> works;                              ///< what a member gets; of a batch's first slot
  std::size_t first = 0;                                      ///< stages of the last submission
  std::size_t last = 0;
};

// Each member's stages with its own workspaces and slots, all on the same device.
class CompositeDetector::CompositeStages : public DeviceStages {
 public:
  CompositeStages(const CompositeDetector& detector, std::shared_ptr<ComputeDevice> device)
      : detector_(detector), device_(std::move(device)) {
    for (const Member& member : detector_.members_) {
      auto& own = own_.emplace_back();
      StageSet on_all = StageSet().set();
      for (const FrameProcessor* point : member.points) {
        own.push_back(point->make_stages_on(device_));
        on_all &= own.back() ? own.back()->supported() : StageSet();
      }
      if (on_all.none()) own.clear();
      members_here_ += !own.empty();
      for (std::size_t i = 0; i < member.stages.size(); ++i) supported_[member.stages[i]] = on_all[i];
    }
  }

  const ComputeDevice& device() const override { return *device_; }
  StageSet supported() const override { return supported_; }

  std::optional<MappingConflict> check(const StageSet& on_device) const override {
    using Kind = MappingConflict::Kind;
    for (std::size_t m = 0; m < own_.size(); ++m) {
      const std::vector<std::size_t>& stages = detector_.members_[m].stages;
      for (const auto& point : own_[m]) {
        if (const auto conflict = point->check(part_of(on_device, m)))
          return MappingConflict{conflict->kind, stages[conflict->stage], stages[conflict->other]};
      }
      if (!detector_.members_[m].behind) continue;
      const std::size_t before = detector_.members_[m - 1].stages.back();
      if (on_device[stages.front()] && on_device[before])
        return MappingConflict{Kind::host, stages.front(), before};
    }
    // A member's consecutive stages are submitted together, so a stage on the CPU must not part them.
    for (std::size_t i = 0; i < detector_.places_.size(); ++i) {
      const auto [m, own] = detector_.places_[i];
      if (own == 0 || !on_device[i]) continue;
      const std::size_t before = detector_.members_[m].stages[own - 1];
      std::size_t at = before;
      while (on_device[at] && at < i) ++at;
      if (on_device[before] && at < i) return MappingConflict{Kind::apart, i, before};
    }
    return std::nullopt;
  }

  bool is_ready() const override {
    return std::ranges::all_of(own_, [](const auto& points) {
      return std::ranges::all_of(points, [](const auto& point) { return point->is_ready(); });
    });
  }
  void wait_until_ready(std::size_t frames) const override {
    for (const auto& points : own_) {
      for (const auto& point : points) point->wait_until_ready(frames);
    }
  }

  std::unique_ptr<DeviceSlot> make_slot() const override {
    auto slot = std::make_unique<CompositeSlot>();
    for (std::size_t m = 0; m < own_.size(); ++m) {
      auto& own = slot->own.emplace_back(own_[m].size());
      const std::size_t configured = detector_.members_[m].configured;
      if (!own.empty()) own[configured] = own_[m][configured]->make_slot();
    }
    slot->ends.reserve(own_.size());
    if (detector_.several()) slot->queue = device_->make_queue();
    return slot;
  }

  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const override {
    auto& s = static_cast<CompositeSlot&>(slot);
    auto& w = static_cast<CompositeWorkspace&>(workspace);
    s.frame = {};
    for (std::size_t m = 0; m < own_.size(); ++m) {
      const StageSet part = part_of(on_device, m);
      if (part.none() || !w.active[detector_.members_[m].branch]) continue;
      const DeviceStages& stages = *own_[m][w.point[m]];
      std::unique_ptr<DeviceSlot>& own = s.own[m][w.point[m]];
      if (!own) own = stages.make_slot();
      own->shared_frame = members_here_ > 1 ? &s.frame : nullptr;
      stages.prepare(*own, w.now(m), part);
    }
  }

  std::size_t most_together() const override {
    std::size_t most = 1;
    for (const auto& points : own_) {
      for (const auto& point : points) most = std::max(most, point->most_together());
    }
    return most;
  }

  // Each member gets its frames at once: those that it searches, by operating point.
  using DeviceStages::submit;
  void submit(std::span<const DeviceWork> frames, std::size_t first, std::size_t last,
              SubmitParts parts) const override {
    for (const DeviceWork& frame : frames) {
      if (includes(parts, SubmitParts::inputs)) begin(frame, first, last);
      slot_of(frame).ends.clear();
    }
    std::vector<DeviceWork>& works = slot_of(frames.front()).works;
    for (std::size_t m = 0; m < own_.size(); ++m) {
      const auto [own_first, own_last] = own_stages(m, first, last);
      for (std::size_t point = 0; point < own_[m].size() && own_first < own_last; ++point) {
        works.clear();
        for (const DeviceWork& frame : frames) {
          if (searches(frame, m, point))
            works.push_back({slot_of(frame).own[m][point].get(), &workspace_of(frame).now(m)});
        }
        if (works.empty()) continue;
        own_[m][point]->submit(works, own_first, own_last, parts);
        for (const DeviceWork& frame : frames) {
          if (searches(frame, m, point)) take(slot_of(frame), m, *slot_of(frame).own[m][point]);
        }
      }
    }
    if (!includes(parts, SubmitParts::outputs)) return;
    for (const DeviceWork& frame : frames) join_ends(slot_of(frame));
  }

  void complete(DeviceSlot& slot, Workspace& workspace) const override {
    const DeviceWork frame{&slot, &workspace};
    const auto& s = slot_of(frame);
    const auto& w = workspace_of(frame);
    for (std::size_t m = 0; m < own_.size(); ++m) {
      const auto [first, last] = own_stages(m, s.first, s.last);
      if (first < last && w.active[detector_.members_[m].branch])
        own_[m][w.point[m]]->complete(*s.own[m][w.point[m]], workspace_of(frame).now(m));
    }
  }

  bool divisible() const override {
    return std::ranges::all_of(own_, [](const auto& points) {
      return std::ranges::all_of(points, [](const auto& point) { return point->divisible(); });
    });
  }

 private:
  static CompositeSlot& slot_of(const DeviceWork& frame) { return static_cast<CompositeSlot&>(*frame.slot); }
  static CompositeWorkspace& workspace_of(const DeviceWork& frame) {
    return static_cast<CompositeWorkspace&>(*frame.workspace);
  }

  // The range of a member's own stages that [first, last) of all stages covers.
  std::pair<std::size_t, std::size_t> own_stages(std::size_t member, std::size_t first,
                                                 std::size_t last) const {
    const std::vector<std::size_t>& stages = detector_.members_[member].stages;
    const auto number_of = [&](std::size_t stage) {
      return static_cast<std::size_t>(std::ranges::lower_bound(stages, stage) - stages.begin());
    };
    return {number_of(first), number_of(last)};
  }

  // Whether a member searches a frame, at this operating point.
  bool searches(const DeviceWork& frame, std::size_t member, std::size_t point) const {
    const CompositeWorkspace& w = workspace_of(frame);
    return w.active[detector_.members_[member].branch] && w.point[member] == point;
  }

  void begin(const DeviceWork& frame, std::size_t first, std::size_t last) const {
    CompositeSlot& s = slot_of(frame);
    CompositeWorkspace& w = workspace_of(frame);
    s.spans.clear();
    s.done = {};
    s.first = first;
    s.last = last;
    for (std::size_t m = 0; m < own_.size(); ++m) {
      const auto [own_first, own_last] = own_stages(m, first, last);
      if (own_first < own_last && w.active[detector_.members_[m].branch])
        detector_.hand_over(w, m, own_first);
    }
  }

  // Takes what a member has just enqueued.
  void take(CompositeSlot& s, std::size_t member, DeviceSlot& own) const {
    for (DeviceSpan& span : own.spans) {
      span.stage = detector_.members_[member].stages[span.stage];
      s.spans.push_back(std::move(span));
    }
    own.spans.clear();
    s.ends.push_back(own.done);
  }

  // There are none if the frame is too small for all branches of the submission.
  static void join_ends(CompositeSlot& s) {
    if (s.ends.size() == 1) {
      s.done = s.ends.front();
    } else {
      s.done = s.queue->marker_after(s.ends);
      s.queue->flush();
    }
  }

  // A member's stages out of all.
  StageSet part_of(const StageSet& all, std::size_t member) const {
    const std::vector<std::size_t>& stages = detector_.members_[member].stages;
    StageSet part;
    for (std::size_t i = 0; i < stages.size(); ++i) part[i] = all[stages[i]];
    return part;
  }

  const CompositeDetector& detector_;
  std::shared_ptr<ComputeDevice> device_;
  std::vector<std::vector<std::unique_ptr<DeviceStages>>> own_;  ///< by member and point; empty: none here
  std::size_t members_here_ = 0;                                 ///< members with stages on the device
  StageSet supported_;
};

std::unique_ptr<DeviceStages> CompositeDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  auto stages = std::make_unique<CompositeStages>(*this, std::move(device));
  return stages->supported().any() ? std::move(stages) : nullptr;
}

}  // namespace sightline
