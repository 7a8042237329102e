#pragma once
/// Registry of all trainers, and of the scorers of single windows.

#include <memory>
#include <vector>

#include "family/family.hpp"
#include "training/standalone_trainer.hpp"
#include "training/trainer.hpp"
#include "training/window_scorer.hpp"

namespace sightline {

using MakeTrainer = std::unique_ptr<Trainer>();

/// Sets the trainer of a family that was added (add_family). The caller makes sure that no other thread uses
/// the registry meanwhile.
void add_trainer(const Family& family, MakeTrainer* make);

/// Trainer of a family's models, made for each command; null if the family has none.
std::unique_ptr<Trainer> make_trainer(const Family& family);

/// Scorer of single windows of a family's models, made for each command; null if the family has none.
std::unique_ptr<WindowScorer> make_window_scorer(const Family& family);

/// Trainers of models that belong to no detector family, in the order in which `train --help` lists them.
std::vector<std::unique_ptr<training::StandaloneTrainer>> make_standalone_trainers();

}  // namespace sightline
