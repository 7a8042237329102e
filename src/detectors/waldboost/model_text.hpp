#pragma once
/// A WaldBoost model in words, for `sightline model show`.

#include <filesystem>
#include <string>

#include "detectors/waldboost/model.hpp"

namespace sightline::waldboost {

/// Weak classifiers that look at a window of pictures without the object, on average, as the survivor curve
/// has it: each looks at what the one before has left. 0 where there is no curve.
double expected_weak_classifiers(const Model& model);

/// What the model is made of and how it was trained, a line a property, and which share of the windows is
/// left after how many weak classifiers.
/// @param file  the model's; its size is told
std::string model_text(const std::filesystem::path& file, const Model& model);

}  // namespace sightline::waldboost
