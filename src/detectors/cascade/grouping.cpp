#include "detectors/cascade/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <tuple>

namespace sightline::cascade {
namespace {

constexpr double kEpsilon = 0.2;

bool are_similar(const Rect& a, const Rect& b) {
  const double delta = kEpsilon * (std::min(a.width, b.width) + std::min(a.height, b.height)) * 0.5;
  return std::abs(a.x - b.x) <= delta && std::abs(a.y - b.y) <= delta &&
         std::abs(a.x + a.width - b.x - b.width) <= delta &&
         std::abs(a.y + a.height - b.y - b.height) <= delta;
}

/// Disjoint sets of numbers (union by index, path halving).
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

struct Group {
  std::int64_t x = 0, y = 0, width = 0, height = 0;  // sums
  int count = 0;
  double margin = 0;
  Rect mean;
};

Rect mean_rect(const Group& group) {
  const float share = 1.0F / static_cast<float>(group.count);
  const auto mean = [&](std::int64_t sum) {
    return static_cast<int>(std::lrintf(static_cast<float>(sum) * share));
  };
  return {mean(group.x), mean(group.y), mean(group.width), mean(group.height)};
}

// Sorts by x, so that similar boxes are near; compares only boxes that begin within the largest delta.
std::vector<Group> make_groups(std::vector<ScoredBox> boxes) {
  std::sort(boxes.begin(), boxes.end(),
            [](const ScoredBox& a, const ScoredBox& b) { return a.box.x < b.box.x; });
  Sets sets(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Rect& box = boxes[i].box;
    const double reach = kEpsilon * (box.width + box.height) * 0.5;
    for (std::size_t j = i + 1; j < boxes.size() && boxes[j].box.x - box.x <= reach; ++j) {
      if (are_similar(box, boxes[j].box)) sets.join(i, j);
    }
  }
  std::vector<Group> groups;
  std::vector<std::size_t> place(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const std::size_t root = sets.find(i);  // the lowest index of the set
    if (root == i) {
      place[i] = groups.size();
      groups.emplace_back();
    }
    Group& group = groups[place[root]];
    group.x += boxes[i].box.x;
    group.y += boxes[i].box.y;
    group.width += boxes[i].box.width;
    group.height += boxes[i].box.height;
    group.margin = group.count == 0 ? boxes[i].margin : std::max(group.margin, boxes[i].margin);
    ++group.count;
  }
  for (Group& group : groups) group.mean = mean_rect(group);
  return groups;
}

bool is_inside(const Group& inner, const Group& outer) {
  const auto tolerance = [](int side) { return static_cast<int>(std::lrint(side * kEpsilon)); };
  const int dx = tolerance(outer.mean.width);
  const int dy = tolerance(outer.mean.height);
  const Rect& a = inner.mean;
  const Rect& b = outer.mean;
  return a.x >= b.x - dx && a.y >= b.y - dy && a.x + a.width <= b.x + b.width + dx &&
         a.y + a.height <= b.y + b.height + dy;
}

std::vector<Group> keep_outer(const std::vector<Group>& groups, int min_neighbors) {
  constexpr int kFew = 3;
  std::vector<Group> candidates;
  for (const Group& group : groups) {
    if (group.count > min_neighbors) candidates.push_back(group);
  }
  std::vector<Group> kept;
  for (const Group& group : candidates) {
    const bool covered = std::any_of(candidates.begin(), candidates.end(), [&](const Group& other) {
      return &other != &group && is_inside(group, other) &&
             (other.count > std::max(kFew, group.count) || group.count < kFew);
    });
    if (!covered) kept.push_back(group);
  }
  return kept;
}

void add_detection(const Rect& box, int count, double margin, Size frame,
                   std::vector<Detection>& detections) {
  const int left = std::max(box.x, 0);
  const int top = std::max(box.y, 0);
  const int right = std::min(box.x + box.width, frame.width);
  const int bottom = std::min(box.y + box.height, frame.height);
  if (right <= left || bottom <= top) return;
  Detection detection;
  detection.box = {static_cast<double>(left), static_cast<double>(top), static_cast<double>(right - left),
                   static_cast<double>(bottom - top)};
  detection.score = count + margin / (1 + margin);
  detections.push_back(detection);
}

}  // namespace

std::vector<Detection> group_boxes(std::span<const ScoredBox> boxes, int min_neighbors, Size frame) {
  std::vector<Detection> detections;
  if (min_neighbors <= 0) {
    for (const ScoredBox& b : boxes) add_detection(b.box, 1, b.margin, frame, detections);
  } else {
    for (const Group& g : keep_outer(make_groups({boxes.begin(), boxes.end()}), min_neighbors))
      add_detection(g.mean, g.count, g.margin, frame, detections);
  }
  const auto key = [](const Detection& d) {
    return std::make_tuple(-d.score, d.box.y, d.box.x, d.box.width, d.box.height);
  };
  std::sort(detections.begin(), detections.end(),
            [&](const Detection& a, const Detection& b) { return key(a) < key(b); });
  return detections;
}

}  // namespace sightline::cascade
