#include "params/options.hpp"

#include <algorithm>

namespace sightline {

Option::Option(const std::string& name_and_value, Target its_target, std::string its_help)
    : name(name_and_value.substr(0, name_and_value.find(' '))),
      value_name(name_and_value.substr(std::min(name.size() + 1, name_and_value.size()))),
      target(its_target),
      help(std::move(its_help)) {}

std::string Option::long_name() const {
  return name.substr(name.rfind(',') + 1);
}

std::string in_short(const std::string& help) {
  std::string text = help.substr(0, help.find_first_of(":;("));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Option& OptionSet::add(const std::string& name, Option::Target target, std::string help) {
  return add(Option(name, target, std::move(help)));
}

Option& OptionSet::add(Option option) {
  if (!group_.empty()) option.group = group_;
  return options_.emplace_back(std::move(option));
}

void OptionSet::add_all(const OptionSet& others) {
  for (const Option& option : others.all()) add(option);
}

}  // namespace sightline
