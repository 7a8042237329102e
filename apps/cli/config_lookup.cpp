#include "apps/cli/config_lookup.hpp"

#include <set>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/shipped_files.hpp"
#include "detectors/families.hpp"

namespace sightline::apps {
namespace fs = std::filesystem;

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::vector<std::string> stems_in(const char* sub_folder, const char* extension) {
  std::set<std::string> names;
  std::error_code error;
  for (const fs::path& folder : shipped_folders()) {
    for (const auto& entry : fs::directory_iterator(folder / sub_folder, error)) {
      if (entry.path().extension() == extension) names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

std::vector<std::string> config_names() {
  return stems_in("", ".toml");
}

fs::path find_config(const std::string& path_or_name) {
  if (path_or_name.find('/') != std::string::npos || path_or_name.ends_with(".toml")) return path_or_name;
  if (fs::path file = find_shipped_file(path_or_name + ".toml"); !file.empty()) return file;
  const std::string names = listed(config_names());
  const std::string nearest = nearest_of(path_or_name, config_names());
  std::string remedy = "set SIGHTLINE_CONFIGS to the folder that holds people.toml";
  if (!names.empty()) remedy = "there are: " + names;
  if (!nearest.empty()) remedy = "did you mean '" + nearest + "'?";
  std::error_code error;
  if (fs::is_regular_file(path_or_name + ".toml", error))
    remedy = "name your own file with its extension: " + path_or_name + ".toml";
  throw Error(ExitCode::usage, "there is no configuration '" + path_or_name + "'", remedy);
}

std::vector<std::string> model_names() {
  return stems_in("models", ".safetensors");
}

std::string model_list() {
  return listed(model_names());
}

namespace {

// A word that is near the name of a model. Anything else is taken for a path.
void refuse_misspelt(const std::string& name) {
  std::vector<std::string> names = model_names();
  for (const Family* family : families()) {
    for (const std::string& one : family->model_names()) names.push_back(one);
  }
  if (const std::string nearest = nearest_of(name, names); !nearest.empty())
    throw Error(ExitCode::model, "there is no model '" + name + "'", "did you mean '" + nearest + "'?");
}

}  // namespace

std::string find_model(const std::string& path_or_name) {
  std::error_code error;
  if (fs::exists(path_or_name, error)) return path_or_name;
  if (const fs::path shipped = find_shipped_model(path_or_name); !shipped.empty()) return shipped.string();
  if (path_or_name.find_first_of("/.") == std::string::npos && !family_of_model(path_or_name))
    refuse_misspelt(path_or_name);
  return path_or_name;
}

}  // namespace sightline::apps
