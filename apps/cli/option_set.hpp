#pragma once
/// Turns options as they are described (params/options.hpp) into those of the parser. The one place that
/// does.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "params/options.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sightline::apps {

/// Suggestions of options for completion, by the parser's option.
using Suggestions = std::map<const CLI::Option*, std::function<Choices()>>;

/// Adds options to a command. One that the command has already, of the same name, is not listed twice: what
/// is given then goes to both targets. Throws std::logic_error where that cannot be, and where an option
/// needs or excludes one that is not there.
void add_options(CLI::App& command, const OptionSet& options, Suggestions& suggestions);

/// Whether an option names files that its command writes (OutputFile).
bool is_output(const Option& option);

/// After parsing: whether the option was given, by its name or a former one.
bool is_given(const CLI::App& command, const Option& option);

/// The words that give a command's options again, as `--name=value`, after parsing. Positional ones are left
/// out.
std::vector<std::string> words_of(const CLI::App& command, const OptionSet& options);

/// Gives options the values that `words_of` returned for a set that has the same names. Throws Error (usage).
void parse_words(const OptionSet& options, const std::vector<std::string>& words);

}  // namespace sightline::apps
