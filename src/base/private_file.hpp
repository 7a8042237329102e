#pragma once
/// Files that are trusted because nobody but this user can have written them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace sightline {

/// Why others may have written a file or a folder: it is not this user's, or others may write to it. Empty:
/// nobody else can have, or there is none. Links are followed.
std::string shared_because(const std::filesystem::path& path);

/// A file's bytes; none where there is no regular file, it cannot be read, has more than `most_bytes`, or
/// others may have written it.
/// @param problem  is set where others may have, and is empty otherwise
std::optional<std::string> read_private_file(const std::filesystem::path& file, std::uintmax_t most_bytes,
                                             std::string& problem);

}  // namespace sightline
