#pragma once
/// The pictures of a folder.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline::media {

/// Files that are images by their name's extension, by name, with numbers in it by value: what a Reader reads
/// from a folder, in its order. Throws Error (input) where there is none, or the folder cannot be listed.
std::vector<std::filesystem::path> list_images(const std::string& folder);

}  // namespace sightline::media
