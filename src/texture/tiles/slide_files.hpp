#pragma once
/// Internal to src/tiles: files that a slide names, which OpenSlide would open wherever they are.

#include <filesystem>
#include <string_view>

namespace sightline::tiles {

/// Refuses a slide whose parts are not regular files of its own folder (Hamamatsu's .vms and .vmu, Trestle),
/// or of the folder with its name (MIRAX).
/// @param vendor  OpenSlide's vendor name; empty before OpenSlide is called, which opens MIRAX's parts
/// @throws Error (input)
void check_slide_files(const std::filesystem::path& file, std::string_view vendor);

}  // namespace sightline::tiles
