// Makes detectors and opens devices, by what the caller names and by options.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "apps/bindings/c/call.hpp"
#include "apps/bindings/c/detector.hpp"
#include "apps/cli/config_lookup.hpp"
#include "base/fingerprint.hpp"
#include "base/nearest.hpp"
#include "base/shipped_files.hpp"
#include "base/text.hpp"
#include "detection/composite_detector.hpp"
#include "detection/keys.hpp"
#include "detectors/families.hpp"
#include "faces/recognition/section.hpp"
#include "model/foreign_file.hpp"
#include "pipeline/session/keys.hpp"

namespace sightline::api {
namespace {

constexpr const char* kDetector = "detector";
constexpr const char* kSchedule = "schedule";

using Kind = ParameterInfo::Kind;

/// A parameter and the section that it is in.
struct Row {
  std::string section;
  const ParameterInfo* parameter;
};

// The option as a variable: "--in-flight FRAMES" is in_flight, "--no-clip" is clip.
std::string variable_of(const ParameterInfo& parameter) {
  std::string_view option = parameter.option;
  const std::size_t begin = option.find("--");
  if (begin == std::string_view::npos) return parameter.key;
  option = option.substr(begin + 2);
  option = option.substr(0, option.find_first_of(" ,"));
  if (option.starts_with("no-")) option.remove_prefix(3);
  std::string name(option);
  std::ranges::replace(name, '-', '_');
  return name;
}

// All that may be set: parameters of all families, of schedules and of recognition.
std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const Family* family : families()) {
    for (const ParameterInfo& one : family->info().parameters) rows.push_back({kDetector, &one});
  }
  namespace schedule = pipeline::keys;
  for (const ParameterInfo* one : std::array<const ParameterInfo*, 8>{
           &schedule::kName, &schedule::kMap, &schedule::kInFlight, &schedule::kBatch, &schedule::kSplit,
           &schedule::kGoal, &schedule::kDevices, &schedule::kBuffers})
    rows.push_back({kSchedule, one});
  namespace faces = recognition::keys;
  for (const ParameterInfo* one :
       std::array<const ParameterInfo*, 6>{&faces::kModel, &faces::kPoints, &faces::kGallery, &faces::kLimit,
                                           &faces::kFalseAccepts, &faces::kFollow})
    rows.push_back({recognition::kSection, one});
  return rows;
}

// `fits` says which name of the row counts.
template <typename Fits>
const Row* find_row(const std::vector<Row>& rows, const Fits& fits) {
  const auto found = std::ranges::find_if(rows, fits);
  return found == rows.end() ? nullptr : &*found;
}

// A text, or a list of texts with commas between them; none for anything else.
std::optional<std::string> text_of(const ConfigNode& node) {
  if (const auto* const text = node.as<std::string>()) return *text;
  const auto* const list = node.as<std::vector<ConfigNode>>();
  if (!list) return std::nullopt;
  std::string texts;
  for (const ConfigNode& one : *list) {
    const auto* const text = one.as<std::string>();
    if (!text) return std::nullopt;
    texts += (texts.empty() ? "" : ",") + *text;
  }
  return texts;
}

Config::Value value_of(const ConfigNode& node, const ParameterInfo& parameter, const std::string& name) {
  const auto refuse = [&](const char* kind) {
    TomlOptions::fail(node, fmt::format("'{}' must be {}", name, kind));
  };
  if (parameter.kind == Kind::flag) {
    const auto* const flag = node.as<bool>();
    if (!flag) refuse("true or false");
    return *flag ? 1.0 : 0.0;
  }
  if (parameter.kind == Kind::text) {
    if (const std::optional<std::string> text = text_of(node)) return *text;
    // A device may be given by its index.
    const auto* const number = node.as<double>();
    if (!number || &parameter != &static_cast<const ParameterInfo&>(pipeline::keys::kDevices))
      refuse("a text or a list of texts");
    return fmt::format("{:g}", *number);
  }
  if (parameter.kind == Kind::numbers) {
    TomlOptions::fail(node, fmt::format("'{}' is a list, which only a configuration file can set", name),
                      "write a configuration of your own, and give its path");
  }
  const auto* const number = node.as<double>();
  if (!number) refuse("a number");
  return *number;
}

/// A value that the options set.
struct Setting {
  std::string section;
  std::string name;  ///< as the caller wrote it
  const ParameterInfo* parameter;
  const ConfigNode* node;
  Config::Value value;
};

/// Options in the order of the text's keys, and those of the interface itself.
struct Wishes {
  std::vector<Setting> settings;
  std::string model;
  int threads = 0;
  std::optional<TileOptions> tiles;

  bool has(std::string_view key) const {
    return std::ranges::any_of(settings, [&](const Setting& one) {
      return one.section == kDetector && std::string_view(one.parameter->key) == key;
    });
  }
};

std::vector<std::string> names_of(const std::vector<Row>& rows, const std::string& section) {
  std::set<std::string> names{"model"};
  if (section.empty()) names.insert({"threads", "tiles", "tile_overlap"});
  for (const Row& row : rows) {
    if (section.empty() ? row.section != recognition::kSection || *row.parameter->option
                        : row.section == section)
      names.insert(section.empty() ? variable_of(*row.parameter) : row.parameter->key);
  }
  return {names.begin(), names.end()};
}

// `tiles = 640`, "1280x720" or [1280, 720], and `tile_overlap`.
TileOptions tiles_of(const TomlOptions& options) {
  const ConfigNode& node = *options.find("tiles");
  const auto side_text = [](const ConfigNode& side) {
    const auto* const number = side.as<double>();
    return number ? fmt::format("{}", *number) : "";
  };
  std::string text = side_text(node);
  if (const auto* const both = node.as<std::string>()) text = *both;
  if (const auto* const sides = node.as<std::vector<ConfigNode>>(); sides && sides->size() == 2)
    text = side_text((*sides)[0]) + 'x' + side_text((*sides)[1]);
  const std::optional<Size> size = tile_size(text);
  if (!size)
    TomlOptions::fail(node, "'tiles' is not a size of tiles",
                      fmt::format("give 640, \"1280x720\" or [1280, 720], each side from {} to {}",
                                  TileOptions::kSmallest, TileOptions::kLargest));
  TileOptions tiles{*size};
  tiles.overlap = options.number("tile_overlap", 0, TileOptions::kMostOverlap).value_or(tiles.overlap);
  return tiles;
}

Wishes read_wishes(const TomlOptions& options) {
  const std::vector<Row> rows = all_rows();
  Wishes wishes;
  const auto add = [&](const Row& row, const std::string& name, const ConfigNode& node) {
    wishes.settings.push_back(
        {row.section, name, row.parameter, &node, value_of(node, *row.parameter, name)});
  };
  for (const auto& [name, node] : options.table()) {
    if (const auto* const table = node.as<ConfigTable>()) {
      if (name != kDetector && name != kSchedule && name != recognition::kSection) {
        TomlOptions::fail(node, fmt::format("section [{}] is not known", name),
                          "there are: detector, schedule, recognition");
      }
      for (const auto& [key, value] : *table) {
        if (name == kDetector && key == "model") {
          wishes.model = TomlOptions(*table).text(key).value_or("");
          continue;
        }
        const Row* const row = find_row(rows, [&](const Row& one) {
          return one.section == name && std::string_view(one.parameter->key) == key;
        });
        if (!row)
          TomlOptions::fail(value, fmt::format("'{}' is not known in [{}]", key, name),
                            nearest_or_all(key, names_of(rows, name)));
        add(*row, key, value);
      }
    } else if (name == "model") {
      wishes.model = options.text(name).value_or("");
    } else if (name == "threads") {
      wishes.threads = options.whole_number(name, 0, 1024).value_or(0);
    } else if (name == "tiles") {
      wishes.tiles = tiles_of(options);
    } else if (name == "tile_overlap") {
      if (!options.find("tiles")) TomlOptions::fail(node, "'tile_overlap' is for tiles", "give tiles, too");
    } else {
      const Row* row = find_row(rows, [&](const Row& one) { return variable_of(*one.parameter) == name; });
      if (!row) {
        row = find_row(rows, [&](const Row& one) {
          return one.section == kDetector && std::string_view(one.parameter->key) == name;
        });
      }
      if (!row) {
        const std::string nearest = nearest_of(name, names_of(rows, ""));
        TomlOptions::fail(node, fmt::format("there is no option '{}'", name),
                          nearest.empty() ? "`sightline detect --help` explains the options"
                                          : "did you mean '" + nearest + "'?");
      }
      add(*row, name, node);
    }
  }
  if (wishes.has("threshold") && wishes.has("confidence")) {
    throw Error(ExitCode::usage, "threshold and confidence exclude each other",
                "give one of them: they set the same limit, as a raw score or as a probability");
  }
  return wishes;
}

// A model file needs a configuration, unless it describes its detector completely.
std::vector<Config> configs_of_model(const Family& family, const std::string& model) {
  std::vector<Config> configs;
  if (family.info().needs_no_config) {
    configs.push_back(config_of_model(family, model));
    return configs;
  }
  if (family.info().shipped_config.empty()) {
    throw Error(ExitCode::usage, fmt::format("the model '{}' needs a configuration", model),
                "name a configuration, and give the model as an option: model = \"...\"");
  }
  configs = Config::load_each(apps::find_config(std::string(family.info().shipped_config)), kDetector);
  for (Config& config : configs) use_model(config, model);
  return configs;
}

std::vector<Config> configs_of(const std::string& word) {
  std::error_code error;
  const bool is_config = word.ends_with(".toml") || !find_shipped_file(word + ".toml").empty();
  const bool is_file = std::filesystem::exists(word, error) || !find_shipped_model(word).empty();
  const std::string model = is_config ? "" : is_file ? apps::find_model(word) : word;
  if (const Family* const family = family_of_model(model)) return configs_of_model(*family, model);
  if (const Message kind = is_config ? Message() : foreign_kind({}, word); !kind.empty()) {
    throw Error(ExitCode::model, "'" + word + "' is " + kind + ", which Sightline does not read",
                "export it to an ONNX file, and name that file");
  }
  return Config::load_each(apps::find_config(word), kDetector);
}

std::vector<Config> load_configs(const std::string& what, const std::string& model) {
  std::vector<Config> configs;
  if (what.empty() && !model.empty()) {
    const std::string file = apps::find_model(model);
    const Family* const family = family_of_model(file);
    if (family) {
      configs = configs_of_model(*family, file);
    } else {
      throw Error(ExitCode::model, fmt::format("'{}' is no model", model),
                  "there are: " + apps::model_list());
    }
    return configs;
  }
  for (const std::string& word : split(what, ',')) {
    for (Config& config : configs_of(word)) configs.push_back(std::move(config));
  }
  if (configs.empty())
    throw Error(ExitCode::usage, "no detector is named",
                fmt::format("there are: {}; or give the path of a configuration or a model",
                            fmt::join(apps::config_names(), ", ")));
  if (!model.empty()) {
    if (configs.size() > 1)
      throw Error(ExitCode::usage, "model is for one detector, and there are several",
                  "name one, or write the model in a configuration of your own");
    use_model(configs.front(), apps::find_model(model));
  }
  return configs;
}

// A value that no detector reads would pass silently; of several detectors, it would be open whose it is.
void apply(const Setting& setting, std::vector<Config>& configs) {
  if (setting.section != kDetector) {
    if (setting.section == recognition::kSection && std::ranges::none_of(configs, recognition::recognises)) {
      TomlOptions::fail(*setting.node, fmt::format("'{}' does nothing: no detector recognises", setting.name),
                        "leave it out, or use the configuration 'recognise'");
    }
    for (Config& config : configs) {
      if (setting.section == kSchedule || recognition::recognises(config))
        config.set(setting.section, setting.parameter->key, setting.value);
    }
    return;
  }
  const std::string key = setting.parameter->key;
  const bool fits_all = key == "confidence";  // means the same for all
  std::vector<Config*> readers;
  std::vector<std::string> known;
  for (Config& config : configs) {
    const FamilyInfo& family = family_of(config).info();
    if (family.reads(key)) readers.push_back(&config);
    for (const ParameterInfo& one : family.parameters) known.emplace_back(one.key);
  }
  if (readers.empty() || (fits_all && readers.size() < configs.size())) {
    TomlOptions::fail(
        *setting.node,
        fmt::format("'{}' does nothing for the detector of '{}'", setting.name, configs.front().name()),
        fits_all ? "use threshold, for its raw scores" : nearest_or_all(key, known));
  }
  if (readers.size() > 1 && !fits_all) {
    TomlOptions::fail(*setting.node,
                      fmt::format("'{}' is for one detector, and there are several", setting.name),
                      "write it in the [[detector]] of a configuration of your own");
  }
  for (Config* config : readers) {
    if (key == "threshold") config->leave_out(kDetector, "confidence");
    config->set(kDetector, key, setting.value);
  }
}

std::string fingerprint_of(const std::vector<Config>& configs, const std::optional<TileOptions>& tiles) {
  if (configs.size() == 1 && !tiles) return configs.front().fingerprint();
  Fingerprint all;
  for (const Config& config : configs) all.add_all(config.fingerprint());
  if (tiles)
    all.add_all(fmt::format("tiles {}x{} {}", tiles->size.width, tiles->size.height, tiles->overlap));
  return all.text();
}

}  // namespace

OpenedDetector open_detector(const std::string& what, const TomlOptions& options) {
  const Wishes wishes = read_wishes(options);
  std::vector<Config> configs = load_configs(what, wishes.model);
  check_number_of_detectors(configs);
  for (Config& config : configs) {
    if (recognition::recognises(config)) config.set(recognition::kSection, "follow", 1.0);
  }
  for (const Setting& setting : wishes.settings) apply(setting, configs);
  OpenedDetector opened;
  opened.engine.threads = wishes.threads;
  std::vector<CompositeBranch> branches;
  for (Config& config : configs) {
    pipeline::ScheduleRequest unused;  // of several, the first says how all are run
    pipeline::read_schedule(config, &config == &configs.front() ? opened.engine.schedule : unused);
    config.expect_section("knob");
    branches.push_back(make_branch(config, recognition::detector_extensions()));
  }
  opened.engine.tiles = wishes.tiles;
  opened.fingerprint = fingerprint_of(configs, wishes.tiles);
  std::unique_ptr<Detector> detector = CompositeDetector::compose(std::move(branches));
  if (wishes.tiles) require_boxes(detector->info(), "tiles");
  opened.engine.processor = std::move(detector);
  opened.engine.device_stages = pipeline::make_devices(opened.engine.schedule, *opened.engine.processor,
                                                       pipeline::cpu_devices_for(opened.engine.schedule));
  return opened;
}

}  // namespace sightline::api
