#include "commands.hpp"

#include <CLI/CLI.hpp>

namespace sightline::apps {

CLI::App& add_command(CLI::App& parent, Common& common, const std::string& name,
                      const std::string& description, const OptionSet& options, std::function<int()> run) {
  CLI::App* const command = parent.add_subcommand(name, description);
  add_options(*command, options, common.suggestions);
  command->callback([&common, run = std::move(run)] { common.run = run; });
  return *command;
}

CLI::App& add_command_group(CLI::App& parent, const std::string& name, const std::string& description) {
  CLI::App* const command = parent.add_subcommand(name, description);
  command->require_subcommand(1);
  return *command;
}

}  // namespace sightline::apps
