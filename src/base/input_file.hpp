#pragma once
/// Files that the user names for reading: text, models, lists.

#include <filesystem>

#include "base/error.hpp"

namespace sightline {

/// Refuses what a program would wait for, or read without an end: named FIFOs, devices and sockets. A file
/// that is not there, a folder, and the end of a pipe (/dev/stdin, /dev/fd/63) are left to the caller, who
/// limits how much is read.
/// @throws Error (code)
void refuse_special_file(const std::filesystem::path& file, ExitCode code = ExitCode::input);

}  // namespace sightline
