#pragma once
/// Folders of the running program and of the library, from which installed files are found.

#include <filesystem>

namespace sightline {

/// The folder of the program's file; empty if that is not known.
std::filesystem::path program_folder();

/// The folder of the shared library that this code is part of; empty in a program, and if it is not known.
std::filesystem::path library_folder();

}  // namespace sightline
