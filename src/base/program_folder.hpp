#pragma once
/// Where the running program lies: what comes with it is found from there.

#include <filesystem>

namespace sightline {

/// The folder of the program's file; empty where that is not known.
std::filesystem::path program_folder();

}  // namespace sightline
