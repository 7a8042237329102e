#pragma once
/// What recognition offers beside recognising.

#include <memory>

#include "training/standalone_trainer.hpp"

namespace sightline::recognition {

/// `sightline train recognition`.
std::unique_ptr<training::StandaloneTrainer> make_trainer();

}  // namespace sightline::recognition
