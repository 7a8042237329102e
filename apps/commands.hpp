#pragma once
/// The program's subcommands: each adds its options to the parser and sets what to run.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace sightline::apps {

/// What every subcommand shares.
struct Common {
  int verbosity = 0;  ///< -1 quiet, 0 normal, 1 verbose
  /// The chosen subcommand's work; returns the exit code.
  std::function<int()> run;
};

void add_detect(CLI::App& app, Common& common);
void add_devices(CLI::App& app, Common& common);
void add_evaluate(CLI::App& app, Common& common);
void add_live(CLI::App& app, Common& common);
void add_measure(CLI::App& app, Common& common);
void add_model(CLI::App& app, Common& common);
void add_tune(CLI::App& app, Common& common);
void add_train(CLI::App& app, Common& common);

}  // namespace sightline::apps
