// `sightline config`: the configurations that ship, to read and to copy.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <string_view>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/config_lookup.hpp"
#include "apps/cli/writable.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/shipped_files.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

struct ConfigArguments {
  std::string name;
  std::string file;  // empty: named like the configuration
  bool overwrite = false;
};

fs::path shipped_config(const std::string& name) {
  if (name.find('/') != std::string::npos)
    throw Error(ExitCode::usage, "'" + name + "' is not a shipped configuration",
                "run `sightline config list` to see the names");
  return find_config(name.ends_with(".toml") ? fs::path(name).stem().string() : name);
}

// The first line, which says what a configuration is for.
std::string first_comment_of(const fs::path& file) {
  const std::string text = read_text_file(file);
  std::string_view line = trimmed(std::string_view(text).substr(0, text.find('\n')));
  if (!line.starts_with('#')) return "";
  return std::string(trimmed(line.substr(1)));
}

int list_configs() {
  const std::vector<std::string> names = config_names();
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  for (const std::string& name : names)
    std::printf("%-*s  %s\n", static_cast<int>(width), name.c_str(),
                first_comment_of(find_config(name)).c_str());
  return 0;
}

int show_config(const ConfigArguments& a) {
  const std::string text = read_text_file(shipped_config(a.name));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

// Paths of shipped models become their names, which hold in every folder.
std::string with_names_of_models(const std::string& text) {
  static const std::regex path("\"models/([^\"/]+)\\.safetensors\"");
  return std::regex_replace(text, path, "\"$1\"");
}

int copy_config(const ConfigArguments& a) {
  const fs::path from = shipped_config(a.name);
  std::error_code error;
  fs::path to = a.file.empty() ? from.filename() : fs::path(a.file);
  if (fs::is_directory(to, error)) to /= from.filename();
  if (fs::equivalent(from, to, error))
    throw Error(ExitCode::usage, "'" + to.string() + "' is the shipped configuration itself",
                "name another file");
  if (!a.overwrite) refuse_existing(to.string());
  require_writable(to.string());
  write_whole(to, with_names_of_models(read_text_file(from)), "configuration");
  const bool is_path = to.has_parent_path() || to.extension() == ".toml";
  spdlog::info("wrote {}; use it with --config {}", to.string(), is_path ? to.string() : "./" + to.string());
  return 0;
}

}  // namespace

void add_config(CLI::App& app, Common& common) {
  auto a = std::make_shared<ConfigArguments>();
  CLI::App& group = add_command_group(app, "config", "List, show or copy shipped configurations");
  add_command(group, common, "list", "List shipped configurations and their uses", OptionSet(), list_configs);
  OptionSet shown;
  shown.add("name", &a->name, "Name of a configuration, for example people")
      .suggest(config_choices)
      .require();
  add_command(group, common, "show", "Print a configuration, with a comment for each key", shown,
              [a] { return show_config(*a); });
  OptionSet copied;
  copied.add_all(shown);
  copied.add("file", &a->file, "File or folder to write to (default: NAME.toml in this folder)");
  copied.add("--overwrite", &a->overwrite, "Replace a file of that name");
  add_command(group, common, "copy", "Copy a shipped configuration to a file, to edit it", copied,
              [a] { return copy_config(*a); });
}

}  // namespace sightline::apps
