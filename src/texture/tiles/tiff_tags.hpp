#pragma once
/// Internal to src/tiles: how much memory a TIFF file's tags take, found before libtiff reads them.

#include <filesystem>

namespace sightline::tiles {

/// Walks all directories of a TIFF file and adds up their tags. libtiff limits each tag alone, but tags can
/// share their values, so that a small file makes it read gigabytes. Damage is left to libtiff to report.
/// @throws Error (input) if a directory's tags take more than 512 MiB, or those of all directories more
/// than 256 MiB and more than the file has
void check_tag_sizes(const std::filesystem::path& file);

}  // namespace sightline::tiles
