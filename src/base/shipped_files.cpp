#include "base/shipped_files.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/program_folder.hpp"

namespace sightline {
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> folders_of_program() {
  std::vector<fs::path> folders;
  const fs::path program = program_folder();
  if (!program.empty()) {
    folders.push_back(program / "../share/sightline/configs");
    folders.push_back(program / "../../../configs");  // build/<preset>/bin
  }
  if (const fs::path library = library_folder(); !library.empty()) {
    folders.push_back(library / "../share/sightline/configs");     // lib
    folders.push_back(library / "../../share/sightline/configs");  // lib/x86_64-linux-gnu
    folders.push_back(library / "../../../configs");               // build/<preset>/lib
  }
  folders.emplace_back(SIGHTLINE_INSTALLED_CONFIGS);  // without /proc
  return folders;
}

}  // namespace

std::vector<fs::path> shipped_folders() {
  std::vector<fs::path> folders = folders_of_program();
  if (const char* own = std::getenv("SIGHTLINE_CONFIGS")) folders.insert(folders.begin(), own);
  return folders;
}

bool ships_with_program(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  return !error && std::ranges::any_of(folders_of_program(), [&](const fs::path& folder) {
    std::error_code none;
    const fs::path from = real.lexically_relative(fs::canonical(folder, none));
    return !none && !from.empty() && *from.begin() != "..";
  });
}

namespace {

fs::path find_present(const fs::path& name) {
  std::error_code error;
  for (const fs::path& folder : shipped_folders()) {
    const fs::path file = folder / name;
    if (fs::is_regular_file(file, error)) return file.lexically_normal();
  }
  return {};
}

// Files that were renamed: their former names still work.
fs::path renamed(const fs::path& name) {
  const std::string stem = name.stem().string();
  std::string present;
  if (stem == "faces-census") present = "faces";
  if (stem == "faces-waldboost-fast") present = "faces-waldboost";
  return present.empty() ? fs::path() : name.parent_path() / (present + name.extension().string());
}

}  // namespace

fs::path find_shipped_file(const fs::path& name) {
  fs::path file = find_present(name);
  if (const fs::path present = renamed(name); file.empty() && !present.empty()) file = find_present(present);
  return file;
}

fs::path find_shipped_model(const std::string& name) {
  constexpr std::string_view kEnding = ".safetensors";
  if (name.empty() || name.find('/') != std::string::npos) return {};
  return find_shipped_file(fs::path("models") /
                           (name.ends_with(kEnding) ? name : name + std::string(kEnding)));
}

fs::path data_file(const char* name) {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
    return fs::path(data) / "sightline" / name;
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".local" / "share" / "sightline" / name;
  return {};
}

}  // namespace sightline
