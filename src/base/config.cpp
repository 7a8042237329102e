#include "base/config.hpp"

#include <toml++/toml.h>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.hpp"

namespace sightline {
namespace fs = std::filesystem;

struct Config::Data {
  std::string name;
  fs::path folder;
  toml::table table;
  std::map<std::pair<std::string, std::string>, Value> overrides;
  mutable std::set<std::pair<std::string, std::string>> known;

  const toml::node* find(const std::string& section, const std::string& key) const {
    known.insert({section, key});
    const toml::table* sub = table[section].as_table();
    return sub ? sub->get(key) : nullptr;
  }
  const Value* overridden(const std::string& section, const std::string& key) const {
    known.insert({section, key});
    const auto found = overrides.find({section, key});
    return found == overrides.end() ? nullptr : &found->second;
  }
  [[noreturn]] void fail(const toml::node& node, const std::string& problem,
                         std::string_view remedy = {}) const {
    throw Error(ExitCode::usage, name + ":" + std::to_string(node.source().begin.line) + ": " + problem,
                remedy);
  }
};

Config::Config(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

Config Config::load(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw Error(ExitCode::usage, "configuration '" + file.string() + "' is not a file",
                "give the path of a .toml file, or the name of one that ships, for example 'people'");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw Error(ExitCode::usage, "configuration '" + file.string() + "' cannot be read");
  Config config = parse(text.str(), file.string());
  config.data_->folder = file.parent_path();
  return config;
}

Config Config::parse(std::string_view text, const std::string& name) {
  auto data = std::make_unique<Data>();
  data->name = name;
  try {
    data->table = toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    throw Error(ExitCode::usage,
                name + ":" + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
  }
  for (const auto& [key, node] : data->table) {
    if (!node.is_table()) data->fail(node, "'" + std::string(key.str()) + "' stands outside a [section]");
  }
  return Config(std::move(data));
}

void Config::set(const std::string& section, const std::string& key, Value value) {
  data_->overrides[{section, key}] = std::move(value);
}

std::string Config::text(const std::string& section, const std::string& key,
                         std::string_view fallback) const {
  if (const Value* value = data_->overridden(section, key)) return std::get<std::string>(*value);
  const toml::node* node = data_->find(section, key);
  if (!node) return std::string(fallback);
  if (!node->is_string()) data_->fail(*node, "'" + key + "' must be a text", "write it in quotation marks");
  return node->value<std::string>().value();
}

std::optional<double> Config::optional_number(const std::string& section, const std::string& key,
                                              double smallest, double largest) const {
  const auto range = [&] {
    std::ostringstream text;
    text << "give a number from " << smallest << " to " << largest;
    return text.str();
  };
  if (const Value* value = data_->overridden(section, key)) {
    const double number = std::get<double>(*value);
    if (!(number >= smallest && number <= largest)) {
      std::ostringstream text;
      text << "option '" << key << "' is " << number << ", out of range";
      throw Error(ExitCode::usage, text.str(), range());
    }
    return number;
  }
  const toml::node* node = data_->find(section, key);
  if (!node) return std::nullopt;
  if (!node->is_number()) data_->fail(*node, "'" + key + "' must be a number", range());
  const double number = node->value<double>().value();
  if (!(number >= smallest && number <= largest))
    data_->fail(*node, "'" + key + "' is out of range", range());
  return number;
}

std::optional<int> Config::optional_whole_number(const std::string& section, const std::string& key,
                                                 int smallest, int largest) const {
  const std::optional<double> number = optional_number(section, key, smallest, largest);
  if (!number) return std::nullopt;
  if (*number != std::floor(*number)) {
    const std::string problem = "'" + key + "' must be a whole number";
    if (data_->overridden(section, key)) throw Error(ExitCode::usage, "option " + problem);
    data_->fail(*data_->find(section, key), problem);
  }
  return static_cast<int>(*number);
}

double Config::number(const std::string& section, const std::string& key, double fallback, double smallest,
                      double largest) const {
  return optional_number(section, key, smallest, largest).value_or(fallback);
}

bool Config::flag(const std::string& section, const std::string& key, bool fallback) const {
  if (const Value* value = data_->overridden(section, key)) return std::get<double>(*value) != 0;
  const toml::node* node = data_->find(section, key);
  if (!node) return fallback;
  if (!node->is_boolean()) data_->fail(*node, "'" + key + "' must be true or false");
  return node->value<bool>().value();
}

fs::path Config::path(const std::string& section, const std::string& key, std::string_view fallback) const {
  if (const Value* value = data_->overridden(section, key)) return std::get<std::string>(*value);
  const fs::path relative = text(section, key, fallback);
  return relative.is_absolute() || relative.empty() ? relative : data_->folder / relative;
}

void Config::expect(const std::string& section, std::span<const char* const> keys) const {
  for (const char* key : keys) data_->known.insert({section, key});
}

void Config::expect_section(const std::string& section) const {
  const toml::table* const table = data_->table[section].as_table();
  if (!table) return;
  data_->known.insert({section, ""});  // it may be empty
  for (const auto& [key, value] : *table) data_->known.insert({section, std::string(key.str())});
}

void Config::expect_all_known() const {
  for (const auto& [section, node] : data_->table) {
    const std::string section_name(section.str());
    bool section_known = false;
    for (const auto& [known_section, key] : data_->known) section_known |= known_section == section_name;
    if (!section_known) data_->fail(node, "section [" + section_name + "] is not known");
    for (const auto& [key, value] : *node.as_table()) {
      if (data_->known.contains({section_name, std::string(key.str())})) continue;
      std::string choices;
      for (const auto& [known_section, known_key] : data_->known) {
        if (known_section == section_name) choices += (choices.empty() ? "" : ", ") + known_key;
      }
      data_->fail(value, "'" + std::string(key.str()) + "' is not known in [" + section_name + "]",
                  "known are: " + choices);
    }
  }
}

const std::string& Config::name() const {
  return data_->name;
}

}  // namespace sightline
