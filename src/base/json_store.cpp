#include "base/json_store.hpp"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace sightline {
namespace fs = std::filesystem;
namespace {

// The whole file; an empty object where there is none or it is damaged.
nlohmann::json read(const fs::path& file) {
  std::ifstream stream(file);
  nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

}  // namespace

nlohmann::json JsonStore::find(const std::string& key) const {
  if (file_.empty()) return nullptr;
  const nlohmann::json all = read(file_);
  const auto found = all.find(key);
  return found == all.end() ? nlohmann::json(nullptr) : *found;
}

void JsonStore::store(const std::string& key, const nlohmann::json& value) const {
  if (file_.empty()) return;
  nlohmann::json all = read(file_);
  all[key] = value;
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  const fs::path temporary = file_.string() + ".tmp" + std::to_string(getpid());
  std::ofstream stream(temporary);
  stream << all.dump(2) << '\n';
  stream.close();
  if (stream) fs::rename(temporary, file_, error);
  if (!stream || error) {
    fs::remove(temporary, error);
    throw Error(ExitCode::failed, "the results cannot be kept in '" + file_.string() + "'",
                "choose a writable folder with XDG_CACHE_HOME");
  }
}

}  // namespace sightline
