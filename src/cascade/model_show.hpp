#pragma once
/// What `model show` prints of a cascade.

#include <memory>

#include "family/tools.hpp"

namespace sightline::cascade {

/// Options: --survivors and --scale-step.
std::unique_ptr<ModelShow> make_model_show();

}  // namespace sightline::cascade
