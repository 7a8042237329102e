#include "base/json_store.hpp"

#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json_problem.hpp"
#include "base/log.hpp"
#include "base/private_file.hpp"
#include "base/text.hpp"

namespace sightline {
namespace fs = std::filesystem;
namespace {

void warn_of_shared(const fs::path& file, const std::string& problem) {
  static std::atomic_flag warned = ATOMIC_FLAG_INIT;
  if (problem.empty() || warned.test_and_set()) return;
  logger().warn("'{}' is not used: {}; delete it, or make it yours alone (chmod 600)", file.string(),
                problem);
}

// The whole file; an empty object where there is none or it is damaged.
nlohmann::json read_json(const fs::path& file) {
  std::string problem;
  const std::optional<std::string> text = read_private_file(file, kMaxTextBytes, problem);
  if (!text) {
    warn_of_shared(file, problem);
    return nlohmann::json::object();
  }
  try {
    check_json_limits(*text);
    nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_object()) return json;
  } catch (const Error&) {  // counts as damaged
  }
  return nlohmann::json::object();
}

}  // namespace

fs::path cache_file(const char* name) {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return fs::path(cache) / "sightline" / name;
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "sightline" / name;
  return {};
}

nlohmann::json JsonStore::find(const std::string& key) const {
  if (file_.empty()) return nullptr;
  const nlohmann::json all = read_json(file_);
  const auto found = all.find(key);
  return found == all.end() ? nlohmann::json(nullptr) : *found;
}

nlohmann::json JsonStore::find_all(const std::string& prefix) const {
  nlohmann::json found = nlohmann::json::object();
  if (file_.empty()) return found;
  const nlohmann::json all = read_json(file_);
  for (const auto& [key, value] : all.items()) {
    if (key.starts_with(prefix)) found[key] = value;
  }
  return found;
}

void JsonStore::store(const std::string& key, const nlohmann::json& value) const {
  if (file_.empty()) return;
  nlohmann::json all = read_json(file_);
  all[key] = value;
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  // Names from drivers may be any bytes.
  write_whole(file_, all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n', "results",
              Readers::owner);
}

}  // namespace sightline
