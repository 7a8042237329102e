// `sightline faces`: who is known. Here: what changes people that are; `faces_*.cpp` has the rest.
#include "apps/faces/faces.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "apps/faces/face_finder.hpp"
#include "apps/faces/faces_add.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "media/reader.hpp"

namespace sightline::apps {

using gallery::Gallery;
using gallery::Imported;

void GalleryOption::add_to(OptionSet& options) {
  options.add("--gallery FILE", &name, "Gallery of people (default: ~/.local/share/sightline/faces.gallery)");
}

std::filesystem::path GalleryOption::file() const {
  return name.empty() ? Gallery::default_file() : std::filesystem::path(name);
}

Gallery GalleryOption::open(Gallery::Access access) const {
  return {file(), access};
}

std::string time_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  if (!localtime_r(&time, &local)) return "?";
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local)};
}

std::string percent(double share) {
  return fmt::format("{:.2g}%", 100 * share);
}

namespace {

struct PeopleArguments {
  GalleryOption gallery;
  std::string name;
  std::string new_name;
  std::vector<std::string> names;
  std::vector<int> pictures;
  std::string file;
  bool force = false;
};

int rename(const PeopleArguments& a) {
  Gallery gallery = a.gallery.open(Gallery::Access::write);
  gallery.rename(a.name, a.new_name);
  spdlog::info("'{}' is '{}' now", a.name, a.new_name);
  return 0;
}

// Of the configuration that has the gallery's model; null where none that ships has.
std::unique_ptr<gallery::FaceFinder> finder_for(const Gallery& gallery) {
  for (const char* config : {kFacesConfig, kLightFacesConfig}) {
    auto finder = make_face_finder(DetectorOptions(config));
    if (gallery.kind().hash == finder->kind().hash) return finder;
  }
  return nullptr;
}

int merge(const PeopleArguments& a) {
  Gallery gallery = a.gallery.open(Gallery::Access::write);
  const auto finder = a.force ? nullptr : finder_for(gallery);
  if (finder) {
    const gallery::Snapshot known = gallery.snapshot();
    for (const std::string& other : a.names) {
      if (gallery.find(a.name) && gallery.find(other) && are_unlike(known, a.name, other, *finder))
        throw Error(ExitCode::usage,
                    fmt::format("'{}' and '{}' look like different people; nothing is merged", a.name, other),
                    "compare their pictures (`sightline faces show NAME --pictures FOLDER`), or use --force");
    }
  }
  gallery.merge(a.name, a.names);
  spdlog::info("'{}' has {} now", a.name, counted(gallery.person(a.name).templates, "picture"));
  return 0;
}

int remove(const PeopleArguments& a) {
  Gallery gallery = a.gallery.open(Gallery::Access::write);
  std::string left;
  if (a.pictures.empty()) {
    left = gallery.remove(a.names);
    spdlog::info("{} deleted", a.names.size() == 1 ? "'" + a.names.front() + "' is"
                                                   : fmt::format("{} people are", a.names.size()));
  } else {
    if (a.names.size() > 1)
      throw Error(ExitCode::usage, "--picture takes one person, and there are several", "name one");
    std::vector<std::size_t> places;
    for (const int number : a.pictures) places.push_back(static_cast<std::size_t>(number) - 1);
    left = gallery.remove_templates(a.names.front(), places);
    const auto person = gallery.find(a.names.front());
    spdlog::info(
        "'{}' {}", a.names.front(),
        person ? "has " + counted(person->templates, "picture") + " now" : "is deleted: no picture is left");
  }
  if (!left.empty()) spdlog::warn("some deleted data are not yet overwritten: {}", left);
  return 0;
}

int export_people(const PeopleArguments& a) {
  const Gallery gallery = a.gallery.open(Gallery::Access::read);
  std::error_code error;
  if (std::filesystem::exists(a.file, error))
    throw Error(ExitCode::usage, "'" + a.file + "' exists already", "choose another name");
  require_writable(a.file);
  Gallery made = Gallery::make_in_memory(gallery.kind());
  const Imported exported = made.import(gallery, a.names);
  write_whole(a.file, made.bytes(), "gallery", Readers::owner);
  spdlog::info("wrote {} to {}", counted(exported.people, "person"), a.file);
  return 0;
}

int import_people(const PeopleArguments& a) {
  require_present(a.file);
  std::error_code error;
  if (!std::filesystem::is_regular_file(a.file, error))
    throw Error(ExitCode::input, "'" + a.file + "' is not a file", "name a file of `faces export`");
  if (std::filesystem::file_size(a.file) > Gallery::kMaxImportedBytes) {
    throw Error(ExitCode::input,
                fmt::format("'{}' is larger than {} GiB", a.file, Gallery::kMaxImportedBytes >> 30),
                "import a smaller gallery");
  }
  const Gallery other(a.file, Gallery::Access::read);
  if (media::is_same_file(a.file, a.gallery.file().string()))
    throw Error(ExitCode::usage, "'" + a.file + "' is the gallery itself", "name another file");
  Gallery gallery = Gallery::open_or_make(a.gallery.file(), other.kind());
  const Imported imported = gallery.import(other, a.names);
  spdlog::info(
      "{} added{}{}", counted(imported.templates, "picture"),
      imported.people > 0 ? fmt::format(", {} new", counted(imported.people, "person")) : "",
      imported.known > 0 ? fmt::format("; {} known already", counted(imported.known, "picture")) : "");
  return 0;
}

template <typename Add>
void add_people_command(CLI::App& faces, Common& common, const char* name, const char* description,
                        int (*run)(const PeopleArguments&), const Add& add) {
  auto a = std::make_shared<PeopleArguments>();
  OptionSet options;
  add(options, *a);
  a->gallery.add_to(options);
  add_command(faces, common, name, description, options, [a, run] { return run(*a); });
}

}  // namespace

void add_faces(CLI::App& app, Common& common) {
  CLI::App& faces = add_command_group(app, "faces", "Manage the people to recognise");
  add_faces_add(faces, common);
  add_faces_list(faces, common);
  add_people_command(faces, common, "rename", "Change the name of a person", rename,
                     [](OptionSet& options, PeopleArguments& a) {
                       options.add("name", &a.name, "Name of the person").free_text().require();
                       options.add("new-name", &a.new_name, "The new name").free_text().require();
                     });
  add_people_command(
      faces, common, "merge", "Merge several people into one", merge,
      [](OptionSet& options, PeopleArguments& a) {
        options.add("name", &a.name, "Name of the person").free_text().require();
        options.add("others", &a.names, "Names to merge into it; they are removed").free_text().require();
        options.add("--force", &a.force, "Also merge people who do not look alike");
      });
  add_people_command(faces, common, "delete", "Delete people or pictures of them, and overwrite their data",
                     remove, [](OptionSet& options, PeopleArguments& a) {
                       options.add("names", &a.names, "Names of people to delete").free_text().require();
                       options
                           .add("--picture N", &a.pictures,
                                "Numbers of the pictures of one person to delete, as in `faces show`")
                           .separated_by(',')
                           .one_at_a_time()
                           .between(1, 1'000'000);
                     });
  add_people_command(faces, common, "export", "Write people to another gallery", export_people,
                     [](OptionSet& options, PeopleArguments& a) {
                       options.add("file", &a.file, "File to write").require();
                       options.add("names", &a.names, "Whom (default: everybody)").free_text();
                     });
  add_people_command(faces, common, "import", "Add people from another gallery", import_people,
                     [](OptionSet& options, PeopleArguments& a) {
                       options.add("file", &a.file, "Gallery file of `faces export`").require();
                       options.add("names", &a.names, "Whom (default: everybody)").free_text();
                     });
  add_faces_calibrate(faces, common);
}

}  // namespace sightline::apps
