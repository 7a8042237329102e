#pragma once
/// Commands that only some families take part in.

#include <functional>
#include <string>
#include <string_view>

#include "detectors/families.hpp"
#include "family/model_show.hpp"
#include "params/config.hpp"

namespace sightline::apps {

/// Titles of the families for which a predicate holds, as a list to show: "filter banks, census cascades".
template <typename Predicate>
std::string titles_where(Predicate holds) {
  std::string titles;
  for (const Family* family : families()) {
    if (holds(*family)) titles += (titles.empty() ? "" : ", ") + std::string(family->info().title);
  }
  return titles;
}

/// The families that have a tool.
/// @param make  makes it of a Family, or gives null where there is none
template <typename Make>
std::string titles_with(Make make) {
  return titles_where([&](const Family& family) { return static_cast<bool>(std::invoke(make, family)); });
}

[[noreturn]] void refuse_family(std::string_view command, const std::string& titles, const std::string& what);

/// The family of a configuration. Throws Error (usage) where it has no such tool.
template <typename Make>
const Family& require_tool(std::string_view command, const Config& config, Make make) {
  const Family& family = family_of(config);
  if (!std::invoke(make, family)) refuse_family(command, titles_with(make), config.name());
  return family;
}

/// The same of a model: that of no family in particular is taken for the first one's.
template <typename Make>
const Family& require_tool(std::string_view command, const std::string& model, Make make) {
  const Family* found = family_of_model(model);
  const Family& family = found ? *found : *families().front();
  if (!std::invoke(make, family)) refuse_family(command, titles_with(make), model);
  return family;
}

/// Services of commands for families: standard output, and pictures from files and folders.
/// @param in_colour  pictures are RGB; otherwise as they were read
ShowContext show_context(bool in_colour);

}  // namespace sightline::apps
