#pragma once
/// Description of the family's models, for `model show`.

#include <memory>

#include "family/model_show.hpp"

namespace sightline::filterbank {

std::unique_ptr<ModelShow> make_model_show();

}  // namespace sightline::filterbank
