#pragma once
/// Options as TOML text, of which every key must be known.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "params/config_values.hpp"

namespace sightline::apps {

/// A table of options. Reading a key marks it as known. Errors are Error (usage) about "options:LINE".
/// Thread-safety: one thread.
class TomlOptions {
 public:
  /// @param text  may be null: no options. Throws Error (usage) for bad syntax, and for more than 64 KiB.
  /// @param name  of the text, in errors of syntax
  explicit TomlOptions(const char* text, const std::string& name = "options");
  /// A table in options, which must outlive it.
  explicit TomlOptions(const ConfigTable& table) : table_(&table) {}
  TomlOptions(const TomlOptions&) = delete;
  TomlOptions& operator=(const TomlOptions&) = delete;

  const ConfigTable& table() const { return *table_; }
  /// Null if the key is missing.
  const ConfigNode* find(const std::string& key) const;
  std::optional<double> number(const std::string& key, double lowest, double highest) const;
  std::optional<int> whole_number(const std::string& key, int lowest, int highest) const;
  std::optional<std::string> text(const std::string& key) const;
  std::optional<bool> flag(const std::string& key) const;
  /// A list of texts, or one text.
  std::optional<std::vector<std::string>> texts(const std::string& key) const;
  /// Null if the key is missing; Error unless it is a table.
  const ConfigTable* section(const std::string& key) const;

  /// Throws Error (usage) if a key was not read. The error names the nearest known key.
  void expect_all_known() const;

  [[noreturn]] static void fail(const ConfigNode& node, const std::string& problem,
                                const std::string& remedy = {});

 private:
  ConfigNode root_;
  const ConfigTable* table_ = nullptr;
  mutable std::set<std::string> known_;
};

}  // namespace sightline::apps
