#include "base/options.hpp"

namespace sightline {

Option& Option::called(const std::string& name_and_value) {
  const std::size_t space = name_and_value.find(' ');
  name = name_and_value.substr(0, space);
  value_name = space == std::string::npos ? "" : name_and_value.substr(space + 1);
  return *this;
}

Option& Option::alias(std::string former_name) {
  hidden_aliases.push_back(std::move(former_name));
  return *this;
}

Option& Option::between(double lowest, double highest) {
  range = {lowest, highest};
  return *this;
}

Option& Option::positive() {
  sign = Sign::positive;
  return *this;
}

Option& Option::not_negative() {
  sign = Sign::not_negative;
  return *this;
}

Option& Option::one_of(std::vector<std::string> values) {
  accepted = std::move(values);
  return *this;
}

Option& Option::checked_by(std::function<void(const std::string&)> refuse) {
  check = std::move(refuse);
  return *this;
}

Option& Option::suggest(std::function<Choices()> choices) {
  suggested = std::move(choices);
  return *this;
}

Option& Option::free_text() {
  return suggest([] { return Choices(); });
}

Option& Option::show_default() {
  shows_default = true;
  return *this;
}

Option& Option::show_default(std::string text) {
  default_text = std::move(text);
  return *this;
}

Option& Option::require() {
  is_required = true;
  return *this;
}

Option& Option::one_at_a_time() {
  takes_one = true;
  return *this;
}

Option& Option::separated_by(char character) {
  separator = character;
  return *this;
}

Option& Option::needs(std::string option) {
  needed.push_back(std::move(option));
  return *this;
}

Option& Option::excludes(std::string option) {
  excluded.push_back(std::move(option));
  return *this;
}

Option& Option::harmless() {
  is_harmless = true;
  return *this;
}

std::string Option::long_name() const {
  return name.substr(name.rfind(',') + 1);
}

std::string in_short(const std::string& help) {
  std::string text = help.substr(0, help.find_first_of(":;("));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Option& OptionSet::add(const std::string& name, Option::Target target, std::string help) {
  Option option;
  option.called(name);
  option.target = target;
  option.help = std::move(help);
  return add(std::move(option));
}

Option& OptionSet::add(Option option) {
  if (!group_.empty()) option.group = group_;
  return options_.emplace_back(std::move(option));
}

void OptionSet::add_all(const OptionSet& others) {
  for (const Option& option : others.all()) add(option);
}

}  // namespace sightline
