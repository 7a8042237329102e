#include "apps/common/judge.hpp"

#include <algorithm>
#include <limits>

#include "training/for_each_image.hpp"

namespace sightline::apps {

MatchOptions matching_of(const std::string& protocol) {
  MatchOptions matching = protocol == "people" ? MatchOptions::people() : MatchOptions::faces();
  if (protocol == "centre") matching.criterion = MatchCriterion::centre;
  return matching;
}

std::optional<PictureScore> picture_score(std::span<const Detection> found,
                                          const std::vector<TruthBox>* marked) {
  const bool is_empty = !marked || marked->empty();
  const bool has_object = !is_empty && std::any_of(marked->begin(), marked->end(),
                                                   [](const TruthBox& one) { return !one.ignore; });
  if (!is_empty && !has_object) return std::nullopt;
  double highest = -std::numeric_limits<double>::infinity();
  for (const Detection& one : found) highest = std::max(highest, one.score);
  return PictureScore{highest, has_object};
}

Judgement judge(const Detector& detector, const training::ImageSet& pictures, const GroundTruth& truth,
                const MatchOptions& matching, training::ProgressClock& clock) {
  std::vector<std::vector<Detection>> found(pictures.size());
  training::for_each_image(
      pictures.size(), clock, [&] { return detector.make_workspace(); },
      [&](std::size_t i, Workspace& workspace) {
        const Image<std::uint8_t> picture = pictures.load(i);
        found[i] = detect(detector, workspace, PictureView(picture.view()));
      });
  Judgement judgement;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<TruthBox>* const marked = truth.find(pictures.name(i));
    judgement.objects.add(found[i],
                          match_detections(found[i], marked ? *marked : std::vector<TruthBox>(), matching));
    if (const auto score = picture_score(found[i], marked)) judgement.pictures.push_back(*score);
  }
  return judgement;
}

}  // namespace sightline::apps
