#pragma once
/// Small results that are worth remembering from run to run, by key, in one JSON file of the user's cache
/// folder.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace sightline {

/// A file of the user's cache folder, $XDG_CACHE_HOME/sightline or ~/.cache/sightline; empty if neither is
/// known.
std::filesystem::path cache_file(const char* name);

/// A file that cannot be read counts as empty, and so does one that others may have written, with a warning.
/// Only the user may read or write the file. Bytes that are not UTF-8 are replaced; entries under such a
/// key are not found again. Thread-safety: `store` replaces the file in one step; the last of several writers
/// wins, and what others stored meanwhile may be lost.
class JsonStore {
 public:
  /// An empty path remembers nothing.
  explicit JsonStore(std::filesystem::path file) : file_(std::move(file)) {}

  /// Null if there is no such key.
  nlohmann::json find(const std::string& key) const;
  /// All keys that begin so, with their values; an empty object where there are none.
  nlohmann::json find_all(const std::string& prefix) const;
  /// Throws Error (failed) if the file cannot be written.
  void store(const std::string& key, const nlohmann::json& value) const;
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace sightline
