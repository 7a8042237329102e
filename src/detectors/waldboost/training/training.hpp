#pragma once
/// Training of WaldBoost classifiers (J. Sochman and J. Matas, "WaldBoost - Learning for Time Constrained
/// Sequential Detection", CVPR 2005).
///
/// Weak classifiers are added one after the other (boosting.hpp); after each, a threshold is set on samples
/// that boosting does not see (likelihood_ratio.hpp), and samples of both classes that it rejects are left
/// out. When half of the negatives are gone, or a few of them have nearly all the weight, all are drawn anew
/// from the windows that the classifier so far leaves of all pictures: for boosting with a probability in
/// proportion to exp(sum), which is what AdaBoost would weigh them with (F. Fleuret and D. Geman,
/// "Stationary features and cat detection", JMLR 2008, section 4.3, sample so), for the thresholds all alike.

#include <cstdint>
#include <filesystem>
#include <string>

#include "detectors/waldboost/model.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::waldboost {

struct TrainingOptions : training::WindowTrainingOptions {
  std::string label = "object";
  FeatureKind kind = FeatureKind::lbp;
  int weak_classifiers = 1000;
  double alpha = 0.2;   ///< share of the objects that may be rejected at most, 0..1: larger is faster
  int features = 4000;  ///< but for LBP, which has all: drawn at random
};

/// Trains a model. Deterministic: same pictures in the same order, options and seed give the same model,
/// stopped and resumed or not, on any number of threads. Stops early, with a warning, if no negatives are
/// left.
/// @param state  folder for finished steps (made if it does not exist); training resumes from its content if
///               that was made with the same options and pictures
/// Throws TrainingStopped if `report` requests a stop, and Error (input) for unsuitable pictures.
Model train(const training::ImageSet& positives, const training::ImageSet& negatives,
            const TrainingOptions& options, const std::filesystem::path& state,
            const training::ReportProgress& report);

}  // namespace sightline::waldboost
