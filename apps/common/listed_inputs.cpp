#include "apps/common/listed_inputs.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "media/folder.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kVideos{".mp4",  ".m4v", ".mov",  ".mkv", ".webm", ".avi", ".ts",  ".mts",
                                    ".m2ts", ".mpg", ".mpeg", ".wmv", ".flv",  ".3gp", ".ogv", ".y4m"};
const std::set<std::string> kSlides{".svs", ".ndpi", ".vms", ".vmu", ".scn", ".mrxs", ".bif", ".svslide"};

bool has_ending(const fs::path& file, const std::set<std::string>& endings) {
  return endings.contains(lower_case(file.extension().string()));
}

std::vector<std::string> list_files(const std::string& folder, const std::set<std::string>& endings,
                                    bool recursive) {
  std::vector<fs::path> files, folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const fs::path& path = entry->path();
    if (path.filename().native().starts_with('.')) continue;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) folders.push_back(path);
    if (entry->is_regular_file(ignored) && has_ending(path, endings)) files.push_back(path);
  }
  if (error)
    throw Error(ExitCode::input, "cannot list the folder '" + folder + "' (" + error.message() + ")");
  const auto by_name = [](const fs::path& a, const fs::path& b) {
    return natural_less(a.native(), b.native());
  };
  std::ranges::sort(files, by_name);
  std::ranges::sort(folders, by_name);
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.string());
  for (const fs::path& inner : folders) {
    if (!recursive) break;
    for (std::string& name : list_files(inner.string(), endings, true)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<std::string> videos_in(const std::string& folder, bool recursive) {
  return list_files(folder, kVideos, recursive);
}

std::vector<std::string> slides_in(const std::string& folder) {
  std::vector<std::string> names = list_files(folder, kSlides, false);
  for (const fs::path& image : media::list_folder(folder, false).images) names.push_back(image.string());
  std::ranges::sort(names, natural_less);
  if (names.empty())
    throw Error(ExitCode::input, "there are no pictures or slides in '" + folder + "'",
                "name its sub-folders one by one");
  return names;
}

std::vector<std::string> with_videos(const std::vector<std::string>& inputs, bool recursive) {
  std::vector<std::string> all;
  for (const std::string& input : inputs) {
    std::error_code error;
    const bool is_folder = fs::is_directory(input, error);
    const std::vector<std::string> videos =
        is_folder ? videos_in(input, recursive) : std::vector<std::string>();
    if (videos.empty() || !media::list_folder(input, recursive).images.empty()) all.push_back(input);
    all.insert(all.end(), videos.begin(), videos.end());
  }
  return all;
}

}  // namespace sightline::apps
