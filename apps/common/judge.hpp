#pragma once
/// How good a detector is on marked pictures, in short.

#include <string>
#include <vector>

#include "detection/detector.hpp"
#include "evaluation/curves.hpp"
#include "evaluation/decisions.hpp"
#include "evaluation/ground_truth.hpp"
#include "evaluation/matching.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"

namespace sightline::apps {

/// "people", "faces" or "centre": what `evaluate frames --protocol` takes.
MatchOptions matching_of(const std::string& protocol);

/// The picture's highest score, and whether it has an object. None where only unclear things are marked.
/// @param marked  null: nothing is
std::optional<PictureScore> picture_score(std::span<const Detection> found,
                                          const std::vector<TruthBox>* marked);

struct Judgement {
  ImageScores objects;
  std::vector<PictureScore> pictures;
};

/// Searches all pictures, on all threads; those that the truth does not list hold nothing. Throws Error
/// (input), TrainingStopped.
Judgement judge(const Detector& detector, const training::ImageSet& pictures, const GroundTruth& truth,
                const MatchOptions& matching, training::ProgressClock& clock);

}  // namespace sightline::apps
