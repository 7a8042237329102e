#pragma once
/// What the family offers beside its detectors; see family/tools.hpp. Internal to family.cpp and
/// the files that make them.

#include <memory>

#include "base/config.hpp"
#include "detection/detector.hpp"
#include "family/tools.hpp"

namespace sightline::waldboost {

std::unique_ptr<ModelShow> make_model_show();
std::unique_ptr<Trainer> make_trainer();
/// The detector with its scan in plain scalar code. Throws as make_waldboost_detector does.
std::unique_ptr<Detector> make_reference(const Config& config);

}  // namespace sightline::waldboost
