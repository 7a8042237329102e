#include "texture/tiles/slide_files.hpp"

#include <fstream>
#include <string>
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

/// Checks all values of a manifest (`key=value`) that could be names of files.
void check_manifest(const fs::path& file, const fs::path& manifest) {
  constexpr std::uintmax_t kLargest = 16 << 20;
  const fs::path folder = manifest.parent_path().empty() ? "." : manifest.parent_path();
  check_part(file, folder, manifest.filename());
  std::error_code error;
  if (const auto bytes = fs::file_size(manifest, error); error || bytes > kLargest) return;
  std::ifstream lines(manifest);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string value(trimmed(std::string_view(line).substr(equals + 1)));
    if (value.empty() || value == "." || value.size() > 255) continue;
    if (value.find('/') != std::string::npos && fs::exists(fs::symlink_status(folder / value, error)))
      refuse(file, value);
    check_part(file, folder, value);
  }
}

}  // namespace

void check_slide_files(const fs::path& file, std::string_view vendor) {
  if (file.extension() == ".mrxs") {
    fs::path folder = file;
    folder.replace_extension();
    check_manifest(file, folder / "Slidedat.ini");
  }
  if (vendor == "hamamatsu" && !is_tiff(file)) check_manifest(file, file);
  if (vendor == "trestle") {
    const fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
    check_part(file, folder, file.stem().string() + ".Full");
  }
}

}  // namespace sightline::tiles
