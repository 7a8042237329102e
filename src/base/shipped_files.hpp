#pragma once
/// Configurations and models that ship with the program, and the user's own data.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline {

/// The folders that hold configurations, and models in `models/`, in the order of search: $SIGHTLINE_CONFIGS,
/// beside the installed program or the shared library (../share/sightline/configs), and the source tree of a
/// build. They need not exist.
std::vector<std::filesystem::path> shipped_folders();

/// Whether a file is one of those beside the program, which are no secrets. $SIGHTLINE_CONFIGS, a user's own
/// folder, does not count.
bool ships_with_program(const std::filesystem::path& file);

/// The file of `name`, a path relative to one of these folders; empty if there is none.
std::filesystem::path find_shipped_file(const std::filesystem::path& name);

/// The file of a model that ships, by its name ("people"), also with its extension; empty if there is none.
std::filesystem::path find_shipped_model(const std::string& name);

/// A file of the user's data folder, $XDG_DATA_HOME/sightline or ~/.local/share/sightline; empty if neither
/// is known.
std::filesystem::path data_file(const char* name);

}  // namespace sightline
