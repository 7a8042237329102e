#pragma once
/// `sightline network explain` and `sightline network compare`, and `model show` of a network.

#include <memory>
#include <vector>

#include "family/family_command.hpp"

namespace sightline::network {

std::vector<std::unique_ptr<FamilyCommand>> make_commands();
std::unique_ptr<ModelShow> make_model_show();

}  // namespace sightline::network
