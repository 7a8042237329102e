#pragma once
/// What landmarks offer beside being found.

#include <memory>

#include "training/standalone_trainer.hpp"

namespace sightline::landmarks {

/// `sightline train landmarks`.
std::unique_ptr<training::StandaloneTrainer> make_trainer();

}  // namespace sightline::landmarks
