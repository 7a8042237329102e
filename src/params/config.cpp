#include "params/config.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/fingerprint.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"
#include "base/shipped_files.hpp"
#include "params/config_values.hpp"

namespace sightline {
namespace fs = std::filesystem;

Config::Config(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Config Config::fresh_copy() const {
  auto data = std::make_unique<Data>(*data_);
  data->known.clear();
  data->former_names.clear();
  return Config(std::move(data));
}

Config::Config(Config&&) noexcept = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

namespace {

// The value that an option set in place of the file's.
template <typename T>
const T& given(const Config::Value& value, const std::string& key, const char* kind) {
  if (const T* const found = std::get_if<T>(&value)) return *found;
  throw Error(ExitCode::usage, "option '" + key + "' must be " + kind);
}

}  // namespace

void Config::set(const std::string& section, const std::string& key, Value value) {
  data_->overrides[{section, key}] = std::move(value);
}

void Config::leave_out(const std::string& section, const std::string& key) {
  data_->left_out.insert({section, key});
}

std::string Config::text(const std::string& section, const std::string& key,
                         std::string_view fallback) const {
  return optional_text(section, key).value_or(std::string(fallback));
}

std::optional<std::string> Config::optional_text(const std::string& section, const std::string& key) const {
  if (const Value* value = data_->overridden(section, key)) return given<std::string>(*value, key, "a text");
  const ConfigNode* node = data_->find(section, key);
  if (!node) return std::nullopt;
  const auto* const words = node->as<std::string>();
  if (!words) data_->fail(*node, "'" + key + "' must be a text", "write it in quotation marks");
  return *words;
}

std::optional<double> Config::optional_number(const std::string& section, const std::string& key,
                                              double smallest, double largest) const {
  const auto range = [&] {
    std::ostringstream text;
    text << "give a number from " << smallest << " to " << largest;
    return text.str();
  };
  if (const Value* value = data_->overridden(section, key)) {
    const double number = given<double>(*value, key, "a number");
    if (!(number >= smallest && number <= largest)) {
      std::ostringstream text;
      text << "option '" << key << "' is " << number << ", out of range";
      throw Error(ExitCode::usage, text.str(), range());
    }
    return number;
  }
  const ConfigNode* node = data_->find(section, key);
  if (!node) return std::nullopt;
  const auto* const number = node->as<double>();
  if (!number) data_->fail(*node, "'" + key + "' must be a number", range());
  if (!(*number >= smallest && *number <= largest))
    data_->fail(*node, "'" + key + "' is out of range", range());
  return *number;
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
  return optional_flag(section, key).value_or(fallback);
}

std::optional<bool> Config::optional_flag(const std::string& section, const std::string& key) const {
  if (const Value* value = data_->overridden(section, key))
    return given<double>(*value, key, "true or false") != 0;
  const ConfigNode* node = data_->find(section, key);
  if (!node) return std::nullopt;
  const auto* const is_on = node->as<bool>();
  if (!is_on) data_->fail(*node, "'" + key + "' must be true or false");
  return *is_on;
}

std::optional<std::vector<double>> Config::optional_numbers(const std::string& section,
                                                            const std::string& key, std::size_t count,
                                                            double smallest, double largest) const {
  const ConfigNode* node = data_->find(section, key);
  if (!node) return std::nullopt;
  std::ostringstream remedy;
  remedy << "give " << count << " numbers from " << smallest << " to " << largest << " in square brackets";
  const auto refuse = [&] {
    data_->fail(*node, "'" + key + "' must be a list of " + std::to_string(count) + " numbers", remedy.str());
  };
  const auto* const list = node->as<std::vector<ConfigNode>>();
  if (!list || list->size() != count) refuse();
  std::vector<double> numbers;
  for (const ConfigNode& one : *list) {
    const auto* const number = one.as<double>();
    if (!number) refuse();
    numbers.push_back(*number);
    if (!(numbers.back() >= smallest && numbers.back() <= largest))
      data_->fail(one, "a number of '" + key + "' is out of range", remedy.str());
  }
  return numbers;
}

std::vector<Config> Config::tables(const std::string& section, const std::string& key) const {
  std::vector<Config> all;
  const ConfigNode* node = data_->find(section, key);
  if (!node) return all;
  const std::string heading = "[[" + section + "." + key + "]]";
  const auto refuse = [&](const ConfigNode& at) {
    data_->fail(at, "'" + key + "' must be a table", "write it as a section " + heading);
  };
  const auto* const list = node->as<std::vector<ConfigNode>>();
  if (!list) refuse(*node);
  for (const ConfigNode& one : *list) {
    if (!one.as<ConfigTable>()) refuse(one);
    auto data = std::make_unique<Data>();
    data->name = data_->name;
    data->folder = data_->folder;
    data->root = data_->root;
    data->told = data_->told;
    data->files = data_->files;
    data->sections[section] = &one;
    data->heading = heading;
    all.push_back(Config(std::move(data)));
  }
  return all;
}

fs::path Config::path(const std::string& section, const std::string& key, std::string_view fallback) const {
  if (const Value* value = data_->overridden(section, key))
    return data_->remembered(given<std::string>(*value, key, "a text"));
  const fs::path relative = text(section, key, fallback);
  return data_->remembered(relative.is_absolute() || relative.empty() ? relative : data_->folder / relative);
}

fs::path Config::model_path(const std::string& section, const std::string& key,
                            std::string_view fallback) const {
  const fs::path own = path(section, key, fallback);
  std::error_code error;
  if (data_->overridden(section, key) || own.empty() || fs::exists(own, error)) return own;
  const std::string wanted = text(section, key, fallback);
  if (fs::path(wanted).is_absolute()) return own;
  fs::path shipped = find_shipped_model(wanted);
  if (shipped.empty()) shipped = find_shipped_file(wanted);
  return shipped.empty() ? own : data_->remembered(shipped);
}

void Config::note_file(const std::string& section, const std::string& key, const fs::path& file) const {
  data_->noted[{section, key}] = data_->remembered(file);
}

std::string Config::fingerprint() const {
  std::map<std::pair<std::string, std::string>, std::string> values;
  for (const auto& [section, table] : data_->sections) {
    for (const auto& [key, node] : *table->as<ConfigTable>()) {
      const auto* const number = node.as<double>();
      const auto* const words = node.as<std::string>();
      values[{section, key}] = number ? fmt::format("{}", *number) : words ? *words : node.written;
    }
  }
  for (const auto& key : data_->left_out) values.erase(key);
  for (const auto& [key, value] : data_->overrides)
    values[key] = std::visit([](const auto& one) { return fmt::format("{}", one); }, value);
  for (const auto& [key, file] : data_->noted) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    values[key] = text.str();
  }
  Fingerprint hash;
  for (const auto& [key, value] : values) {
    if (key.first == "schedule" || key.first == "knob") continue;
    for (const std::string& text : {key.first, key.second, value}) hash.add_all(text);
  }
  return hash.text();
}

void Config::expect(const std::string& section, std::span<const char* const> keys) const {
  for (const char* key : keys) data_->known.insert({section, key});
}

void Config::accept_former(const std::string& section, const std::string& key,
                           const std::string& former) const {
  const ConfigNode* node = data_->in_section(section, former);
  if (!node || data_->former_names.contains({section, key})) return;
  if (data_->in_section(section, key))
    data_->fail(*node, "'" + former + "' is the former name of '" + key + "', which is there as well",
                "leave out one of them");
  if (data_->told->insert(node).second)
    logger().warn("{}:{}: '{}' is called '{}' now", data_->name, node->line, former, key);
  data_->former_names[{section, key}] = former;
  data_->known.insert({section, former});
}

void Config::expect_section(const std::string& section) const {
  const auto found = data_->sections.find(section);
  if (found == data_->sections.end()) return;
  data_->known.insert({section, ""});  // it may be empty
  for (const auto& [key, value] : *found->second->as<ConfigTable>()) data_->known.insert({section, key});
}

void Config::expect_all_known() const {
  for (const auto& [section, table] : data_->sections) {
    bool section_known = false;
    for (const auto& [known_section, key] : data_->known) section_known |= known_section == section;
    if (!section_known) data_->fail(*table, "section " + data_->heading_of(section) + " is not known");
    for (const auto& [key, value] : *table->as<ConfigTable>()) {
      if (data_->known.contains({section, key})) continue;
      std::vector<std::string> names;
      std::string choices;
      for (const auto& [known_section, known_key] : data_->known) {
        if (known_section != section) continue;
        names.push_back(known_key);
        choices += (choices.empty() ? "" : ", ") + known_key;
      }
      const std::string nearest = nearest_of(key, names);
      data_->fail(value, "'" + key + "' is not known in " + data_->heading_of(section),
                  nearest.empty() ? "known are: " + choices : "did you mean '" + nearest + "'?");
    }
  }
}

const std::set<fs::path>& Config::files() const {
  return *data_->files;
}

void Config::depends_on(const fs::path& file) const {
  data_->remembered(file);
}

const std::string& Config::name() const {
  return data_->name;
}

}  // namespace sightline
