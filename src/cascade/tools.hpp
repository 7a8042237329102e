#pragma once
/// What the family offers beside its detectors; see family/tools.hpp. Internal to family.cpp and the files
/// that make them.

#include <memory>

#include "family/tools.hpp"

namespace sightline::cascade {

/// Options: --survivors and --scale-step.
std::unique_ptr<ModelShow> make_model_show();
std::unique_ptr<Trainer> make_trainer();

}  // namespace sightline::cascade
