#pragma once
/// The program's subcommands: each describes its options and says what to run.

#include <functional>
#include <string>

#include "apps/cli/option_set.hpp"

namespace sightline::apps {

/// Options and helpers that all subcommands share.
struct Common {
  int verbosity = 0;       ///< -1 quiet, 0 normal, 1 verbose
  bool overwrite = false;  ///< existing outputs are replaced
  /// The chosen subcommand's work; returns the exit code.
  std::function<int()> run;
  Suggestions suggestions;
};

/// Adds a subcommand. `run` is what it does, once it is chosen; the options' targets must live as long as the
/// program's parser, most simply in what `run` owns. With outputs among the options (OutputFile), the command
/// has
/// --overwrite, too, and without it does not run where one of them exists. Where one of its own subcommands
/// is chosen, that runs.
CLI::App& add_command(CLI::App& parent, Common& common, const std::string& name,
                      const std::string& description, const OptionSet& options, std::function<int()> run);

/// Adds a subcommand that only has others: `sightline evaluate frames`.
CLI::App& add_command_group(CLI::App& parent, const std::string& name, const std::string& description);

void add_batch(CLI::App& app, Common& common);
void add_config(CLI::App& app, Common& common);
void add_detect(CLI::App& app, Common& common);
void add_devices(CLI::App& app, Common& common);
void add_diff(CLI::App& app, Common& common);
void add_evaluate(CLI::App& app, Common& common);
void add_evaluate_compare(CLI::App& evaluate, Common& common);
void add_evaluate_frames(CLI::App& evaluate, Common& common);
void add_evaluate_landmarks(CLI::App& evaluate, Common& common);
void add_evaluate_recognition(CLI::App& evaluate, Common& common);
void add_evaluate_classes(CLI::App& evaluate, Common& common);
void add_evaluate_texture(CLI::App& evaluate, Common& common);
void add_evaluate_windows(CLI::App& evaluate, Common& common);
void add_faces(CLI::App& app, Common& common);
void add_family_commands(CLI::App& app, Common& common);
void add_label(CLI::App& app, Common& common);
void add_live(CLI::App& app, Common& common);
void add_measure(CLI::App& app, Common& common);
void add_measure_texture(CLI::App& measure, Common& common);
void add_model(CLI::App& app, Common& common);
void add_samples(CLI::App& app, Common& common);
void add_texture(CLI::App& app, Common& common);
void add_texture_compare(CLI::App& texture, Common& common);
void add_texture_classify(CLI::App& texture, Common& common);
void add_tune(CLI::App& app, Common& common);
void add_train(CLI::App& app, Common& common);

}  // namespace sightline::apps
