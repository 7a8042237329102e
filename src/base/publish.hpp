#pragma once
/// Names for finished files that several processes, on several machines, may produce at the same time.

#include <filesystem>
#include <functional>

namespace sightline {

/// Result of `publish`.
enum class Published {
  first,    ///< the file has its name
  same,     ///< the name was taken by an equal file
  differs,  ///< the name was taken by another file; this one is kept under its temporary name
};

/// Syncs a closed file to disk and links it to its final name, without replacing a file of that name. Removes
/// the temporary name except where the files differ. Both names are in one folder, which may be on NFS.
/// @param same  compares the temporary file (first) with one that has the name
/// Throws Error (failed): no room, or a file system that has no hard links and cannot rename without
/// replacing.
Published publish(
    const std::filesystem::path& temporary, const std::filesystem::path& final,
    const std::function<bool(const std::filesystem::path&, const std::filesystem::path&)>& same);

/// Whether two files have the same bytes. Throws Error (failed) where one cannot be read.
bool equal_files(const std::filesystem::path& a, const std::filesystem::path& b);

/// The name of this machine; "unknown" where it has none.
std::string machine_name();

/// Unguessable name for a temporary file of this process: FILE.MACHINE-PROCESS-RANDOM.SUFFIX
std::filesystem::path temporary_name(const std::filesystem::path& file, const std::string& suffix);

}  // namespace sightline
