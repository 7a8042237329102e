#include "numbers.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <optional>

namespace sightline::apps {
namespace {

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  return CLI::detail::lexical_cast(text, number) ? std::optional(number) : std::nullopt;
}

// What is no number at all is left to the parser to refuse, which knows the type.
template <typename IsWanted>
CLI::Validator finite(const IsWanted& is_wanted, const std::string& wanted, const std::string& description) {
  return {[=](std::string& text) {
            const std::optional<double> number = number_in(text);
            const bool is_refused = number && !(std::isfinite(*number) && is_wanted(*number));
            return is_refused ? text + " is not " + wanted : std::string();
          },
          description};
}

std::string explain_nan(const std::string& text) {
  const std::optional<double> number = number_in(text);
  return number && std::isnan(*number) ? text + " is not a number" : "";
}

}  // namespace

CLI::Validator positive() {
  return finite([](double number) { return number > 0; }, "a finite number above 0", "POSITIVE");
}

CLI::Validator not_negative() {
  return finite([](double number) { return number >= 0; }, "a finite number of 0 or more", "NONNEGATIVE");
}

void refuse_nan(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_type_name().starts_with("FLOAT")) option->check(explain_nan);
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_nan(*command);
}

}  // namespace sightline::apps
