#pragma once
/// Search for configurations.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline::apps {

/// The configuration of commands that are given none.
inline constexpr char kDefaultConfig[] = "people";
/// Default of `live`: people sit in front of its camera rather than walk.
inline constexpr char kLiveConfig[] = "people-and-faces";

/// The file of a configuration given as a path, or by the name of one that ships ("people"). Throws Error
/// (usage) where there is none.
std::filesystem::path find_config(const std::string& path_or_name);

/// The names of the configurations that ship, in alphabetical order.
std::vector<std::string> config_names();

/// The file of a model that ships, given by its name ("faces-waldboost"); what is a path, or no such name,
/// comes back as it is.
std::string find_model(const std::string& path_or_name);

/// The names of the models that ship, in alphabetical order.
std::vector<std::string> model_names();

/// The same, for a message.
std::string model_list();

}  // namespace sightline::apps
