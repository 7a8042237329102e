#include "apps/cli/commands.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "apps/cli/writable.hpp"

namespace sightline::apps {
namespace {

std::vector<std::string> files_of(const Option& option) {
  if (const auto* const one = std::get_if<std::string*>(&option.target)) return {**one};
  if (const auto* const all = std::get_if<std::vector<std::string>*>(&option.target)) return **all;
  return {};
}

// The work, once it is known to destroy neither an input nor earlier results.
std::function<int()> guarded(const OptionSet& options, const Common& common, std::function<int()> run) {
  return [all = options.all(), &common, run = std::move(run)] {
    std::vector<std::string> inputs, outputs;
    for (const Option& option : all) {
      if (option.is_positional()) std::ranges::move(files_of(option), std::back_inserter(inputs));
      if (is_output(option)) std::ranges::move(files_of(option), std::back_inserter(outputs));
    }
    for (const std::string& output : outputs) {
      std::error_code ignored;
      if (std::filesystem::is_directory(output, ignored)) continue;  // the command says what goes into it
      for (const std::string& input : inputs) refuse_input(input, output);
      if (!common.overwrite) refuse_existing(output);
    }
    return run();
  };
}

}  // namespace

CLI::App& add_command(CLI::App& parent, Common& common, const std::string& name,
                      const std::string& description, const OptionSet& options, std::function<int()> run) {
  CLI::App* const command = parent.add_subcommand(name, description);
  OptionSet all = options;
  if (const auto first = std::ranges::find_if(options.all(), is_output); first != options.all().end()) {
    all.group(first->group);
    all.add("--overwrite", &common.overwrite, "Replace existing outputs");
    run = guarded(options, common, std::move(run));
  }
  add_options(*command, all, common.suggestions);
  command->callback([command, &common, run = std::move(run)] {
    const auto chosen = command->get_subcommands();
    if (chosen.empty()) {
      common.run = run;
      return;
    }
    // An option that the subcommand does not read would be ignored silently.
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      throw CLI::ValidationError(option->get_name(), "'" + command->get_name() + " " +
                                                         chosen.front()->get_name() +
                                                         "' has no such option; see its --help");
    }
  });
  return *command;
}

CLI::App& add_command_group(CLI::App& parent, const std::string& name, const std::string& description) {
  CLI::App* const command = parent.add_subcommand(name, description);
  command->require_subcommand(1);
  return *command;
}

}  // namespace sightline::apps
