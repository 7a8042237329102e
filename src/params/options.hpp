#pragma once
/// Command line options: name, target, permitted values and help. Parsing, --help, manual pages and
/// completion are the program's task (apps/), so nothing here depends on a parser.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sightline {

/// One of the values that an option may have.
struct Choice {
  std::string value;
  std::string description;  ///< a few words; may be empty
};

/// Possible values of an option, if they can be listed.
struct Choices {
  std::vector<Choice> values;
  bool files = false;  ///< a file's name may stand there as well
  bool list = false;   ///< several values, separated by commas
};

/// One option. The functions refine it and return it, to be written one after the other:
/// `options.add("--rounds N", &rounds, "Rounds of hard negatives").between(0, 20).show_default()`.
struct Option {
  /// Target of an option's value; must outlive the parsing. A bool is a flag that the option sets to true. If
  /// the option is not given, an optional stays empty and all others keep their value, which is the default.
  using Target =
      std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::optional<int>*,
                   std::optional<double>*, std::vector<int>*, std::vector<std::string>*>;
  enum class Sign { any, positive, not_negative };

  Option() = default;
  /// Takes the name, and behind a space the value's: "-o,--output FILE".
  Option(const std::string& name_and_value, Target its_target, std::string its_help);

  std::string name;  ///< "--filters", or with a short form "-o,--output"; without hyphens: a positional one
  std::string value_name;  ///< as in help: "FILE", "SECONDS", "STAGE=PLACE,..."; without ':'
  Target target;
  std::string help;                                ///< without a full stop
  std::string group = "Options";                   ///< heading under which --help lists it
  std::vector<std::string> hidden_aliases;         ///< former names, which work and are shown nowhere
  std::optional<std::pair<double, double>> range;  ///< lowest and highest of a number's values
  Sign sign = Sign::any;                           ///< sign of a finite number without a range
  std::vector<std::string> accepted;               ///< all values that are taken; empty: any
  /// Check of a text; throws Error if the value is invalid. Null: no check.
  std::function<void(const std::string&)> check;
  std::function<Choices()> suggested;  ///< for completion, if values are unknown in advance or unchecked
  bool shows_default = false;          ///< --help says the target's value
  std::string default_text;            ///< --help says this instead
  bool is_required = false;
  bool is_harmless = false;           ///< see harmless()
  bool takes_one = false;             ///< list: one value per occurrence of the option
  char separator = 0;                 ///< list: separator of values; 0: none
  std::vector<std::string> needed;    ///< names of options that must be given with it
  std::vector<std::string> excluded;  ///< names of options that must not

  Option& alias(std::string former_name) { return append(hidden_aliases, std::move(former_name)); }
  Option& between(double lowest, double highest) { return set(range, std::pair(lowest, highest)); }
  Option& positive() { return set(sign, Sign::positive); }
  Option& not_negative() { return set(sign, Sign::not_negative); }
  Option& one_of(std::vector<std::string> values) { return set(accepted, std::move(values)); }
  Option& checked_by(std::function<void(const std::string&)> refuse) { return set(check, std::move(refuse)); }
  Option& suggest(std::function<Choices()> choices) { return set(suggested, std::move(choices)); }
  /// Text that is neither a file's name nor one of some values.
  Option& free_text() {
    return suggest([] { return Choices(); });
  }
  Option& show_default() { return set(shows_default, true); }
  Option& show_default(std::string text) { return set(default_text, std::move(text)); }
  Option& require() { return set(is_required, true); }
  Option& one_at_a_time() { return set(takes_one, true); }
  Option& separated_by(char character) { return set(separator, character); }
  Option& needs(std::string option) { return append(needed, std::move(option)); }
  Option& excludes(std::string option) { return append(excluded, std::move(option)); }
  /// Accepts the option even if nothing reads it, because its request is met anyway.
  Option& harmless() { return set(is_harmless, true); }

  bool is_flag() const { return std::holds_alternative<bool*>(target); }
  bool is_positional() const { return !name.starts_with('-'); }
  /// "--output" of "-o,--output".
  std::string long_name() const;

 private:
  template <typename Member, typename Value>
  Option& set(Member& member, Value value) {
    member = std::move(value);
    return *this;
  }
  Option& append(std::vector<std::string>& list, std::string value) {
    list.push_back(std::move(value));
    return *this;
  }
};

/// The start of a help text, up to the end of its first clause: for lists.
std::string in_short(const std::string& help);

/// Options in the order in which they are listed. Thread-safety: none.
class OptionSet {
 public:
  /// Heading of all options added from now on.
  void group(std::string heading) { group_ = std::move(heading); }
  /// As the constructor of Option. The reference is good until the next one is added.
  Option& add(const std::string& name, Option::Target target, std::string help);
  /// Adds a complete option; it keeps its heading unless this set has one.
  Option& add(Option option);
  /// All of another set, likewise.
  void add_all(const OptionSet& others);

  const std::vector<Option>& all() const { return options_; }

 private:
  std::vector<Option> options_;
  std::string group_;
};

}  // namespace sightline
