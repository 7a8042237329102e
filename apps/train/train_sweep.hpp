#pragma once
/// `train NAME --sweep`: a model for each of several values of an option, judged, and the best of them.

#include <functional>
#include <string>
#include <vector>

#include "family/family.hpp"
#include "params/options.hpp"
#include "training/trainer.hpp"

namespace sightline::apps {

struct SweepArguments {
  std::string values;  ///< empty: no sweep
  std::vector<std::string> pictures;
  std::vector<std::string> boxes;
  std::string protocol = "faces";
  std::string csv, json, page;  ///< files; empty: none
  bool overwrite = false;       ///< models of earlier sweeps
};

/// --sweep, --judge and the options that need it.
void add_sweep_options(OptionSet& options, const SweptOption& swept, SweepArguments& arguments);

/// One training of a sweep. See Trainer::train.
using TrainOne = std::function<void(const std::filesystem::path& state, const std::filesystem::path& output)>;

/// Trains the models, judges them, prints a table, writes the reports and puts the best model where `output`
/// says. The others lie beside it, as NAME-VALUE.
/// @param train  trains with the trainer's options as they are
/// Throws Error (usage, input, failed), and what `train` throws.
void sweep(const SweepArguments& arguments, const Family& family, Trainer& trainer, const std::string& state,
           const std::string& output, const TrainOne& train, bool shows_progress);

}  // namespace sightline::apps
