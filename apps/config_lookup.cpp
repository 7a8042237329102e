#include "config_lookup.hpp"

#include <cstdlib>
#include <set>

#include "base/error.hpp"
#include "base/program_folder.hpp"
#include "suggest.hpp"

namespace sightline::apps {
namespace fs = std::filesystem;

namespace {

// Where configurations are, those that are looked at first in front.
std::vector<fs::path> config_folders() {
  std::vector<fs::path> folders;
  if (const char* own = std::getenv("SIGHTLINE_CONFIGS")) folders.emplace_back(own);
  const fs::path program = program_folder();
  if (!program.empty()) {
    folders.push_back(program / "../share/sightline/configs");
    folders.push_back(program / "../../../configs");  // build/<preset>/bin
  }
  folders.emplace_back(SIGHTLINE_INSTALLED_CONFIGS);  // where there is no /proc
  return folders;
}

}  // namespace

std::vector<std::string> config_names() {
  std::set<std::string> names;
  std::error_code error;
  for (const fs::path& folder : config_folders()) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

fs::path find_config(const std::string& path_or_name) {
  std::error_code error;
  if (path_or_name.find('/') != std::string::npos || path_or_name.ends_with(".toml")) return path_or_name;
  const std::string shipped = path_or_name == "faces-waldboost" ? "faces" : path_or_name;  // its former name
  for (const fs::path& folder : config_folders()) {
    const fs::path file = folder / (shipped + ".toml");
    if (fs::is_regular_file(file, error)) return file.lexically_normal();
  }
  std::string names;
  for (const std::string& name : config_names()) names += (names.empty() ? "" : ", ") + name;
  const std::string nearest = nearest_of(path_or_name, config_names());
  std::string remedy = "set SIGHTLINE_CONFIGS to the folder that holds people.toml";
  if (!names.empty()) remedy = "there are: " + names;
  if (!nearest.empty()) remedy = "did you mean '" + nearest + "'?";
  throw Error(ExitCode::usage, "there is no configuration '" + path_or_name + "'", remedy);
}

std::vector<std::string> model_names() {
  std::set<std::string> names;
  std::error_code error;
  for (const fs::path& folder : config_folders()) {
    for (const auto& entry : fs::directory_iterator(folder / "models", error)) {
      if (entry.path().extension() == ".safetensors") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

std::string find_model(const std::string& path_or_name) {
  std::error_code error;
  if (path_or_name.empty() || path_or_name.find('/') != std::string::npos || fs::exists(path_or_name, error))
    return path_or_name;
  for (const fs::path& folder : config_folders()) {
    const fs::path file = folder / "models" / (path_or_name + ".safetensors");
    if (fs::is_regular_file(file, error)) return file.lexically_normal().string();
  }
  return path_or_name;
}

}  // namespace sightline::apps
