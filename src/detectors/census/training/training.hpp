#pragma once
/// Training of census cascades (B. Froeba and A. Ernst, "Face Detection with the Modified Census Transform",
/// FG 2004).
///
/// Stage after stage: windows of the negatives that the stages so far leave are drawn, all alike; the stage
/// is boosted (boosting.hpp) on these and on the objects; its threshold is the least at which a share of no
/// more than `stage_loss` of the held-out objects, with their copies, that are left is rejected.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "detectors/census/model.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::census {

struct TrainingOptions : training::WindowTrainingOptions {
  TrainingOptions() { negatives = 40'000; }
  std::string label = "object";
  std::string view = "frontal";
  std::vector<int> places{10, 20, 40, 80, 484};  ///< maximum number of different positions, by stage
  int weak_classifiers = 1000;                   ///< maximum per stage
  std::vector<int> cells{1, 2};  ///< sides of the cells that codes compare, in pixels: 1, 2 or both
  double stage_loss = 0.01;      ///< share of the held-out objects that a stage may reject, 0..1
};

/// Trains a model of one view. Deterministic: same pictures in the same order, options and seed give the same
/// model, stopped and resumed or not, on any number of threads. Ends with fewer stages, with a warning, if
/// too few negatives are left.
/// @param state  folder for finished stages (made if it does not exist); training resumes from its content if
/// that was made with the same options and pictures Throws TrainingStopped if `report` requests a stop, and
/// Error (input) for unsuitable pictures.
Model train(const training::ImageSet& positives, const training::ImageSet& negatives,
            const TrainingOptions& options, const std::filesystem::path& state,
            const training::ReportProgress& report);

}  // namespace sightline::census
