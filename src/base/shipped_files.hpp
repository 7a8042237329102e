#pragma once
/// Configurations and models that ship with the program.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline {

/// The folders that hold configurations, and models in `models/`, in the order of search: $SIGHTLINE_CONFIGS,
/// beside the installed program (../share/sightline/configs), and the source tree of a build. They need not
/// exist.
std::vector<std::filesystem::path> shipped_folders();

/// The file of `name`, a path relative to one of these folders; empty if there is none.
std::filesystem::path find_shipped_file(const std::filesystem::path& name);

/// The file of a model that ships, by its name ("people"), also with its extension; empty if there is none.
std::filesystem::path find_shipped_model(const std::string& name);

}  // namespace sightline
