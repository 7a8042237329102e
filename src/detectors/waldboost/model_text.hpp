#pragma once
/// A WaldBoost model in words, for `sightline model show`.

#include <filesystem>
#include <string>

#include "detectors/waldboost/model.hpp"

namespace sightline::waldboost {

/// Average number of weak classifiers evaluated per negative window, by the survivor curve. 0 if there is no
/// curve.
double expected_weak_classifiers(const Model& model);

/// Text about the model and its training, one line per property, and the share of windows that survive
/// numbers of weak classifiers.
/// @param file  the model's file, whose size is reported
std::string model_text(const std::filesystem::path& file, const Model& model);

}  // namespace sightline::waldboost
