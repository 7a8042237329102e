#pragma once
/// All trainers of models that belong to no detector family.

#include <memory>
#include <vector>

#include "training/standalone_trainer.hpp"

namespace sightline {

/// In the order in which `train --help` lists them.
std::vector<std::unique_ptr<training::StandaloneTrainer>> make_standalone_trainers();

}  // namespace sightline
