#pragma once
/// The values of a TOML text, with their lines. Configurations read them; so do options that are TOML, too.

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "params/config.hpp"

namespace sightline {

struct ConfigNode;
using ConfigTable = std::map<std::string, ConfigNode>;

/// A value of the file. Its address is its identity.
struct ConfigNode {
  int line = 0;
  /// A date or a time is none of these.
  std::variant<std::monostate, double, bool, std::string, std::vector<ConfigNode>, ConfigTable> value;
  std::string written;  ///< as TOML writes it; for fingerprints, of what is neither number nor text

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

/// The tree of a TOML text, which is a ConfigTable. Part of the library `detectors`. Throws Error (usage),
/// with `name` and the line, for bad syntax and tables nested too deeply.
ConfigNode parse_toml(std::string_view text, const std::string& name);

struct Config::Data {
  std::string name;
  std::filesystem::path folder;
  std::shared_ptr<const ConfigNode> root;             ///< lends the sections
  std::map<std::string, const ConfigNode*> sections;  ///< tables
  std::string heading;  ///< heading of the only section if it differs from the section's name
  std::map<std::pair<std::string, std::string>, Value> overrides;
  std::set<std::pair<std::string, std::string>> left_out;
  mutable std::set<std::pair<std::string, std::string>> known;
  mutable std::map<std::pair<std::string, std::string>, std::filesystem::path> noted;  ///< by key
  mutable std::map<std::pair<std::string, std::string>, std::string> former_names;  ///< as used in the file
  /// Keys of the file that have already been reported; shared, because tables are made anew for each call.
  std::shared_ptr<std::set<const ConfigNode*>> told = std::make_shared<std::set<const ConfigNode*>>();
  std::shared_ptr<std::set<std::filesystem::path>> files =
      std::make_shared<std::set<std::filesystem::path>>();  ///< shared likewise

  std::filesystem::path remembered(std::filesystem::path file) const {
    if (!file.empty()) files->insert(file);
    return file;
  }
  /// Null where the file has no such key.
  const ConfigNode* in_section(const std::string& section, const std::string& key) const {
    const auto table = sections.find(section);
    if (table == sections.end()) return nullptr;
    const ConfigTable& all = *table->second->as<ConfigTable>();
    const auto found = all.find(key);
    return found == all.end() ? nullptr : &found->second;
  }
  /// The same, of the file's name for the key. Marks the key as known.
  const ConfigNode* find(const std::string& section, const std::string& key) const {
    known.insert({section, key});
    if (left_out.contains({section, key})) return nullptr;
    const auto former = former_names.find({section, key});
    return in_section(section, former == former_names.end() ? key : former->second);
  }
  const Value* overridden(const std::string& section, const std::string& key) const {
    known.insert({section, key});
    const auto found = overrides.find({section, key});
    return found == overrides.end() ? nullptr : &found->second;
  }
  std::string heading_of(const std::string& section) const {
    return heading.empty() ? "[" + section + "]" : heading;
  }
  [[noreturn]] void fail(const ConfigNode& node, const Message& problem, const Message& remedy = {}) const {
    throw Error(ExitCode::usage, problem, remedy).at(name + ":" + std::to_string(node.line));
  }
};

}  // namespace sightline
