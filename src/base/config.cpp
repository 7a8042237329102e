#include "base/config.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/fingerprint.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"
#include "base/shipped_files.hpp"
#include "base/text.hpp"
#include "base/text_encoding.hpp"

namespace sightline {
namespace fs = std::filesystem;

struct Config::Data {
  std::string name;
  fs::path folder;
  std::shared_ptr<const toml::table> root;  // lends the sections: copies would forget their lines
  std::map<std::string, const toml::table*> sections;
  std::string heading;  // heading of the only section if it differs from the section's name
  std::map<std::pair<std::string, std::string>, Value> overrides;
  std::set<std::pair<std::string, std::string>> left_out;
  mutable std::set<std::pair<std::string, std::string>> known;
  mutable std::map<std::pair<std::string, std::string>, fs::path> noted;            // by key
  mutable std::map<std::pair<std::string, std::string>, std::string> former_names;  // as used in the file
  // Keys of the file that have already been reported; shared, because tables are made anew for each call.
  std::shared_ptr<std::set<const toml::node*>> told = std::make_shared<std::set<const toml::node*>>();
  std::shared_ptr<std::set<fs::path>> files = std::make_shared<std::set<fs::path>>();  // shared likewise

  fs::path remembered(fs::path file) const {
    if (!file.empty()) files->insert(file);
    return file;
  }

  const toml::node* find(const std::string& section, const std::string& key) const {
    known.insert({section, key});
    if (left_out.contains({section, key})) return nullptr;
    const auto found = sections.find(section);
    if (found == sections.end()) return nullptr;
    const auto former = former_names.find({section, key});
    return found->second->get(former == former_names.end() ? key : former->second);
  }
  const Value* overridden(const std::string& section, const std::string& key) const {
    known.insert({section, key});
    const auto found = overrides.find({section, key});
    return found == overrides.end() ? nullptr : &found->second;
  }
  std::string heading_of(const std::string& section) const {
    return heading.empty() ? "[" + section + "]" : heading;
  }
  [[noreturn]] void fail(const toml::node& node, const Message& problem, const Message& remedy = {}) const {
    throw Error(ExitCode::usage, problem, remedy).at(name + ":" + std::to_string(node.source().begin.line));
  }
};

constexpr std::uintmax_t kMaxConfigBytes = 1 << 20;

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

std::string config_text(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw Error(ExitCode::usage, "configuration '" + file.string() + "' is not a file",
                "give the path of a .toml file, or the name of one that ships, for example 'people'");
  }
  if (const auto size = fs::file_size(file, error); !error && size > kMaxConfigBytes) {
    throw Error(ExitCode::usage, "configuration '" + file.string() + "' has " + std::to_string(size) +
                                     " bytes, more than a configuration may have (" +
                                     std::to_string(kMaxConfigBytes >> 20) + " MiB)");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || fault::strikes(fault::Kind::open, "Config"))
    throw Error(ExitCode::usage, "configuration '" + file.string() + "' cannot be read");
  std::string content = text.str();
  refuse_wide_text(content, file, ExitCode::usage);
  content.erase(0, content.size() - without_byte_order_mark(content).size());
  return content;
}

// The value that an option set in place of the file's.
template <typename T>
const T& given(const Config::Value& value, const std::string& key, const char* kind) {
  if (const T* const found = std::get_if<T>(&value)) return *found;
  throw Error(ExitCode::usage, "option '" + key + "' must be " + kind);
}

}  // namespace

Config Config::load(const fs::path& file) {
  Config config = parse(config_text(file), file.string());
  config.data_->folder = file.parent_path();
  config.data_->files->insert(file);
  return config;
}

std::vector<Config> Config::load_each(const fs::path& file, const std::string& section) {
  std::vector<Config> all = parse_each(config_text(file), file.string(), section);
  for (Config& config : all) {
    config.data_->folder = file.parent_path();
    config.data_->files->insert(file);
  }
  return all;
}

namespace {

// Throws Error (usage) where tables and arrays are nested too deeply: toml++ destroys and reads them
// recursively. Counts brackets and the dots of keys, outside of strings and comments, and so a level too many
// for a number with a decimal point.
void check_toml_depth(std::string_view text, const std::string& name) {
  constexpr std::string_view kLineEnds = "\n\v\f\r";
  std::vector<int> outside;  // the depth around each open bracket
  int section = 0, depth = 0, key = 0, line = 1;
  bool in_heading = false, at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (kLineEnds.find(c) != std::string_view::npos) {
      line += c == '\n' ? 1 : 0;
      if (!outside.empty() && !in_heading) continue;
      if (in_heading) section = key + 2;  // an array of tables has two levels
      outside.clear();
      depth = section;
      key = 0;
      in_heading = false;
      at_start = true;
      continue;
    }
    if (c == ' ' || c == '\t') continue;
    if (c == '#') {
      i = std::min(text.find_first_of(kLineEnds, i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const bool is_long = text.substr(i, 3) == std::string(3, c);
      for (i += is_long ? 3 : 1; i < text.size(); ++i) {
        if (c == '"' && text[i] == '\\') {
          ++i;
        } else if (is_long ? text.substr(i, 3) == std::string(3, c) : text[i] == c) {
          break;
        } else if (kLineEnds.find(text[i]) != std::string_view::npos) {
          line += text[i] == '\n' ? 1 : 0;
          if (!is_long) break;  // an error for the parser to report
        }
      }
      if (is_long) {
        i += 2;  // and up to two quotes that belong to the string
        for (int more = 0; more < 2 && i + 1 < text.size() && text[i + 1] == c; ++more) ++i;
      }
    } else if (c == '[' && at_start) {
      in_heading = true;
      depth = 0;
      continue;  // still at the start: the second bracket of an array of tables
    } else if (c == '[' || c == '{') {
      outside.push_back(depth);
      depth += key + 1;
      key = 0;
    } else if ((c == ']' || c == '}') && !outside.empty()) {
      depth = outside.back();
      outside.pop_back();
    } else if (c == ',') {
      key = 0;
    } else if (c == '.') {
      ++key;
    }
    at_start = false;
    if (depth + key > kMaxTextDepth) {
      throw Error(ExitCode::usage, name + ":" + std::to_string(line) + ": tables are nested deeper than " +
                                       std::to_string(kMaxTextDepth) + " levels");
    }
  }
}

// toml++ itself gives none for an integer that no double has exactly.
double number_in(const toml::node& node) {
  if (const toml::value<std::int64_t>* whole = node.as_integer()) return static_cast<double>(whole->get());
  return node.as_floating_point()->get();
}

}  // namespace

Config Config::parse(std::string_view text, const std::string& name) {
  return std::move(parse_each(text, name, "").front());
}

std::vector<Config> Config::parse_each(std::string_view text, const std::string& name,
                                       const std::string& section) {
  Data data;
  data.name = name;
  check_toml_depth(text, name);
  try {
    data.root = std::make_shared<const toml::table>(toml::parse(text, name));
  } catch (const toml::parse_error& e) {
    throw Error(ExitCode::usage,
                name + ":" + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
  }
  const toml::array* several = nullptr;
  for (const auto& [key, node] : *data.root) {
    const std::string own(key.str());
    if (node.is_table()) {
      data.sections[own] = node.as_table();
    } else if (own == section && node.is_array_of_tables()) {
      several = node.as_array();
    } else if (node.is_array_of_tables()) {
      data.fail(node, "section [[" + own + "]] may stand here several times, and only one is wanted",
                "write [" + own + "]");
    } else {
      data.fail(node, "'" + own + "' stands outside a [section]");
    }
  }
  std::vector<Config> all;
  const auto add = [&](const Data& one) { all.push_back(Config(std::make_unique<Data>(one))); };
  if (!several) add(data);
  for (std::size_t i = 0; several && i < several->size(); ++i) {
    data.sections[section] = several->get(i)->as_table();
    add(data);
  }
  return all;
}

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
  const toml::node* node = data_->find(section, key);
  if (!node) return std::nullopt;
  if (!node->is_string()) data_->fail(*node, "'" + key + "' must be a text", "write it in quotation marks");
  return node->value<std::string>();
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
  const toml::node* node = data_->find(section, key);
  if (!node) return std::nullopt;
  if (!node->is_number()) data_->fail(*node, "'" + key + "' must be a number", range());
  const double number = number_in(*node);
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
  return optional_flag(section, key).value_or(fallback);
}

std::optional<bool> Config::optional_flag(const std::string& section, const std::string& key) const {
  if (const Value* value = data_->overridden(section, key))
    return given<double>(*value, key, "true or false") != 0;
  const toml::node* node = data_->find(section, key);
  if (!node) return std::nullopt;
  if (!node->is_boolean()) data_->fail(*node, "'" + key + "' must be true or false");
  return node->value<bool>();
}

std::optional<std::vector<double>> Config::optional_numbers(const std::string& section,
                                                            const std::string& key, std::size_t count,
                                                            double smallest, double largest) const {
  const toml::node* node = data_->find(section, key);
  if (!node) return std::nullopt;
  std::ostringstream remedy;
  remedy << "give " << count << " numbers from " << smallest << " to " << largest << " in square brackets";
  const auto refuse = [&] {
    data_->fail(*node, "'" + key + "' must be a list of " + std::to_string(count) + " numbers", remedy.str());
  };
  const toml::array* list = node->as_array();
  if (!list || list->size() != count) refuse();
  std::vector<double> numbers;
  for (const toml::node& one : *list) {
    if (!one.is_number()) refuse();
    numbers.push_back(number_in(one));
    if (!(numbers.back() >= smallest && numbers.back() <= largest))
      data_->fail(one, "a number of '" + key + "' is out of range", remedy.str());
  }
  return numbers;
}

std::vector<Config> Config::tables(const std::string& section, const std::string& key) const {
  std::vector<Config> all;
  const toml::node* node = data_->find(section, key);
  if (!node) return all;
  const std::string heading = "[[" + section + "." + key + "]]";
  const auto refuse = [&](const toml::node& at) {
    data_->fail(at, "'" + key + "' must be a table", "write it as a section " + heading);
  };
  const toml::array* list = node->as_array();
  if (!list) refuse(*node);
  for (const toml::node& one : *list) {
    if (!one.is_table()) refuse(one);
    auto data = std::make_unique<Data>();
    data->name = data_->name;
    data->folder = data_->folder;
    data->root = data_->root;
    data->told = data_->told;
    data->files = data_->files;
    data->sections[section] = one.as_table();
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
    for (const auto& [key, node] : *table) {
      std::string& value = values[{section, std::string(key.str())}];
      if (node.is_number()) {
        value = fmt::format("{}", number_in(node));
      } else if (node.is_string()) {
        value = *node.value<std::string>();
      } else {
        std::ostringstream text;
        node.visit([&](const auto& one) { text << one; });
        value = text.str();
      }
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
  const auto found = data_->sections.find(section);
  const toml::node* node = found == data_->sections.end() ? nullptr : found->second->get(former);
  if (!node || data_->former_names.contains({section, key})) return;
  if (found->second->contains(key))
    data_->fail(*node, "'" + former + "' is the former name of '" + key + "', which is there as well",
                "leave out one of them");
  if (data_->told->insert(node).second)
    logger().warn("{}:{}: '{}' is called '{}' now", data_->name, node->source().begin.line, former, key);
  data_->former_names[{section, key}] = former;
  data_->known.insert({section, former});
}

void Config::expect_section(const std::string& section) const {
  const auto found = data_->sections.find(section);
  if (found == data_->sections.end()) return;
  data_->known.insert({section, ""});  // it may be empty
  for (const auto& [key, value] : *found->second) data_->known.insert({section, std::string(key.str())});
}

void Config::expect_all_known() const {
  for (const auto& [section, table] : data_->sections) {
    bool section_known = false;
    for (const auto& [known_section, key] : data_->known) section_known |= known_section == section;
    if (!section_known) data_->fail(*table, "section " + data_->heading_of(section) + " is not known");
    for (const auto& [key, value] : *table) {
      if (data_->known.contains({section, std::string(key.str())})) continue;
      std::vector<std::string> names;
      std::string choices;
      for (const auto& [known_section, known_key] : data_->known) {
        if (known_section != section) continue;
        names.push_back(known_key);
        choices += (choices.empty() ? "" : ", ") + known_key;
      }
      const std::string nearest = nearest_of(key.str(), names);
      data_->fail(value, "'" + std::string(key.str()) + "' is not known in " + data_->heading_of(section),
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
