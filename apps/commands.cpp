#include "commands.hpp"

#include <CLI/CLI.hpp>

namespace sightline::apps {

CLI::App& add_command(CLI::App& parent, Common& common, const std::string& name,
                      const std::string& description, const OptionSet& options, std::function<int()> run) {
  CLI::App* const command = parent.add_subcommand(name, description);
  add_options(*command, options, common.suggestions);
  command->callback([command, &common, run = std::move(run)] {
    const auto chosen = command->get_subcommands();
    if (chosen.empty()) {
      common.run = run;
      return;
    }
    // What its subcommand does not read would pass silently.
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      throw CLI::ValidationError(option->get_name(), "'" + command->get_name() + " " +
                                                         chosen.front()->get_name() +
                                                         "' has no use for it; see its --help");
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
