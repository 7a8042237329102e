#pragma once
/// Training of cascades (P. Viola and M. Jones, "Robust Real-Time Face Detection", IJCV 57(2), 2004), as
/// opencv_traincascade did it.
///
/// Stages are boosted one after the other (boosting.hpp): stumps are added until the stage passes no more
/// than a share of its negatives while it passes nearly all objects. Each stage's negatives are windows of
/// pictures without the object that the stages before pass, found with the detector itself.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "detectors/cascade/model.hpp"
#include "detectors/cascade/model_xml.hpp"
#include "detectors/cascade/training/boosting.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::cascade {

struct TrainingOptions : training::CutOptions {
  FeatureKind kind = FeatureKind::lbp;
  bool tilted = false;  ///< Haar: also tilted features
  int stages = 20;
  StageParameters stage;
  int objects = 10'000;     ///< positives that a stage is boosted on, at most
  int windows = 10'000;     ///< negatives of a stage
  double scale_step = 1.1;  ///< scale step of the search of negatives
  int negative_copies = 1;  ///< copies of each negative picture: the first mirrored, others enlarged
};

/// Windows that pass the stages before one.
struct NegativeCounts {
  std::int64_t windows = 0;   ///< windows of the searched pictures, on all scales
  std::int64_t passed = 0;    ///< windows that passed
  std::int64_t pictures = 0;  ///< searched pictures
};

/// Result of boosting a stage.
struct TrainedStage {
  std::vector<Stump> stumps;
  float threshold = 0;       ///< see Model
  double hit_rate = 0;       ///< share of the objects that came as far that it passes
  double false_alarm = 0;    ///< the same of the negatives that it was trained on
  NegativeCounts negatives;  ///< counts for the drawing of its negatives
};

/// The model of some stages; features are those that stumps look at, one each.
Model make_model(const FeaturePool& pool, const std::vector<TrainedStage>& stages);

/// Result of a training: at least one stage.
struct TrainedCascade {
  Model model;
  std::vector<TrainedStage> stages;
  bool complete = true;  ///< false: negatives ran out or could not be separated from the objects
};

/// Trains a cascade. Deterministic: same pictures in the same order, options and seed give the same cascade,
/// stopped and resumed or not, on any number of threads. Ends early, with a warning, if too few windows of
/// the negatives are left.
/// @param state  folder for finished stages (made if it does not exist); training resumes from its content if
/// that was made with the same options and pictures Throws TrainingStopped if `report` requests a stop, and
/// Error (input) for unsuitable pictures.
TrainedCascade train(const training::ImageSet& positives, const training::ImageSet& negatives,
                     const TrainingOptions& options, const std::filesystem::path& state,
                     const training::ReportProgress& report);

}  // namespace sightline::cascade
