#include "detection/inside_search.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "detection/candidate_limit.hpp"

namespace sightline {
namespace {

constexpr std::size_t kMostInside = 1000;  // objects of a box, the best ones
constexpr int kMostObjects = 20'000;       // objects of a frame, before duplicates are merged
constexpr double kSameObject = 0.5;        // overlap of duplicates, as a share of the smaller box

int label_named(const std::string& name, std::vector<std::string>& labels) {
  const auto found = std::find(labels.begin(), labels.end(), name);
  const auto index = static_cast<int>(found - labels.begin());
  if (found == labels.end()) labels.push_back(name);
  return index;
}

std::string part_text(const BoxPart& part) {
  std::string text;
  for (const double side : {part.left, part.top, part.right, part.bottom}) text += " " + std::to_string(side);
  return text;
}

// Nearest whole pixel down or up; numbers that no frame has are cut before they become integers.
int pixel(double value, int limit) {
  return static_cast<int>(std::clamp(value, 0.0, static_cast<double>(limit)));
}

bool same_object(const Box& a, const Box& b) {
  return intersection_area(a, b) > kSameObject * std::min(a.area(), b.area());
}

struct Found {
  Detection detection;
  std::size_t outer = 0;  // index of the box that it was found in
};

// Falling scores; what else there is makes it an order.
bool comes_first(const Found& a, const Found& b) {
  const auto key = [](const Found& f) {
    const Detection& d = f.detection;
    return std::make_tuple(-d.score, f.outer, d.label, d.box.y, d.box.x, d.box.width, d.box.height);
  };
  return key(a) < key(b);
}

// The surer of those that two outer boxes hold, by falling score.
std::vector<Detection> unique_objects(std::vector<Found> found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.detection.score > b.detection.score; });
  std::vector<Found> kept;
  for (const Found& one : found) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const Found& other) {
      return other.outer != one.outer && other.detection.label == one.detection.label &&
             same_object(other.detection.box, one.detection.box);
    });
    if (!known) kept.push_back(one);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Found& a, const Found& b) { return a.detection.label < b.detection.label; });
  std::vector<Detection> objects;
  for (const Found& one : kept) objects.push_back(one.detection);
  return objects;
}

}  // namespace

Crop crop_of(const Box& box, const BoxPart& part, Size frame) {
  const int left = pixel(std::floor(box.x + part.left * box.width), frame.width);
  const int top = pixel(std::floor(box.y + part.top * box.height), frame.height);
  const int right = pixel(std::ceil(box.x + part.right * box.width), frame.width);
  const int bottom = pixel(std::ceil(box.y + part.bottom * box.height), frame.height);
  return {left, top, {std::max(right - left, 0), std::max(bottom - top, 0)}};
}

namespace {

class InsideWorkspace : public Workspace {
 public:
  using PerThread = oneapi::tbb::enumerable_thread_specific<std::unique_ptr<Workspace>>;

  PictureView frame;
  std::vector<std::unique_ptr<PerThread>> own;  ///< by detector
  std::vector<Detection> detections;
};

constexpr std::string_view kInsideResources[] = {"frame", "objects", "objects inside"};
constexpr StageInfo kInsideStages[] = {{"inside", {kFrameResource, ObjectProcessor::kObjectsResource}, {2}}};

// The detectors inside, each with the pixels of every box.
class InsideSearch : public ObjectProcessor {
 public:
  explicit InsideSearch(std::vector<InsideDetector> inside);

  std::span<const std::string_view> resources() const override { return kInsideResources; }
  std::span<const StageInfo> stages() const override { return kInsideStages; }
  std::unique_ptr<Workspace> make_workspace() const override;
  FramePixels pixels() const override {
    FramePixels all = FramePixels::luma;
    for (const InsideDetector& one : inside_) all = std::max(all, one.detector->pixels());
    return all;
  }
  bool prepare(Workspace& workspace, PictureView frame, Partition /*partition*/) const override {
    static_cast<InsideWorkspace&>(workspace).frame = frame;
    return true;
  }
  void run_stage(std::size_t /*stage*/, Workspace& workspace) const override {
    search_inside(static_cast<InsideWorkspace&>(workspace));
  }
  void set_objects(Workspace& workspace, std::vector<Detection> objects) const override {
    static_cast<InsideWorkspace&>(workspace).detections = std::move(objects);
  }
  std::vector<Detection> take_objects(Workspace& workspace) const override {
    return std::move(static_cast<InsideWorkspace&>(workspace).detections);
  }
  void extend(DetectorInfo& info) override;
  std::shared_ptr<const KnownNames> known_names() const override;

 private:
  void search_inside(InsideWorkspace& workspace) const;
  std::vector<Detection> search_crop(std::size_t inside, const Crop& crop, InsideWorkspace& workspace) const;

  std::vector<InsideDetector> inside_;
  std::vector<std::vector<int>> labels_;  ///< labels of each inner detector as indices of this one
  CandidateLimit limit_{kMostObjects};
};

InsideSearch::InsideSearch(std::vector<InsideDetector> inside) : inside_(std::move(inside)) {
  for (const auto& [detector, part] : inside_) {
    if (!(part.left < part.right && part.top < part.bottom))
      throw Error(ExitCode::usage, "the part of a box to search is empty",
                  "write left, top, right and bottom in this order, from 0 (left, top) to 1 (right, bottom)");
  }
}

std::shared_ptr<const KnownNames> InsideSearch::known_names() const {
  std::vector<std::shared_ptr<const KnownNames>> several;
  for (const auto& one : inside_) several.push_back(one.detector->known_names());
  return joined(several);
}

void InsideSearch::extend(DetectorInfo& info) {
  for (const auto& [detector, part] : inside_) {
    const DetectorInfo& own = detector->info();
    info.model += "; inside: " + own.model;
    info.plan_key += "; inside" + part_text(part) + ": " + own.plan_key;
    std::vector<int>& labels = labels_.emplace_back();
    for (const std::string& label : own.labels) labels.push_back(label_named(label, info.labels));
  }
}

std::unique_ptr<Workspace> InsideSearch::make_workspace() const {
  auto workspace = std::make_unique<InsideWorkspace>();
  for (const InsideDetector& one : inside_) {
    workspace->own.push_back(std::make_unique<InsideWorkspace::PerThread>(
        [detector = one.detector.get()] { return detector->make_workspace(); }));
  }
  return workspace;
}

void InsideSearch::search_inside(InsideWorkspace& w) const {
  const std::size_t boxes = w.detections.size();
  std::vector<std::vector<Detection>> found(boxes * inside_.size());  // by box and detector
  parallel_for_isolated(found.size(), [&](std::size_t i) {
    const std::size_t inside = i % inside_.size();
    const Box& box = w.detections[i / inside_.size()].box;
    found[i] = search_crop(inside, crop_of(box, inside_[inside].part, w.frame.size()), w);
  });
  std::vector<Found> all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Detection& detection : found[i]) all.push_back({detection, i / inside_.size()});
  }
  limit_.keep_top_k(all, comes_first);
  const std::vector<Detection> unique = unique_objects(std::move(all));
  w.detections.insert(w.detections.end(), unique.begin(), unique.end());
}

// With a workspace of the thread's own: while it waits, it takes no other crop.
std::vector<Detection> InsideSearch::search_crop(std::size_t inside, const Crop& crop,
                                                 InsideWorkspace& w) const {
  using Clock = std::chrono::steady_clock;
  const Detector& detector = *inside_[inside].detector;
  Workspace& own = *w.own[inside]->local();
  if (crop.size.width == 0 || crop.size.height == 0) return {};
  if (!detector.prepare(own, part_of(w.frame, crop.x, crop.y, crop.size))) return {};
  for (std::size_t stage = 0; stage < detector.stages().size(); ++stage) {
    const Clock::time_point start = Clock::now();
    own.work.take();
    detector.run_stage(stage, own);
    if (w.work.add(own.work).count() == 0)
      w.work.add(Clock::now() - start);  // stages of one thread do not tell
  }
  std::vector<Detection> objects = detector.take_detections(own);
  if (objects.size() > kMostInside) objects.resize(kMostInside);  // they come by falling score
  for (Detection& object : objects) {
    object.box.x += crop.x;
    object.box.y += crop.y;
    object.attributes = object.attributes.moved(crop.x, crop.y);
    object.label = labels_[inside][static_cast<std::size_t>(object.label)];
  }
  return objects;
}

}  // namespace

std::unique_ptr<ObjectProcessor> make_inside_search(std::vector<InsideDetector> inside) {
  return std::make_unique<InsideSearch>(std::move(inside));
}

}  // namespace sightline
