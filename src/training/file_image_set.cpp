#include "training/file_image_set.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/text_encoding.hpp"
#include "media/folder.hpp"
#include "media/reader.hpp"

namespace sightline::training {
namespace fs = std::filesystem;

FileImageSet::FileImageSet(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    files_ = media::readable(media::list_folder(path.string(), false).images);
    std::sort(files_.begin(), files_.end());
  } else if (fs::is_regular_file(path, error)) {
    std::ifstream list(path);
    const fs::path base = folder.empty() ? path.parent_path() : folder;
    int number = 0;
    for (std::string line; std::getline(list, line);) {
      if (++number == 1) {
        refuse_wide_text(line, path);
        line.erase(0, line.size() - without_byte_order_mark(line).size());
      }
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty() || line[0] == '#') continue;
      if (!fs::is_regular_file(base / line, error)) {
        throw Error(ExitCode::input,
                    path.string() + ":" + std::to_string(number) + ": there is no picture '" +
                        (base / line).string() + "'",
                    "give the folder of the listed pictures with --folder"_message);
      }
      files_.push_back(base / line);
    }
  } else {
    throw Error(ExitCode::input, "'" + path.string() + "' is neither a folder nor a list of pictures",
                "check the name and the path");
  }
  if (files_.empty()) {
    throw Error(
        ExitCode::input, "'" + path.string() + "' contains no pictures",
        "give a folder with files such as .jpg or .png (sub-folders are ignored), or a list of such files");
  }
}

Image<std::uint8_t> FileImageSet::load(std::size_t index) const {
  media::ReadOptions options;
  options.threads = 1;
  media::Reader reader(files_[index].string(), options);
  const auto frame = reader.read();
  if (!frame) throw Error(ExitCode::input, "'" + files_[index].string() + "' contains no picture");
  return to_gray(*frame);
}

FileImageSet pictures_named(const std::vector<std::string>& names, const fs::path& folder) {
  const FileImageSet all(folder);
  std::map<std::string, fs::path> files;
  for (std::size_t i = 0; i < all.size(); ++i) {
    files.try_emplace(all.name(i), all.file(i));
    files.try_emplace(all.file(i).stem().string(), all.file(i));
  }
  std::vector<fs::path> chosen;
  for (const std::string& name : names) {
    const auto found = files.find(name);
    if (found == files.end()) {
      throw Error(
          ExitCode::input,
          "there is no picture '" + name + "' in '" + folder.string() + "'; '" + all.name(0) + "' is there",
          "name pictures like the files of this folder, with or without extension");
    }
    chosen.push_back(found->second);
  }
  return FileImageSet(std::move(chosen));
}

}  // namespace sightline::training
