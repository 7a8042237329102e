#pragma once
/// Parameters of a configuration as data: a row has a parameter's key, type, range and meaning, and its
/// option on the command line. The reader of files, options with help, manual and completion, and known and
/// former keys follow from it.

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "params/config.hpp"
#include "params/options.hpp"

namespace sightline {

/// Range of a number, `lowest` and `highest` included. `count`: how many numbers a list has.
struct Range {
  double lowest = 0, highest = 0;
  std::size_t count = 1;
};

/// Rare properties of a parameter.
struct ParameterDetails {
  bool shows_range = false;  ///< the option refuses numbers out of range, and its help shows the range
  Option::Sign sign = Option::Sign::any;  ///< the option refuses numbers of another sign
  Choices (*suggested)() = nullptr;       ///< values of a text, for completion
  const char* alias = nullptr;            ///< former name of the option
  const char* former = nullptr;           ///< former name of the key
  bool of_model = false;                  ///< ignored in a configuration if --model names its model
  const char* section = "detector";
};

/// A parameter of any type. Strings are not copied: use literals.
struct ParameterInfo : ParameterDetails {
  enum class Kind { whole_number, number, numbers, text, flag };

  /// The option of a flag sets it to true, or to false if it is called "--no-...".
  Option make_option(Option::Target target = {}) const;

  const char* key;
  Kind kind;
  Range range;
  const char* option;   ///< name and value as in Option: "--filters N"; empty: only in configurations
  const char* meaning;  ///< help of the option
};

/// @tparam T  int, double, std::vector<double>, std::string or bool
template <typename T>
struct Parameter : ParameterInfo {
  constexpr Parameter(const char* its_key, Range its_range, const char* its_option, const char* its_meaning,
                      ParameterDetails details = {})
      : ParameterInfo{details, its_key, kKind, its_range, its_option, its_meaning} {}
  /// Flag or text.
  constexpr Parameter(const char* its_key, const char* its_option, const char* its_meaning,
                      ParameterDetails details = {})
      : Parameter(its_key, {}, its_option, its_meaning, details) {}

  /// Value in a configuration, which marks the key as known; empty if there is none. Throws Error (usage) as
  /// Config does.
  std::optional<T> read(const Config& config) const {
    if constexpr (std::is_same_v<T, int>)
      return config.optional_whole_number(section, key, int(range.lowest), int(range.highest));
    if constexpr (std::is_same_v<T, double>)
      return config.optional_number(section, key, range.lowest, range.highest);
    if constexpr (std::is_same_v<T, std::vector<double>>)
      return config.optional_numbers(section, key, range.count, range.lowest, range.highest);
    if constexpr (std::is_same_v<T, std::string>) return config.optional_text(section, key);
    if constexpr (std::is_same_v<T, bool>) return config.optional_flag(section, key);
  }
  T read(const Config& config, const T& fallback) const { return read(config).value_or(fallback); }

 private:
  static constexpr Kind kKind = std::is_same_v<T, int>           ? Kind::whole_number
                                : std::is_same_v<T, double>      ? Kind::number
                                : std::is_same_v<T, std::string> ? Kind::text
                                : std::is_same_v<T, bool>        ? Kind::flag
                                                                 : Kind::numbers;
};

namespace keys {  // namespaces of this name hold rows

using Flag = Parameter<bool>;
using Number = Parameter<double>;
using Numbers = Parameter<std::vector<double>>;
using Text = Parameter<std::string>;
using Whole = Parameter<int>;

}  // namespace keys
}  // namespace sightline
