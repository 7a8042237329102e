// Reading of configuration files. Part of the library of detectors: the core needs no parser of TOML.
#include <toml++/toml.h>
#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/fault.hpp"
#include "base/text.hpp"
#include "base/text_encoding.hpp"
#include "params/config_values.hpp"

namespace sightline {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t kMaxConfigBytes = 1 << 20;

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

// `depth` of the document is 0: sections have 1 or, of several, 2; their values 2 or 3.
ConfigNode to_node(const toml::node& node, int depth) {
  ConfigNode made{static_cast<int>(node.source().begin.line), {}, {}};
  // toml++ itself gives no double for an integer that none has exactly.
  if (const toml::value<std::int64_t>* const whole = node.as_integer()) {
    made.value = static_cast<double>(whole->get());
  } else if (const toml::value<double>* const real = node.as_floating_point()) {
    made.value = real->get();
  } else if (const toml::value<std::string>* const text = node.as_string()) {
    made.value = text->get();
  } else {
    if (depth == 2 || depth == 3) {
      std::ostringstream written;
      node.visit([&](const auto& one) { written << one; });
      made.written = written.str();
    }
    if (const toml::value<bool>* const flag = node.as_boolean()) {
      made.value = flag->get();
    } else if (const toml::array* const list = node.as_array()) {
      auto& nodes = made.value.emplace<std::vector<ConfigNode>>();
      for (const toml::node& one : *list) nodes.push_back(to_node(one, depth + 1));
    } else if (const toml::table* const table = node.as_table()) {
      auto& nodes = made.value.emplace<ConfigTable>();
      for (const auto& [key, one] : *table) nodes.emplace(std::string(key.str()), to_node(one, depth + 1));
    }
  }
  return made;
}

}  // namespace

ConfigNode parse_toml(std::string_view text, const std::string& name) {
  check_toml_depth(text, name);
  try {
    return to_node(toml::parse(text, name), 0);
  } catch (const toml::parse_error& e) {
    throw Error(ExitCode::usage,
                name + ":" + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
  }
}

Config Config::parse(std::string_view text, const std::string& name) {
  return std::move(parse_each(text, name, "").front());
}

std::vector<Config> Config::parse_each(std::string_view text, const std::string& name,
                                       const std::string& section) {
  Data data;
  data.name = name;
  data.root = std::make_shared<const ConfigNode>(parse_toml(text, name));
  const std::vector<ConfigNode>* several = nullptr;
  for (const auto& [own, node] : *data.root->as<ConfigTable>()) {
    const auto* const list = node.as<std::vector<ConfigNode>>();
    const bool is_list_of_tables =
        list && !list->empty() &&
        std::ranges::all_of(*list, [](const ConfigNode& one) { return one.as<ConfigTable>() != nullptr; });
    if (node.as<ConfigTable>()) {
      data.sections[own] = &node;
    } else if (own == section && is_list_of_tables) {
      several = list;
    } else if (is_list_of_tables) {
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
    data.sections[section] = &(*several)[i];
    add(data);
  }
  return all;
}

}  // namespace sightline
