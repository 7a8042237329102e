#include "evaluation/misses.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace sightline {
namespace {

constexpr double kNear = 0.3;     ///< overlap from which on a box is about an object
constexpr double kAtEdge = 0.02;  ///< margin relative to the object's height
constexpr int kSamples = 24;      ///< grid points per side of a box, to measure the covered share

double overlap_of(const Box& found, const Box& object, const MatchOptions& options) {
  return intersection_over_union(options.compared(found), options.compared(object));
}

bool fits(const Box& found, const Box& object, const MatchOptions& options) {
  const TruthBox alone{object};
  const Detection one{found};
  return match_detections({&one, 1}, {&alone, 1}, options).missed == 0;
}

bool contains(const Box& box, double x, double y) {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}

double share_covered(const Box& box, std::span<const TruthBox> truth) {
  int covered = 0;
  for (int row = 0; row < kSamples; ++row) {
    const double y = box.y + box.height * (row + 0.5) / kSamples;
    for (int column = 0; column < kSamples; ++column) {
      const double x = box.x + box.width * (column + 0.5) / kSamples;
      covered += std::any_of(truth.begin(), truth.end(), [&](const TruthBox& other) {
        return !other.ignore && other.box.y + other.box.height > box.y + box.height &&
               contains(other.box, x, y);
      });
    }
  }
  return static_cast<double>(covered) / (kSamples * kSamples);
}

bool ends_at_edge(const Box& box, Size frame) {
  const double near = kAtEdge * box.height;
  return box.x <= near || box.y <= near || box.x + box.width >= frame.width - near ||
         box.y + box.height >= frame.height - near;
}

// Finds the cause of a miss, and the nearest window.
void find_cause(ExaminedObject& object, std::span<const Detection> reported,
                std::span<const Detection> windows, const MissOptions& options) {
  const auto overlap = [&](const Detection& one) {
    return overlap_of(one.box, object.box, options.matching);
  };
  const auto fitting = [&](const Detection& one) { return fits(one.box, object.box, options.matching); };
  double most = kNear;
  for (const Detection& window : windows) {
    const double here = overlap(window);
    if (here < most) continue;
    most = here;
    object.nearest = window;
  }
  if (std::any_of(windows.begin(), windows.end(),
                  [&](const Detection& one) { return one.score >= options.threshold && fitting(one); })) {
    object.cause = MissCause::suppressed;
  } else if (std::any_of(reported.begin(), reported.end(),
                         [&](const Detection& one) { return overlap(one) >= kNear; })) {
    object.cause = MissCause::misplaced;
  } else if (std::any_of(windows.begin(), windows.end(), fitting)) {
    object.cause = MissCause::low_score;
  } else if (object.box.height < options.smallest_object) {
    object.cause = MissCause::too_small;
  }
}

}  // namespace

const char* to_string(MissCause cause) {
  switch (cause) {
    case MissCause::too_small:
      return "too small";
    case MissCause::suppressed:
      return "suppressed";
    case MissCause::misplaced:
      return "misplaced";
    case MissCause::low_score:
      return "low score";
    case MissCause::unseen:
      break;
  }
  return "unseen";
}

std::vector<ExaminedObject> examine_misses(std::span<const Detection> detections,
                                           std::span<const Detection> windows,
                                           std::span<const TruthBox> truth, Size frame,
                                           const MissOptions& options) {
  std::vector<Detection> reported;
  std::copy_if(detections.begin(), detections.end(), std::back_inserter(reported),
               [&](const Detection& one) { return one.score >= options.threshold; });
  const MatchResult match = match_detections(reported, truth, options.matching);

  std::vector<ExaminedObject> objects;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    if (truth[t].ignore) continue;
    ExaminedObject object;
    object.box = truth[t].box;
    object.covered = share_covered(object.box, truth);
    object.at_edge = ends_at_edge(object.box, frame);
    object.found = match.found[t];
    if (!object.found) find_cause(object, reported, windows, options);
    objects.push_back(std::move(object));
  }
  return objects;
}

std::int64_t MissCount::missed_in_all() const {
  return std::accumulate(missed.begin(), missed.end(), std::int64_t{0});
}

std::vector<MissCount> count_misses(std::span<const ExaminedObject> objects) {
  std::vector<MissCount> counts;
  const auto count = [&](std::string kind, const auto& is_of_it) {
    MissCount one{std::move(kind)};
    for (const ExaminedObject& object : objects) {
      if (!is_of_it(object)) continue;
      ++one.objects;
      if (!object.found) ++one.missed[static_cast<std::size_t>(object.cause)];
    }
    if (one.objects > 0) counts.push_back(std::move(one));
  };
  count("all", [](const ExaminedObject&) { return true; });
  constexpr int kHeights[] = {0, 48, 64, 96, 128, 192, 256, 384};
  for (std::size_t i = 0; i < std::size(kHeights); ++i) {
    const int low = kHeights[i];
    const int high = i + 1 < std::size(kHeights) ? kHeights[i + 1] : 0;
    const std::string kind = high == 0 ? std::to_string(low) + " pixels high or more"
                                       : std::to_string(low) + " to " + std::to_string(high) + " pixels high";
    count(kind,
          [&](const ExaminedObject& o) { return o.box.height >= low && (high == 0 || o.box.height < high); });
  }
  constexpr const char* kCovered[] = {"less than 10% covered", "10 to 35% covered", "35 to 65% covered",
                                      "65% covered or more"};
  for (int i = 0; i < static_cast<int>(std::size(kCovered)); ++i)
    count(kCovered[i], [i](const ExaminedObject& o) { return o.cover_class() == i; });
  count("whole in the frame", [](const ExaminedObject& o) { return !o.at_edge; });
  count("at the frame's edge", [](const ExaminedObject& o) { return o.at_edge; });
  return counts;
}

}  // namespace sightline
