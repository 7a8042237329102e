#include "texture/tiles/slide_files.hpp"

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"
#include "texture/tiles/tiff_pages.hpp"

namespace sightline::tiles {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& part) {
  throw Error(
      ExitCode::input,
      "'" + file.string() + "' is a slide with a part '" + part + "' that is not a file in its folder",
      "put the parts of the slide next to it");
}

/// A part that is not there is left to OpenSlide.
void check_part(const fs::path& file, const fs::path& folder, const std::string& part) {
  std::error_code error;
  const fs::path place = folder / part;
  if (!fs::exists(fs::symlink_status(place, error))) return;
  const fs::path real = fs::canonical(place, error);
  if (error || real.parent_path() != fs::canonical(folder, error) || !fs::is_regular_file(real, error))
    refuse(file, part);
}

/// The value as GLib's g_key_file_get_string reads it, which OpenSlide calls: \s is a blank, and so on.
std::string unescaped(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    constexpr std::string_view kLetters = "sntr\\", kMeanings = " \n\t\r\\";
    const std::size_t which =
        value[i] == '\\' && i + 1 < value.size() ? kLetters.find(value[i + 1]) : kLetters.npos;
    text += which == kLetters.npos ? value[i] : kMeanings[which];
    if (which != kLetters.npos) ++i;
  }
  return text;
}

/// OpenSlide joins names to the folder as text, even one that begins with '/'.
void check_name(const fs::path& file, const fs::path& folder, const std::string& name) {
  if (name == ".") return;
  const auto is_there = [](const fs::path& place) {
    std::error_code error;
    return fs::exists(fs::symlink_status(place, error));
  };
  // However long: the parts of a name that the file system refuses may lead out of the folder and back.
  if (name.find('/') != std::string::npos &&
      (is_there(folder / name) || is_there(folder.string() + '/' + name)))
    refuse(file, name);
  check_part(file, folder, name);
}

/// Checks all values of a manifest (`key=value`) that could be names of files.
void check_manifest(const fs::path& file, const fs::path& manifest) {
  constexpr std::uintmax_t kLargest = 16 << 20;
  const fs::path folder = manifest.parent_path().empty() ? "." : manifest.parent_path();
  check_part(file, folder, manifest.filename());
  std::error_code error;
  const auto bytes = fs::file_size(manifest, error);
  if (error) return;  // left to OpenSlide
  std::string text;
  if (bytes <= kLargest) text = read_text_file(manifest.string());
  if (bytes > kLargest || text.find('\0') != std::string::npos) {
    throw Error(ExitCode::input, "'" + manifest.string() + "' is not the list of a slide's parts",
                "check that the slide was copied completely");
  }
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t\v\f\r", equals + 1);
    if (begin == std::string::npos) continue;
    const std::string whole = line.substr(begin), plain(trimmed(whole));
    for (const std::string& value : {whole, plain, unescaped(whole), unescaped(plain)})
      check_name(file, folder, value);
  }
}

/// SQLite opens files next to a database, which some slides are.
void check_database_files(const fs::path& file) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string head(kMagic.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(head.data(), static_cast<std::streamsize>(head.size())) || head != kMagic) return;
  const fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
  for (const char* const ending : {"-journal", "-wal", "-shm"})
    check_part(file, folder, file.filename().string() + ending);
}

}  // namespace

void check_slide_files(const fs::path& file, std::string_view vendor) {
  constexpr std::string_view kMirax = ".mrxs";  // of a hidden file, too, which has no extension
  if (const std::string& name = file.native(); name.ends_with(kMirax))
    check_manifest(file, fs::path(name.substr(0, name.size() - kMirax.size())) / "Slidedat.ini");
  if (vendor.empty()) check_database_files(file);
  if (vendor == "hamamatsu" && !is_tiff(file)) check_manifest(file, file);
  if (vendor == "trestle") {
    const fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
    check_part(file, folder, file.stem().string() + ".Full");
  }
}

}  // namespace sightline::tiles
