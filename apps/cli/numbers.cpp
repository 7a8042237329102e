#include "apps/cli/numbers.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <regex>
#include <type_traits>

namespace sightline::apps {
namespace {

// "a whole number from 1 to 64", "a finite number above 0".
template <typename T>
std::string expected_of(const Option& option) {
  const std::string kind = std::is_integral_v<T> ? "whole number" : "number";
  if (option.range) {
    return fmt::format("a {} from {} to {}", kind, static_cast<T>(option.range->first),
                       static_cast<T>(option.range->second));
  }
  const std::string finite = std::is_integral_v<T> ? "a " + kind : "a finite " + kind;
  if (option.sign == Option::Sign::positive) return finite + " above 0";
  if (option.sign == Option::Sign::not_negative || std::is_unsigned_v<T>) return finite + " of 0 or more";
  return "a " + kind;
}

using Range = decltype(Option::range);

template <typename T>
bool is_wanted(T number, const Range& range, Option::Sign sign) {
  if (range) return number >= static_cast<T>(range->first) && number <= static_cast<T>(range->second);
  if (sign == Option::Sign::any) return !std::isnan(static_cast<double>(number));
  if (!std::isfinite(static_cast<double>(number))) return false;
  return sign == Option::Sign::positive ? number > 0 : number >= 0;
}

// What --help and the manual say besides; these read it.
template <typename T>
std::string description_of(const Option& option) {
  if (option.range)
    return CLI::Range(static_cast<T>(option.range->first), static_cast<T>(option.range->second))
        .get_description();
  switch (option.sign) {
    case Option::Sign::positive:
      return "POSITIVE";
    case Option::Sign::not_negative:
      return "NONNEGATIVE";
    default:
      return "";
  }
}

// The beginning of a help text within a sentence: "CPU threads", "skip so many seconds".
std::string within_sentence(std::string text) {
  const bool is_word = text.size() < 2 || !std::isupper(static_cast<unsigned char>(text[1]));
  if (!text.empty() && is_word)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string refusal_of(const std::string& text, const std::string& expected) {
  double number = 0;
  const bool is_number = CLI::detail::lexical_cast(text, number);
  return (is_number ? text : "'" + text + "'") + " is not " + expected;
}

}  // namespace

template <typename T>
CLI::Validator number_check(const Option& option) {
  const std::string about = within_sentence(in_short(option.help));
  const std::string expected = expected_of<T>(option) + (about.empty() ? "" : " (" + about + ")");
  return {[range = option.range, sign = option.sign, expected](std::string& text) {
            T number{};
            const bool is_taken = CLI::detail::lexical_cast(text, number) && is_wanted(number, range, sign);
            return is_taken ? std::string() : refusal_of(text, expected);
          },
          description_of<T>(option)};
}

namespace {

// Of "1:02:03.5" or "1m30s"; none of any other text.
std::optional<double> seconds_in(const std::string& text) {
  static const std::regex clock(R"((?:(\d+):)?(\d+):(\d{1,2}(?:\.\d+)?))");
  static const std::regex units(
      R"((?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?)");
  std::smatch found;
  const bool is_clock = std::regex_match(text, found, clock);
  if (text.size() > 32 || (!is_clock && !std::regex_match(text, found, units)) || text.empty()) return {};
  constexpr double kSeconds[] = {3600, 60, 1, 1e-3};
  double seconds = 0;
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i].matched) seconds += kSeconds[i - 1] * std::stod(found[i].str());
  return seconds;
}

}  // namespace

CLI::Validator time_reader() {
  return {[](std::string& text) {
            if (const auto seconds = seconds_in(text)) text = fmt::format("{}", *seconds);
            return std::string();
          },
          ""};
}

template CLI::Validator number_check<int>(const Option&);
template CLI::Validator number_check<std::int64_t>(const Option&);
template CLI::Validator number_check<std::uint64_t>(const Option&);
template CLI::Validator number_check<double>(const Option&);

}  // namespace sightline::apps
