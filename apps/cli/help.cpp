#include "apps/cli/help.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <regex>
#include <set>
#include <vector>

#include "apps/cli/manual_text.hpp"
#include "base/columns.hpp"

namespace sightline::apps {
namespace {

constexpr std::size_t kWidestHelp = 100;
constexpr std::size_t kMostExamples = 3;
constexpr std::size_t kFewOptions = 12;  // a command with no more shows all of them in `-h`, too

// What most runs need; the rest is for `--help`.
bool is_basic(const CLI::Option& option) {
  static const std::set<std::string> names{
      "output",    "detections", "format", "contact-sheet", "overwrite", "keep-going", "recursive",
      "track",     "config",     "model",  "confidence",    "min-size",  "device",     "threads",
      "truth",     "protocol",   "svg",    "csv",           "name",      "record",     "headless",
      "positives", "negatives",  "boxes",  "classes",       "schedules", "report",     "gallery",
      "picture",   "job",        "chunk",  "engine",        "workers",   "task",       "watch"};
  return option.get_positional() || option.get_required() ||
         std::ranges::any_of(option.get_lnames(),
                             [&](const std::string& name) { return names.contains(name); });
}

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

// "0 to 51, default 23". What the description says itself is not repeated.
std::string limits_of(const CLI::Option& option, const std::string& description) {
  std::vector<std::string> parts;
  const auto says = [&](const std::string& words) { return description.find(words) != std::string::npos; };
  static const std::regex range(R"((?:INT|UINT|FLOAT) in \[(\S+) - (\S+)\])");
  const std::string type = option.get_type_name();
  std::smatch found;
  if (std::regex_search(type, found, range)) parts.push_back(found[1].str() + " to " + found[2].str());
  if (!parts.empty() && says(parts.front())) parts.clear();
  if (type.ends_with("POSITIVE")) parts.push_back("above 0");
  if (type.ends_with("NONNEGATIVE")) parts.push_back("0 or more");
  if (const auto begin = type.find('{'); begin != std::string::npos) {
    const std::vector<std::string> values =
        CLI::detail::split(type.substr(begin + 1, type.rfind('}') - begin - 1), ',');
    if (!std::ranges::all_of(values, says)) parts.push_back(CLI::detail::join(values, ", "));
  }
  if (!is_flag(option) && !option.get_default_str().empty() && !says("default"))
    parts.push_back("default " + option.get_default_str());
  for (const CLI::Option* other : option.get_needs()) parts.push_back("with " + other->get_name());
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? " (" : ", ") + part;
  return text.empty() ? "" : text + ")";
}

std::size_t help_columns() {
  return std::min(terminal_columns(STDOUT_FILENO, 80), kWidestHelp);
}

// A description in lines, behind what stands in front of it.
std::string entry(const std::string& front, const std::string& text) {
  const std::size_t columns = help_columns();
  const std::size_t indent = columns < 60 ? 8 : 26;  // where descriptions begin
  std::string result = "  " + front;
  if (result.size() + 2 > indent) {
    result += "\n" + std::string(indent, ' ');
  } else {
    result.append(indent - result.size(), ' ');
  }
  return result + wrapped(text, columns, indent, indent) + "\n";
}

// A command that can still be copied: its lines end as the shell's do.
std::string command_lines(const std::string& command) {
  constexpr std::string_view kContinued = " \\";
  std::string text;
  const std::string lines = wrapped(command, help_columns() - kContinued.size(), 2, 6);
  for (const char c : lines) text += c == '\n' ? std::string(kContinued) + c : std::string(1, c);
  return text;
}

std::string full_name_of(const CLI::App& app) {
  return app.get_parent() ? full_name_of(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::string options_text(const CLI::App& app, bool is_short) {
  const auto options = app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
  const bool shows_all = !is_short || options.size() <= kFewOptions;
  std::string text;
  std::vector<std::string> groups;
  for (const CLI::Option* option : options) {
    if (std::ranges::find(groups, option->get_group()) == groups.end()) groups.push_back(option->get_group());
  }
  for (const std::string& group : groups) {
    std::string entries;
    for (const CLI::Option* option : options) {
      if (option->get_group() != group || option->get_positional()) continue;
      if (!shows_all && !is_basic(*option)) continue;
      const std::string help = option->get_description();
      const std::string description = is_short ? first_sentence(help) : help;
      const std::string value = value_name(*option);
      entries += entry(option->get_name(false, true) + (value.empty() ? "" : " " + value),
                       description + limits_of(*option, description));
    }
    if (!entries.empty()) text += "\n" + wrapped(group + ":", help_columns()) + "\n" + entries;
  }
  return text;
}

std::string positionals_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && !option->get_group().empty())
      text += entry(option->get_name(true), option->get_description());
  }
  return text.empty() ? "" : "\nInputs:\n" + text;
}

std::string commands_text(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) text += entry(command->get_name(), command->get_description());
  }
  return text.empty() ? "" : "\nCommands:\n" + text;
}

std::string examples_text(const CLI::App& app) {
  std::string text;
  std::vector<ManualExample> examples = manual_examples(full_name_of(app));
  examples.resize(std::min(examples.size(), kMostExamples));
  for (const ManualExample& example : examples)
    text += "  " + command_lines(example.command) + "\n      " +
            wrapped(example.meaning, help_columns(), 6, 6) + "\n";
  return text.empty() ? "" : "\nExamples:\n" + text;
}

}  // namespace

std::string value_name(const CLI::Option& option) {
  if (is_flag(option)) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string first_sentence(const std::string& help) {
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < help.size(); ++at) {
    const char c = help[at];
    if (c == '"' || c == '`') is_quoted = !is_quoted;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    const bool ends =
        c == ';' || (c == '.' && at > 0 && help[at - 1] != '.' && help.substr(at).starts_with(". "));
    if (ends && depth == 0 && !is_quoted) return help.substr(0, at);
  }
  return help;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode mode) const {
  const bool is_short = mode == CLI::AppFormatMode::Normal;
  std::string usage = "Usage: " + full_name_of(*app);
  const bool has_commands = !app->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (has_commands) usage += app->get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]";
  usage += " [OPTION...]";
  for (const CLI::Option* option : app->get_options()) {
    if (!option->get_positional() || option->get_group().empty()) continue;
    const std::string name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  std::string text = wrapped(app->get_description(), help_columns()) + "\n\n" +
                     wrapped(usage, help_columns(), 0, 7) + "\n" + positionals_text(*app) +
                     commands_text(*app) + options_text(*app, is_short) + examples_text(*app);
  if (has_commands)
    text += fmt::format("\n`{} COMMAND --help` explains a command.\n", full_name_of(*app));
  else if (is_short)
    text += "\n--help lists all options and explains them.\n";
  return text;
}

void add_help(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h", "Show the most common options");
  app.set_help_all_flag("--help", "Show all options");
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) add_help(*command);
}

}  // namespace sightline::apps
