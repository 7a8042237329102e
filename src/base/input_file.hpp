#pragma once
/// Files that the user names for reading: text, models, lists.

#include <filesystem>

#include "base/error.hpp"

namespace sightline {

/// Refuses files that block or never end: named FIFOs, devices and sockets. Missing files, folders and pipes
/// (/dev/stdin, /dev/fd/63) are accepted; the caller limits how much it reads.
/// @throws Error (code)
void refuse_special_file(const std::filesystem::path& file, ExitCode code = ExitCode::input);

}  // namespace sightline
