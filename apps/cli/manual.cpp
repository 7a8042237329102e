#include "apps/cli/manual.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>
#include <stdexcept>

#include "apps/cli/help.hpp"
#include "apps/cli/manual_text.hpp"
#include "apps/cli/suggest.hpp"
#include "base/atomic_file.hpp"
#include "base/hardware.hpp"

namespace sightline::apps {
namespace {

// Text as roff shows it: a backslash and a hyphen have a meaning there, and a dot or a quote at a line's
// beginning.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += std::string("\\&") + c;
    } else {
      result += c;
    }
  }
  return result;
}

// What is between backquotes is what one types.
std::string prose(const std::string& text) {
  std::string result;
  bool is_code = false;
  std::size_t begin = 0;
  for (std::size_t end; begin <= text.size(); begin = end + 1, is_code = !is_code) {
    end = std::min(text.find('`', begin), text.size());
    const std::string part = escaped(text.substr(begin, end - begin));
    result += is_code ? "\\fB" + part + "\\fR" : part;
  }
  return result;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

// A description as the heading of a page has it: the beginning of a sentence that has no end.
std::string heading(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(text[0]));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string full_name(const CLI::App& command, char separator) {
  std::string name = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent; parent = parent->get_parent())
    name = parent->get_name() + separator + name;
  return name;
}

std::vector<const CLI::App*> visible_subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// "INT:INT in [0 - 51]": the type, and what is checked.
struct Type {
  std::string name;
  std::string check;
};

Type type_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string check_text(const std::string& check) {
  static const std::regex range(R"(^(?:INT|FLOAT) in \[(\S+) - (\S+)\]$)");
  std::smatch parts;
  if (std::regex_match(check, parts, range)) return "From " + parts[1].str() + " to " + parts[2].str();
  if (check == "POSITIVE") return "Above 0";
  if (check == "NONNEGATIVE") return "0 or more";
  if (check.starts_with('{')) {
    std::string values;
    for (const std::string& value : CLI::detail::split(check.substr(1, check.size() - 2), ','))
      values += (values.empty() ? "" : ", ") + value;
    return "One of " + values;
  }
  return check;
}

std::string option_names(const std::set<CLI::Option*>& options) {
  std::string names;
  for (const CLI::Option* option : options) names += (names.empty() ? "" : " and ") + option->get_name();
  return names;
}

// All that the parser knows of an option besides its name.
std::string option_text(const CLI::Option& option) {
  const bool is_flag = option.get_items_expected_max() == 0;
  std::string text = prose(sentence(option.get_description()));
  const auto add = [&](const std::string& more) { text += "\n" + prose(sentence(more)); };
  if (const Type type = type_of(option); !is_flag && !type.check.empty()) add(check_text(type.check));
  if (!is_flag && !option.get_default_str().empty()) add("Default: " + option.get_default_str());
  if (option.get_items_expected_max() > 1) add("May be given several times");
  if (option.get_required()) add("Required");
  if (const auto needed = option.get_needs(); !needed.empty()) add("Only with " + option_names(needed));
  if (const auto excluded = option.get_excludes(); !excluded.empty())
    add("Not with " + option_names(excluded));
  return text + "\n";
}

std::string option_entry(const CLI::Option& option) {
  std::string names;
  const auto add = [&](const std::string& name) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + escaped(name) + "\\fR");
  };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  if (option.get_items_expected_max() > 0) names += " \\fI" + escaped(value_name(option)) + "\\fR";
  return ".TP\n" + names + "\n" + option_text(option);
}

std::string positional_entry(const CLI::Option& option) {
  return ".TP\n\\fI" + escaped(option.get_name(true)) + "\\fR\n" + option_text(option);
}

std::string options_section(const CLI::App& command) {
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : command.get_groups()) {
    std::string entries;
    for (const CLI::Option* option : command.get_options()) {
      if (!option->get_positional() && option->get_group() == group) entries += option_entry(*option);
    }
    if (entries.empty() || group.empty()) continue;
    if (group != "Options") text += ".SS " + prose(group) + "\n";
    text += entries;
  }
  return text;
}

std::string synopsis(const CLI::App& command) {
  std::string text = ".SH SYNOPSIS\n\\fB" + escaped(full_name(command, ' ')) + "\\fR";
  if (command.get_require_subcommand_min() > 0) return text + " [\\fIOPTION\\fR...] \\fICOMMAND\\fR ...\n";
  text += " [\\fIOPTION\\fR...]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name =
        "\\fI" + option->get_name(true) + "\\fR" + (option->get_items_expected_max() > 1 ? "..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

std::string description(const CLI::App& command) {
  std::string text = ".SH DESCRIPTION\n" + prose(sentence(command.get_description())) + "\n";
  for (const std::string& paragraph : manual_paragraphs(full_name(command, ' ')))
    text += ".PP\n" + prose(paragraph) + "\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) text += positional_entry(*option);
  }
  return text;
}

std::string commands_section(const CLI::App& command) {
  const auto subcommands = visible_subcommands(command);
  if (subcommands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const CLI::App* one : subcommands) {
    text += ".TP\n\\fB" + escaped(one->get_name()) + "\\fR\n" + prose(sentence(one->get_description())) +
            "\nSee \\fB" + escaped(full_name(*one, '-')) + "\\fR(1).\n";
  }
  return text;
}

// A page must not show what does not work: each example is parsed here.
void check_example(CLI::App& app, const std::string& example) {
  std::string arguments = example.substr(example.find(' ') + 1);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    throw std::logic_error("the manual's example `" + example + "`: " + e.what());
  }
}

std::string examples_section(CLI::App& app, const std::string& name) {
  std::string text;
  for (const ManualExample& example : manual_examples(name)) {
    check_example(app, example.command);
    text += ".TP\n\\fB" + escaped(example.command) + "\\fR\n" + prose(sentence(example.meaning)) + "\n";
  }
  return text.empty() ? "" : ".SH EXAMPLES\n" + text;
}

std::string fixed_sections(const CLI::App& command) {
  std::string text;
  for (const ManualSection& section : manual_sections()) {
    if (command.get_parent() && !section.everywhere) continue;
    text += ".SH " + section.title + "\n";
    for (const ManualEntry& entry : section.entries)
      text += ".TP\n\\fB" + escaped(entry.name) + "\\fR\n" + prose(sentence(entry.text)) + "\n";
  }
  return text;
}

std::string see_also(const CLI::App& app, const CLI::App& command) {
  std::vector<const CLI::App*> others{&app};
  for (const CLI::App* one : visible_subcommands(app)) others.push_back(one);
  std::string lines;
  for (const CLI::App* other : others) {
    if (other == &command) continue;
    lines += (lines.empty() ? "" : ",\n") + (".BR " + escaped(full_name(*other, '-')) + " (1)");
  }
  return ".SH SEE ALSO\n" + lines + "\n";
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

void collect_commands(const CLI::App& command, std::vector<const CLI::App*>& commands) {
  commands.push_back(&command);
  for (const CLI::App* one : visible_subcommands(command)) collect_commands(*one, commands);
}

// The program and all its subcommands.
std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  collect_commands(app, commands);
  return commands;
}

}  // namespace

std::string manual_page(CLI::App& app, const CLI::App& command) {
  const std::string name = full_name(command, '-');
  std::string page = ".TH " + escaped(upper(name)) + " 1 \"\" \"sightline " + build_info().version +
                     "\" \"User Commands\"\n.nh\n.ad l\n";
  page += ".SH NAME\n" + escaped(name) + " \\- " + prose(heading(command.get_description())) + "\n";
  page += synopsis(command) + description(command) + commands_section(command) + options_section(command);
  if (command.get_parent()) page += ".PP\nOptions of all commands: \\fBsightline\\fR(1).\n";
  page += examples_section(app, full_name(command, ' '));
  return page + fixed_sections(command) + see_also(app, command);
}

std::string manual_page_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : all_commands(app)) names += full_name(*command, '-') + "\n";
  return names;
}

void write_manual(CLI::App& app, const std::filesystem::path& folder) {
  for (const CLI::App* command : all_commands(app))
    write_whole(folder / (full_name(*command, '-') + ".1"), manual_page(app, *command), "manual page");
}

void add_manual(CLI::App& app, std::function<int()>& run) {
  CLI::App* command =
      app.add_subcommand("manual", "Write a manual page (roff), for example: sightline manual detect");
  command->group("");
  struct Arguments {
    std::vector<std::string> words;
    bool list = false;
    std::string folder;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("command", a->words, "Subcommand (default: the program's own page)");
  command->add_flag("--list", a->list, "List all pages");
  command->add_option("--folder", a->folder, "Write all pages to this folder, as NAME.1");
  command->callback([a, &app, &run] {
    run = [given = *a, &app] {
      if (!given.folder.empty()) {
        write_manual(app, given.folder);
        return 0;
      }
      const std::string text =
          given.list ? manual_page_names(app) : manual_page(app, find_command(app, given.words));
      std::fputs(text.c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace sightline::apps
