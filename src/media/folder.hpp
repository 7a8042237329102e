#pragma once
/// The pictures of a folder.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline::media {

/// What is in a folder.
struct FolderContents {
  std::vector<std::filesystem::path> images;  ///< in order; each begins with the folder's path
  int other_files = 0;
  int folders = 0;  ///< that were not looked into
};

/// Images are files with an image's extension. A folder's own come first, sorted by name with numbers by value
/// (img2 before img10), then those of its sub-folders. Hidden files and folders do not count, and links to
/// folders are not followed. Throws Error (input) where the folder cannot be listed.
FolderContents list_folder(const std::string& folder, bool recursive);

/// The images of a folder without its sub-folders. Throws Error (input) where there are none.
std::vector<std::filesystem::path> list_images(const std::string& folder);

}  // namespace sightline::media
