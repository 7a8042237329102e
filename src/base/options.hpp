#pragma once
/// Options of a command line as the code that reads them describes them: what they are called, where their
/// values go, what these may be and what they mean. Parsing them, --help, manual pages and completion are
/// the program's business (apps/), so nothing here knows a parser.

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

/// What an option's value can be, where that can be listed.
struct Choices {
  std::vector<Choice> values;
  bool files = false;  ///< a file's name may stand there as well
  bool list = false;   ///< several values, separated by commas
};

/// One option. The functions refine it and return it, to be written one after the other:
/// `options.add("--rounds N", &rounds, "Rounds of hard negatives").between(0, 20).show_default()`.
struct Option {
  /// Where the value goes; must outlive the parsing. A bool is a flag, which being given sets to true. An
  /// optional stays empty where the option is not given, all others keep the value that they have: the
  /// default.
  using Target =
      std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::optional<int>*,
                   std::optional<double>*, std::vector<int>*, std::vector<std::string>*>;
  enum class Sign { any, positive, not_negative };

  std::string name;  ///< "--filters", or with a short form "-o,--output"; without hyphens: a positional one
  std::string value_name;  ///< for people: "FILE", "SECONDS", "STAGE=PLACE,..."; without ':'
  Target target;
  std::string help;                                ///< for people, without a full stop
  std::string group = "Options";                   ///< heading under which --help lists it
  std::vector<std::string> hidden_aliases;         ///< former names, which work and are shown nowhere
  std::optional<std::pair<double, double>> range;  ///< lowest and highest of a number's values
  Sign sign = Sign::any;                           ///< of a number without a range, which is then finite
  std::vector<std::string> accepted;               ///< all values that are taken; empty: any
  /// Of a text: throws Error for a value that is not taken. Null: there is no such check.
  std::function<void(const std::string&)> check;
  std::function<Choices()> suggested;  ///< for completion, where values are not known before or not checked
  bool shows_default = false;          ///< --help says the target's value
  std::string default_text;            ///< --help says this instead
  bool is_required = false;
  bool is_harmless = false;           ///< see harmless()
  bool takes_one = false;             ///< of a list: one value each time that the option is given
  char separator = 0;                 ///< of a list: stands between values; 0: none does
  std::vector<std::string> needed;    ///< names of options that must be given with it
  std::vector<std::string> excluded;  ///< names of options that must not

  /// Takes the name, and behind a space the value's: "-o,--output FILE".
  Option& called(const std::string& name_and_value);
  Option& alias(std::string former_name);
  Option& between(double lowest, double highest);
  Option& positive();
  Option& not_negative();
  Option& one_of(std::vector<std::string> values);
  Option& checked_by(std::function<void(const std::string&)> refuse);
  Option& suggest(std::function<Choices()> choices);
  /// Text that is neither a file's name nor one of some values.
  Option& free_text();
  Option& show_default();
  Option& show_default(std::string text);
  Option& require();
  Option& one_at_a_time();
  Option& separated_by(char character);
  Option& needs(std::string option);
  Option& excludes(std::string option);
  /// What it asks for holds anyway where nothing reads it, so it is not refused there.
  Option& harmless();

  bool is_flag() const { return std::holds_alternative<bool*>(target); }
  bool is_positional() const { return !name.starts_with('-'); }
  /// "--output" of "-o,--output".
  std::string long_name() const;
};

/// The beginning of a help text, up to the first end of a thought: it stands beside much else.
std::string in_short(const std::string& help);

/// Options in the order in which they are listed. Thread-safety: none.
class OptionSet {
 public:
  /// Heading of all that is added from here on.
  void group(std::string heading) { group_ = std::move(heading); }
  /// The name is read by Option::called. The reference is good until the next one is added.
  Option& add(const std::string& name, Option::Target target, std::string help);
  /// One that is described already; it keeps its heading unless this set has one.
  Option& add(Option option);
  /// All of another set, likewise.
  void add_all(const OptionSet& others);

  const std::vector<Option>& all() const { return options_; }

 private:
  std::vector<Option> options_;
  std::string group_;
};

}  // namespace sightline
