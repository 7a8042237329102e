#pragma once
/// The pictures of a folder.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline::media {

/// Contents of a folder. A link counts as its target.
struct FolderContents {
  /// In order; each begins with the folder's path. Not all may be files: see `why_unreadable`.
  std::vector<std::filesystem::path> images;
  std::vector<std::filesystem::path> lost;  ///< links that lead nowhere, where sub-folders are not searched
  /// Why sub-folders could not be listed, with their names; also links that lead nowhere, maybe to folders.
  std::vector<std::string> problems;
  int other_files = 0;
  int folders = 0;        ///< folders that were not searched
  int known_folders = 0;  ///< links to folders that are listed already
};

/// Whether a file's extension is one of the image formats that are read.
bool is_image_name(const std::filesystem::path& file);

/// Images are recognised by extension. A folder's own come first, sorted by name with numbers by value (img2
/// before img10), then those of its sub-folders, at last those of folders that links lead to; each folder is
/// listed once. Hidden files and folders do not count. Throws Error (input) if the folder itself cannot be
/// listed.
FolderContents list_folder(const std::string& folder, bool recursive);

/// Why an image of a folder is not to be opened: its link leads nowhere, or it is a named pipe or a device,
/// which a reader might wait for. Empty for files.
std::string why_unreadable(const std::filesystem::path& image);

/// The images without those that are unreadable, which a warning names.
std::vector<std::filesystem::path> readable(std::vector<std::filesystem::path> images);

/// The readable images of a folder without its sub-folders. Throws Error (input) if there are none.
std::vector<std::filesystem::path> list_images(const std::string& folder);

}  // namespace sightline::media
