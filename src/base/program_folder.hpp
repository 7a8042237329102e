#pragma once
/// Folder of the running program, from which installed files are found.

#include <filesystem>

namespace sightline {

/// The folder of the program's file; empty if that is not known.
std::filesystem::path program_folder();

}  // namespace sightline
