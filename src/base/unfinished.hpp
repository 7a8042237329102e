#pragma once
/// Files that have their name only once they are whole.

#include <filesystem>

namespace sightline {

/// Where a file is written until it is whole, to be renamed then: beside its place, as `NAME.part`. The place
/// itself where that cannot be: for what is no regular file (a pipe, a device), may not be written, or lies
/// in a folder that takes no new file. Where the name is a link to a file, that file counts; see
/// `without_link`.
std::filesystem::path unfinished_name(const std::filesystem::path& file);

/// A name beside a file's for a writer of its own: no other process and no other call gets the same one. For what
/// several may write at once (a cache, a model), of whom the last to rename wins.
std::filesystem::path name_of_its_own(const std::filesystem::path& file);

/// The file that a link leads to; the name itself where it is none.
std::filesystem::path without_link(const std::filesystem::path& name);

}  // namespace sightline
