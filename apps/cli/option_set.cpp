#include "apps/cli/option_set.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "apps/cli/numbers.hpp"
#include "apps/cli/writable.hpp"
#include "base/error.hpp"

namespace sightline::apps {
namespace {

template <typename T>
struct ElementOf {
  using type = T;
};
template <typename T>
struct ElementOf<std::vector<T>> {
  using type = T;
};
template <typename T>
struct ElementOf<std::optional<T>> {
  using type = T;
};

CLI::Validator text_check(const std::function<void(const std::string&)>& check) {
  return {[check](std::string& text) -> std::string {
            try {
              check(text);
            } catch (const Error& error) {
              return error.what();
            }
            return {};
          },
          ""};
}

// What checks a value of this type against what the description allows.
template <typename T>
void add_checks(CLI::Option& made, const Option& option) {
  if constexpr (std::is_same_v<T, double>) {
    if (option.value_name == "SECONDS") made.transform(time_reader());
  }
  if constexpr (std::is_same_v<T, std::string>) {
    made.check(CLI::Validator(
        [](std::string& text) { return text.empty() ? "the value is empty" : std::string(); }, ""));
    if (option.check) made.check(text_check(option.check));
  }
  if (option.accepted.empty()) {
    if constexpr (std::is_arithmetic_v<T>) made.check(number_check<T>(option));
    return;
  }
  if constexpr (std::is_arithmetic_v<T>) {
    std::vector<T> values;
    for (const std::string& text : option.accepted) CLI::detail::lexical_cast(text, values.emplace_back());
    made.check(CLI::IsMember(values));
  } else {
    made.check(CLI::IsMember(option.accepted));
  }
}

CLI::Option& make(CLI::App& command, const std::string& names, const Option& option) {
  CLI::Option* const made = std::visit(
      [&](auto* target) -> CLI::Option* {
        using Target = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, bool>) {
          return command.add_flag(names, *target, option.help);
        } else {
          CLI::Option* const added = command.add_option(names, *target, option.help);
          add_checks<typename ElementOf<Target>::type>(*added, option);
          return added;
        }
      },
      option.target);
  made->group(option.group);
  if (option.is_flag() && !option.value_name.empty()) throw std::logic_error(names + " takes no value");
  if (!option.value_name.empty()) made->type_name(option.value_name);
  if (option.takes_one) made->allow_extra_args(false);
  if (option.separator != 0) made->delimiter(option.separator);
  // Of numbers, the last counts, so that a user can change what a script has put before; two names are a
  // mistake.
  if (std::holds_alternative<std::string*>(option.target))
    made->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  if (option.is_required) made->required();
  if (option.shows_default) made->capture_default_str();
  if (!option.default_text.empty()) made->default_str(option.default_text);
  return *made;
}

// Two families have an option of this name: each gets the value.
void bind_also(CLI::Option& made, const Option& option) {
  std::visit(
      [&](auto* target) {
        using Target = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, std::vector<typename ElementOf<Target>::type>>) {
          throw std::logic_error("the list " + option.name + " cannot be shared");
        } else {
          made.each([target](const std::string& text) {
            typename ElementOf<Target>::type value{};
            if (CLI::detail::lexical_cast(text, value)) *target = value;
          });
        }
      },
      option.target);
}

CLI::Option& option_named(CLI::App& command, const std::string& name) {
  if (CLI::Option* found = command.get_option_no_throw(name)) return *found;
  throw std::logic_error("there is no option " + name + " in " + command.get_name());
}

bool takes_text(const Option& option) {
  return std::holds_alternative<std::string*>(option.target) ||
         std::holds_alternative<std::vector<std::string>*>(option.target);
}

}  // namespace

void add_options(CLI::App& command, const OptionSet& options, Suggestions& suggestions) {
  for (const Option& option : options.all()) {
    if (CLI::Option* known = command.get_option_no_throw(option.long_name())) {
      bind_also(*known, option);
      continue;
    }
    const CLI::Option& made = make(command, option.name, option);
    if (option.suggested) {
      suggestions[&made] = option.suggested;
    } else if (takes_text(option)) {
      suggestions[&made] = [] { return Choices{{}, true, false}; };
    }
    for (const std::string& alias : option.hidden_aliases) make(command, alias, option).group("");
  }
  for (const Option& option : options.all()) {
    if (option.needed.empty() && option.excluded.empty()) continue;  // the search compares with all names
    CLI::Option& made = option_named(command, option.long_name());
    for (const std::string& other : option.needed) made.needs(&option_named(command, other));
    for (const std::string& other : option.excluded) made.excludes(&option_named(command, other));
  }
}

bool is_output(const Option& option) {
  return option.check.target<OutputFile>() != nullptr;
}

bool is_given(const CLI::App& command, const Option& option) {
  const auto counts = [&](const std::string& name) {
    const CLI::Option* const found = command.get_option_no_throw(name);
    return found && found->count() > 0;
  };
  if (counts(option.long_name())) return true;
  return std::any_of(option.hidden_aliases.begin(), option.hidden_aliases.end(), counts);
}

std::vector<std::string> words_of(const CLI::App& command, const OptionSet& options) {
  std::vector<std::string> words;
  for (const Option& option : options.all()) {
    if (option.is_positional()) continue;
    std::vector<std::string> names{option.long_name()};
    names.insert(names.end(), option.hidden_aliases.begin(), option.hidden_aliases.end());
    for (const std::string& name : names) {
      const CLI::Option* const given = command.get_option_no_throw(name);
      if (!given || given->count() == 0) continue;
      if (option.is_flag()) {
        words.push_back(option.long_name());
      } else if (option.separator != 0) {
        words.push_back(option.long_name() + '=' +
                        CLI::detail::join(given->results(), std::string(1, option.separator)));
      } else {
        for (const std::string& value : given->reduced_results()) words.push_back(name + '=' + value);
      }
    }
  }
  return words;
}

void parse_words(const OptionSet& options, const std::vector<std::string>& words) {
  CLI::App app;
  Suggestions unused;
  add_options(app, options, unused);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the parser takes them from behind
  } catch (const CLI::ParseError& error) {
    throw Error(ExitCode::usage, std::string("stored options are not understood: ") + error.what());
  }
}

}  // namespace sightline::apps
