#include "apps/texture/texture_known.hpp"

#include <strings.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "apps/common/media_options.hpp"
#include "apps/texture/texture_run.hpp"
#include "base/error.hpp"
#include "media/folder.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

// A picture that is to be described, or a record that is read.
struct Entry {
  KnownPicture picture;
  std::optional<texture::TextureRecord> record;
};

std::string stem_of(const fs::path& file) {
  return file.stem().string();
}

void add_pictures(const fs::path& folder, const std::string& name, std::vector<KnownPicture>& pictures) {
  for (const fs::path& file : media::list_images(folder.string()))
    pictures.push_back({name.empty() ? stem_of(file) : name, file.string()});
}

void read_entries(const std::string& input, std::vector<Entry>& entries) {
  require_present(input);
  if (strcasecmp(fs::path(input).extension().c_str(), ".json") == 0) {
    for (texture::TextureRecord& record : texture::load_records(input)) {
      const std::string name = stem_of(record.picture);
      entries.push_back({{name, ""}, std::move(record)});
    }
    return;
  }
  for (KnownPicture& picture : list_known_pictures(input)) entries.push_back({std::move(picture), {}});
}

}  // namespace

std::vector<KnownPicture> list_known_pictures(const std::string& input) {
  require_present(input);
  if (!fs::is_directory(input)) return {{stem_of(input), input}};
  std::vector<fs::path> folders;
  for (const auto& one : fs::directory_iterator(input)) {
    if (one.is_directory()) folders.push_back(one.path());
  }
  std::ranges::sort(folders);
  std::vector<KnownPicture> pictures;
  if (folders.empty()) add_pictures(input, "", pictures);
  for (const fs::path& folder : folders) add_pictures(folder, folder.filename().string(), pictures);
  return pictures;
}

std::vector<std::vector<NamedTexture>> load_textures(const std::vector<std::vector<std::string>>& lists,
                                                     TextureOptions options, int verbosity) {
  std::vector<std::vector<Entry>> entries(lists.size());
  const texture::TextureRecord* first = nullptr;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (const std::string& input : lists[list]) read_entries(input, entries[list]);
  }
  for (const auto& list : entries) {
    for (const Entry& entry : list) {
      if (!first && entry.record) first = &*entry.record;
    }
  }
  if (first) options.follow(*first);
  const TextureChoice choice = options.choice();
  std::optional<TextureRunner> runner;
  std::vector<std::vector<NamedTexture>> textures(lists.size());
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (Entry& entry : entries[list]) {
      if (!entry.record) {
        // There may be hundreds: about each, only who asks for more is told.
        if (!runner) runner.emplace(options, choice, verbosity - 1);
        entry.record = runner->run(entry.picture.file);
      }
      report_damage(*entry.record);
      textures[list].push_back({entry.picture.name, std::move(*entry.record)});
    }
  }
  return textures;
}

}  // namespace sightline::apps
