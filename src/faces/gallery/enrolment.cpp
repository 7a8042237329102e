#include "faces/gallery/enrolment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace sightline::gallery {
namespace {

using Templates = std::vector<std::vector<std::uint8_t>>;

constexpr std::int64_t kNothingNear = std::numeric_limits<std::int64_t>::max();

// To the nearest.
std::int64_t distance_to(const Templates& templates, const FaceTemplate& face, const FaceFinder& finder) {
  std::int64_t least = kNothingNear;
  for (const auto& one : templates) least = std::min(least, finder.distance(one, face.bytes));
  return least;
}

// Leaves those out that are strangers to the one in the middle.
std::vector<std::size_t> without_others(const std::vector<Candidate>& candidates, const FaceFinder& finder) {
  std::vector<std::size_t> kept(candidates.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  // Half of all strangers are nearer to each other than this.
  const std::optional<std::int64_t> limit = finder.distance_of_strangers(0.5);
  if (!limit || candidates.empty()) return kept;
  const auto distance = [&](std::size_t a, std::size_t b) {
    return finder.distance(candidates[a].face.bytes, candidates[b].face.bytes);
  };
  std::vector<std::int64_t> sums(candidates.size());
  for (std::size_t a = 0; a < candidates.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const std::int64_t between = distance(a, b);
      sums[a] += between;
      sums[b] += between;
    }
  }
  const auto middle = static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
  std::erase_if(kept, [&](std::size_t i) { return distance(middle, i) > *limit; });
  return kept;
}

// The candidates that are at least as sharp as the median one.
std::vector<std::size_t> sharper_half(std::vector<std::size_t> some,
                                      const std::vector<Candidate>& candidates) {
  if (some.empty()) return some;
  std::vector<double> values;
  for (const std::size_t i : some) values.push_back(candidates[i].face.sharpness);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  std::erase_if(some, [&](std::size_t i) { return candidates[i].face.sharpness < *middle; });
  return some;
}

ChosenFace doubtful(std::string problem) {
  return {.problem = std::move(problem),
          .remedy =
              "use a picture with a large, sharp, frontal face, or accept this one with --force=true"_message,
          .is_doubtful = true};
}

}  // namespace

std::string doubt_about(const FaceTemplate& face, const FaceQuality& least) {
  const Box& box = face.face.box;
  const double confidence = face.face.confidence.value_or(1);
  const double side = std::min(box.width, box.height);
  if (confidence < least.confidence)
    return fmt::format("confidence {:.0f}%, below {:.0f}%", 100 * confidence, 100 * least.confidence);
  if (side < least.side) return fmt::format("{:.0f} pixels wide, below {:.0f}", side, least.side);
  if (face.sharpness < least.sharpness)
    return fmt::format("blurred: sharpness {:.1f}, below {:.1f}", face.sharpness, least.sharpness);
  return "";
}

ChosenFace choose_face(const std::vector<FaceTemplate>& faces, const FaceChoice& choice,
                       const FaceQuality& least) {
  if (faces.empty())
    return {.problem = "no face is found", .remedy = "use a picture with a large, sharp, frontal face"};
  std::vector<std::size_t> order(faces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (choice.number > static_cast<int>(faces.size())) {
    return {.problem = std::to_string(faces.size()) +
                       (faces.size() == 1 ? " face was found" : " faces were found") +
                       ", and none has the number " + std::to_string(choice.number),
            .remedy = "faces are numbered from left to right"};
  }
  if (choice.number > 0) {
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const Box& box = faces[i].face.box;
      return std::tuple(box.x + box.width / 2, box.y + box.height / 2);
    });
    const std::size_t chosen = order[static_cast<std::size_t>(choice.number) - 1];
    const std::string doubt = doubt_about(faces[chosen], least);
    if (!doubt.empty()) return doubtful(fmt::format("face {} is doubtful ({})", choice.number, doubt));
    return {.face = chosen};
  }
  const auto area = [&](std::size_t i) { return faces[i].face.box.area(); };
  const std::string doubt = doubt_about(faces[*std::ranges::max_element(order, {}, area)], least);
  std::erase_if(order, [&](std::size_t i) { return !doubt_about(faces[i], least).empty(); });
  if (order.empty()) {
    return doubtful(faces.size() == 1
                        ? fmt::format("the face is doubtful ({})", doubt)
                        : fmt::format("all {} faces are doubtful (the largest: {})", faces.size(), doubt));
  }
  if (order.size() > 1 && !choice.largest) {
    return {.problem = std::to_string(faces.size()) + " faces were found",
            .remedy = "choose one with --face=1 to "_message + option("face", faces.size()) +
                      " (from left to right) or --largest=true"_message};
  }
  return {.face = *std::ranges::max_element(order, {}, area)};
}

void Stretches::add(Candidate candidate) {
  if (seen_ == length_ && kept_.size() == kMost) {  // merge pairs of stretches
    for (std::size_t i = 0; i < kMost / 2; ++i) {
      Candidate& first = kept_[2 * i];
      Candidate& second = kept_[2 * i + 1];
      kept_[i] = std::move(second.face.sharpness > first.face.sharpness ? second : first);
    }
    kept_.resize(kMost / 2);
    length_ *= 2;
    seen_ = length_;
  }
  if (kept_.empty() || seen_ == length_) {
    kept_.push_back(std::move(candidate));
    seen_ = 1;
    return;
  }
  ++seen_;
  if (candidate.face.sharpness > kept_.back().face.sharpness) kept_.back() = std::move(candidate);
}

std::vector<Candidate> Stretches::take() {
  seen_ = 0;
  length_ = 1;
  return std::exchange(kept_, {});
}

std::int64_t alike_distance(const FaceFinder& finder) {
  return finder.distance_of_strangers(0.001).value_or(0) / 4;
}

Likeness sort_by_likeness(const std::vector<Candidate>& candidates, const Templates& known,
                          const FaceFinder& finder) {
  Likeness sorted;
  sorted.like.resize(candidates.size());
  std::iota(sorted.like.begin(), sorted.like.end(), std::size_t{0});
  const std::size_t all = candidates.size() + known.size();
  if (all < 2) return sorted;
  const auto limit = finder.distance_of_strangers(kStrangersAlike / static_cast<double>(all - 1));
  if (!limit) return sorted;
  const auto are_linked = [&](std::size_t a, std::size_t b) {
    return finder.distance(candidates[a].face.bytes, candidates[b].face.bytes) <= *limit;
  };
  // Groups of linked ones, the known person's first; it may stay empty.
  std::vector<std::vector<std::size_t>> groups(1);
  std::vector<std::size_t> left = sorted.like;
  const auto grow = [&](std::vector<std::size_t>& group) {
    for (std::size_t next = 0; next < group.size(); ++next) {
      const std::size_t from = group[next];
      std::erase_if(left, [&](std::size_t i) {
        if (!are_linked(from, i)) return false;
        group.push_back(i);
        return true;
      });
    }
  };
  std::erase_if(left, [&](std::size_t i) {
    if (known.empty() || distance_to(known, candidates[i].face, finder) > *limit) return false;
    groups.front().push_back(i);
    return true;
  });
  grow(groups.front());
  while (!left.empty()) {
    groups.push_back({left.front()});
    left.erase(left.begin());
    grow(groups.back());
  }
  const auto size = [](const auto& group) { return group.size(); };
  auto& kept = known.empty() ? *std::ranges::max_element(groups, {}, size) : groups.front();
  if (all == 2) {
    sorted.is_certain = kept.size() == candidates.size();
    return sorted;
  }
  std::ranges::sort(kept);
  sorted.like.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i)
    (std::ranges::binary_search(kept, i) ? sorted.like : sorted.unlike).push_back(i);
  return sorted;
}

Selection select_pictures(const std::vector<Candidate>& candidates, const Templates& known,
                          const FaceFinder& finder) {
  const std::int64_t alike = alike_distance(finder);
  Selection selection;
  Templates taken = known;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (distance_to(taken, candidates[i].face, finder) <= alike) {
      ++selection.alike;
      continue;
    }
    taken.push_back(candidates[i].face.bytes);
    selection.taken.push_back(i);
  }
  return selection;
}

Selection select_frames(const std::vector<Candidate>& candidates, const Templates& known,
                        const FaceFinder& finder, std::size_t most) {
  const std::int64_t alike = alike_distance(finder);
  Selection selection;
  const std::vector<std::size_t> same = without_others(candidates, finder);
  std::vector<std::size_t> left = sharper_half(same, candidates);
  selection.others = candidates.size() - same.size();
  selection.blurred = same.size() - left.size();

  std::vector<std::int64_t> nearest;  // distance of the remaining candidates to known or selected templates
  for (const std::size_t i : left) nearest.push_back(distance_to(known, candidates[i].face, finder));
  while (selection.taken.size() < most && !left.empty()) {
    // At first all may be equally far from nothing: then the sharpest.
    std::size_t best = 0;
    for (std::size_t i = 1; i < left.size(); ++i) {
      const auto rank = [&](std::size_t k) {
        return std::tuple(nearest[k], candidates[left[k]].face.sharpness);
      };
      if (rank(i) > rank(best)) best = i;
    }
    if (nearest[best] <= alike) break;
    const std::size_t taken = left[best];
    selection.taken.push_back(taken);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    nearest.erase(nearest.begin() + static_cast<std::ptrdiff_t>(best));
    for (std::size_t i = 0; i < left.size(); ++i)
      nearest[i] =
          std::min(nearest[i], finder.distance(candidates[taken].face.bytes, candidates[left[i]].face.bytes));
  }
  selection.alike = left.size();
  std::ranges::sort(selection.taken);
  return selection;
}

}  // namespace sightline::gallery
