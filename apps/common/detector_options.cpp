#include "apps/common/detector_options.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "apps/cli/choices.hpp"
#include "apps/cli/config_lookup.hpp"
#include "apps/cli/family_commands.hpp"
#include "apps/common/quality_options.hpp"
#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "detection/keys.hpp"
#include "detectors/families.hpp"
#include "faces/recognition/section.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using Kind = ParameterInfo::Kind;

constexpr char kDetectorGroup[] = "Detector";

// Whoever wrote the path should learn where it was looked for.
void check_relative_model(const Config& config) {
  const fs::path named = config.text("detector", "model", "");
  const fs::path file = config.model_path("detector", "model", "");
  std::error_code error;
  if (named.empty() || named.is_absolute() || fs::exists(file, error)) return;
  if (named == config.name()) return;  // a model that stands for its configuration
  const Family& family = family_of(config);
  const std::vector<std::string> names = family.model_names();
  if (family.info().finds_models_by_name || std::ranges::find(names, named.string()) != names.end())
    return;  // these are looked for further
  throw Error(ExitCode::model, "no model file '" + file.string() + "'",
              "'model' in '" + config.name() +
                  "' is a path relative to that file, or the name of a shipped model: " + model_list());
}

Size parse_tiles(const std::string& text) {
  if (const std::optional<Size> size = tile_size(text)) return *size;
  throw Error(ExitCode::usage, "'" + text + "' is not a size of tiles",
              fmt::format("write it as 640 or 1280x720, each side from {} to {}", TileOptions::kSmallest,
                          TileOptions::kLargest));
}

void expect_one(const std::vector<Config>& configs) {
  if (configs.size() > 1)
    throw Error(ExitCode::usage, "this command takes one detector, and there are several",
                "name one with --config");
}

// The family of a model, by its file or a name, that needs no configuration; null for configurations.
const Family* family_of_file(const std::string& word) {
  const Family* const family = word.ends_with(".toml") ? nullptr : family_of_model(word);
  return family && family->info().needs_no_config ? family : nullptr;
}

// "Detector: filter banks, census cascades": the families that have the option, unless all have it.
std::string group_of_families(std::string_view option) {
  const auto has_it = [&](const Family& family) {
    return std::ranges::any_of(family.info().parameters,
                               [&](const ParameterInfo& own) { return own.option == option; });
  };
  if (std::ranges::all_of(families(), [&](const Family* family) { return has_it(*family); }))
    return kDetectorGroup;
  return std::string(kDetectorGroup) + ": " + titles_where(has_it);
}

}  // namespace

std::string with_remarks(std::string help, std::string_view key) {
  std::vector<std::pair<std::string, std::string>> remarks;  // with the families that make them
  for (const Family* family : families()) {
    for (const KeyRemark& one : family->info().remarks) {
      if (one.key != key) continue;
      const auto same = std::ranges::find(remarks, one.remark, &std::pair<std::string, std::string>::first);
      if (same == remarks.end()) {
        remarks.emplace_back(one.remark, family->info().title);
      } else {
        same->second += ", " + std::string(family->info().title);
      }
    }
  }
  for (const auto& [remark, titles] : remarks) help += "; " + titles + ": " + remark;
  return help;
}

void add_model_size_option(OptionSet& options, std::optional<int>& mebibytes) {
  Option& option = options.add(keys::kMaxModelSize.make_option(&mebibytes));
  option.help = with_remarks(option.help, keys::kMaxModelSize.key);
}

bool DetectorSetting::is_given() const {
  return std::visit([](const auto& one) { return one != std::decay_t<decltype(one)>(); }, value);
}

void DetectorSetting::apply_to(Config& config) const {
  if (!is_given()) return;
  // A raw score on the command line replaces a confidence in the configuration, which would come first.
  if (std::string_view(parameter.key) == "threshold") config.leave_out("detector", "confidence");
  const auto set = [&](Config::Value given) { config.set("detector", parameter.key, std::move(given)); };
  if (const auto* text = std::get_if<std::string>(&value)) set(*text);
  if (const auto* whole = std::get_if<std::optional<int>>(&value)) set(static_cast<double>(**whole));
  if (const auto* number = std::get_if<std::optional<double>>(&value)) set(**number);
  if (std::holds_alternative<bool>(value)) set(option.name.starts_with("--no-") ? 0.0 : 1.0);
}

DetectorOptions::DetectorOptions(std::string default_config) : default_config_(std::move(default_config)) {
  const auto add = [&](const ParameterInfo& parameter, const std::string& group) {
    const auto same = [&](const DetectorSetting& one) {
      return std::string_view(one.parameter.option) == parameter.option;
    };
    if (std::ranges::any_of(settings_, same)) return;
    DetectorSetting& setting =
        settings_.emplace_back(DetectorSetting{parameter, parameter.make_option(), group, {}});
    setting.option.help = with_remarks(setting.option.help, parameter.key);
    if (parameter.kind == Kind::whole_number) setting.value = std::optional<int>();
    if (parameter.kind == Kind::number) setting.value = std::optional<double>();
    if (parameter.kind == Kind::text) setting.value = std::string();
    if (parameter.kind == Kind::text && !parameter.suggested) setting.option.free_text();
  };
  for (const ParameterInfo& one : {ParameterInfo(keys::kConfidence), ParameterInfo(keys::kThreshold),
                                   ParameterInfo(keys::kMaxModelSize)})
    add(one, kDetectorGroup);
  for (const Family* family : families()) {
    for (const ParameterInfo& one : family->info().parameters) {
      if (*one.option) add(one, group_of_families(one.option));
    }
  }
}

void DetectorOptions::add_to(OptionSet& options, const std::set<std::string>& left_out) {
  OptionSet all;
  all.group(kDetectorGroup);
  all.add("-c,--config CONFIG", &config_,
          fmt::format("Configuration: a .toml file, or a shipped one ({}); several search the same frames, "
                      "networks among them: people,mine.onnx",
                      fmt::join(config_names(), ", ")))
      .suggest(config_choices)
      .show_default(default_config_);
  all.add("-m,--model MODEL", &model_,
          with_remarks(
              "Model to search with, instead of the configuration's: a file, or the name of a shipped model",
              "model"))
      .suggest(model_choices);
  for (DetectorSetting& setting : settings_) {
    Option option = setting.option;
    option.target = std::visit([](auto& value) -> Option::Target { return &value; }, setting.value);
    all.group(setting.group);
    all.add(std::move(option));
  }
  all.group("Recognition (--config recognise)");
  all.add(recognition::keys::kGallery.make_option(&gallery_));
  all.add(recognition::keys::kFalseAccepts.make_option(&false_accepts_));
  offers_schedule_ = !left_out.contains("--schedule");
  all.group("Schedule");
  add_device_options(all, schedule_);
  add_schedule_options(all, schedule_);
  for (const Option& option : all.all()) {
    if (left_out.contains(option.long_name())) continue;
    options.group(option.group);
    options.add(option);
  }
}

std::string DetectorOptions::model() const {
  return find_model(model_);
}

// Some model files describe their detector completely.
std::vector<Config> DetectorOptions::load_configs() const {
  const Family* const named = family_of_model(model());
  const bool is_enough = named && named->info().needs_no_config;
  std::vector<Config> configs;
  if (config_.empty() && is_enough) {
    configs.push_back(config_of_model(*named, model()));
    return configs;
  }
  // Who gives a model, or an option that belongs to one detector, and names none, means the usual one.
  const bool means_one = !model().empty() || std::ranges::any_of(settings_, &DetectorSetting::is_given);
  const std::string names = !config_.empty() ? config_ : means_one ? kDefaultConfig : default_config_;
  for (const std::string& name : split(names, ',')) {
    if (const Family* family = family_of_file(name)) {
      configs.push_back(config_of_model(*family, name));
      continue;
    }
    for (Config& config : Config::load_each(find_config(name), "detector"))
      configs.push_back(std::move(config));
  }
  if (configs.empty())
    throw Error(ExitCode::usage, "--config names no configuration", "write --config people");
  if (configs.size() > 1 && !model().empty()) {
    throw Error(ExitCode::usage, "--model takes one detector, and there are several",
                "name one with --config, or write the model in a configuration of your own");
  }
  check_number_of_detectors(configs);
  if (is_enough && &family_of(configs.front()) != named) {
    throw Error(ExitCode::usage,
                fmt::format("the model '{}' is {}, but configuration '{}' needs another kind of model",
                            model(), named->info().one, configs.front().name()),
                named->info().shipped_config.empty()
                    ? fmt::format("leave out --config; to run both, use --config {},{}", config_, model())
                    : fmt::format("leave out --config, or use --config {}", named->info().shipped_config));
  }
  return configs;
}

const Family& DetectorOptions::family() const {
  const std::vector<Config> configs = load_configs();
  expect_one(configs);
  return family_of(configs.front());
}

// Options that the family does not read would pass silently; of several detectors, it would be open whose
// they are.
void DetectorOptions::check_options(const std::vector<Config>& configs) const {
  if ((!gallery_.empty() || false_accepts_) && std::ranges::none_of(configs, recognition::recognises)) {
    throw Error(ExitCode::usage,
                fmt::format("{} does nothing: '{}' recognises nobody",
                            gallery_.empty() ? "--false-accepts" : "--gallery", configs.front().name()),
                "leave it out, or use --config recognise");
  }
  const auto given = [&](std::string_view key) {
    return std::ranges::any_of(
        settings_, [&](const DetectorSetting& one) { return one.is_given() && one.parameter.key == key; });
  };
  if (given("threshold") && given("confidence")) {
    throw Error(ExitCode::usage, "--threshold and --confidence exclude each other",
                "give one of them: they set the same limit, as a raw score or as a probability");
  }
  for (const DetectorSetting& setting : settings_) {
    if (!setting.is_given()) continue;
    const std::string name = setting.option.long_name();
    const bool fits_all = std::string_view(setting.parameter.key) == "confidence";  // means the same for all
    const auto readers = std::ranges::count_if(
        configs, [&](const Config& config) { return family_of(config).info().reads(setting.parameter.key); });
    if (configs.size() > 1 && !fits_all && readers > 1) {
      throw Error(ExitCode::usage, name + " takes one detector, and there are several",
                  fmt::format("name one with --config, or write '{} = ...' in its [[detector]], in a "
                              "configuration of your own",
                              setting.parameter.key));
    }
    for (const Config& config : configs) {
      const FamilyInfo& family = family_of(config).info();
      if (family.reads(setting.parameter.key) || (readers > 0 && !fits_all)) continue;
      throw Error(
          ExitCode::usage, name + " does nothing for the detector of '" + config.name() + "'",
          fits_all && family.reads("threshold") ? "use --threshold, for its raw scores" : "leave it out");
    }
  }
}

void DetectorOptions::apply_to(Config& config, Wanted wanted) const {
  const FamilyInfo& family = family_of(config).info();
  if (!model().empty()) use_model(config, model());
  const auto set = [&](const OperatingPointChanges& values) {
    // These keys would discard scores that an evaluation needs.
    for (const char* key : {"confidence", "class_thresholds"}) config.leave_out("detector", key);
    for (const auto& [key, value] : values) config.set("detector", key, value);
  };
  if (wanted != Wanted::objects) set(family.evaluation_values);
  for (const DetectorSetting& setting : settings_) {
    if (family.reads(setting.parameter.key)) setting.apply_to(config);
  }
  if (wanted == Wanted::windows) {
    if (family.ungrouped_values.empty()) {
      throw Error(ExitCode::usage, "windows of " + std::string(family.title) + " have no scores of their own",
                  "use a detector of another family");
    }
    set(family.ungrouped_values);
  }
  apply_recognition_to(config);
  check_detector_config(config, recognition::detector_extensions());
  if (model().empty()) check_relative_model(config);
}

void DetectorOptions::apply_recognition_to(Config& config) const {
  if (!recognition::recognises(config)) return;
  if (!gallery_.empty()) config.set(recognition::kSection, "gallery", gallery_);
  if (false_accepts_) config.set(recognition::kSection, "false_accepts", *false_accepts_);
  if (follows_gallery_) config.set(recognition::kSection, "follow", 1.0);
}

Config DetectorOptions::config(Wanted wanted) const {
  std::vector<Config> configs = load_configs();
  check_options(configs);
  expect_one(configs);
  configs.front().expect_section("schedule");
  configs.front().expect_section("knob");
  apply_to(configs.front(), wanted);
  return std::move(configs.front());
}

void DetectorOptions::add_tiles_to(OptionSet& options) {
  options
      .add("--tiles SIZE", &tiles_,
           "Search the picture and overlapping tiles of it, in which networks find small objects: 640 or "
           "1280x720, in pixels")
      .free_text()
      .checked_by([](const std::string& text) { static_cast<void>(parse_tiles(text)); });
  options
      .add("--tile-overlap SHARE", &tile_overlap_,
           "Least overlap of neighbouring tiles, as a share of their sides")
      .between(0, TileOptions::kMostOverlap)
      .show_default()
      .needs("--tiles");
}

void DetectorOptions::add_quality_to(OptionSet& options) {
  add_quality_options(options, quality_);
  offers_quality_ = true;
}

bool DetectorOptions::wants_settings(const pipeline::QualityRequest& quality, std::size_t detectors) const {
  if (!offers_quality_) return false;
  const bool has_objective = objective_of(quality).kind != pipeline::QualityObjective::Kind::none;
  if (!quality_.power_log.empty() && quality.budget.empty())
    throw Error(ExitCode::usage, "--power-log is for --budget", "leave it out, or add --budget");
  if (!has_objective && !turns_by_hand_) {
    if (quality_.settings.empty()) return false;
    throw Error(ExitCode::usage, "--settings does nothing: no option changes the setting",
                "add --hold, --budget or --battery");
  }
  if (detectors > 1 && !quality.settings.empty()) {
    throw Error(ExitCode::usage, "--settings takes one detector, and there are several",
                "name one with --config, or leave --settings out");
  }
  return true;
}

// A branch with several operating points, if the detector has them.
CompositeBranch DetectorOptions::make_adjustable(const Config& configuration, const std::string& listed,
                                                 Wanted wanted) const {
  const Family& family = family_of(configuration);
  std::vector<OperatingPointChanges> all;
  if (!listed.empty()) all = parse_settings(listed);
  std::unique_ptr<Detector> detector = family.make(configuration);
  const DetectorInfo made = detector->info();
  if (listed.empty()) all = family.settings(configuration, made);
  if (all.size() < 2 && listed.empty())
    return make_branch(configuration, recognition::detector_extensions(), std::move(detector));
  std::vector<ConfiguredSetting> settings;
  for (const OperatingPointChanges& changes : all) {
    settings.push_back({configuration.fresh_copy(), changes});
    Config& config = settings.back().config;
    config.expect_section("schedule");
    config.expect_section("knob");
    apply_to(config, wanted);
    for (const auto& [key, value] : changes) {
      if (!family.info().reads(key)) {
        std::vector<std::string> keys;
        for (const ParameterInfo& one : family.info().parameters) keys.emplace_back(one.key);
        throw Error(ExitCode::usage,
                    fmt::format("'{}' in the settings is not a key of {}", key, family.info().title),
                    nearest_or_all(key, keys));
      }
      config.set("detector", key, value);
    }
  }
  return make_branch(configuration, made, settings, recognition::detector_extensions());
}

DetectorEngine DetectorOptions::make(Wanted wanted) const {
  std::vector<Config> configs = load_configs();
  check_options(configs);
  DetectorEngine engine;
  engine.schedule = schedule_.request;
  engine.threads = schedule_.threads;
  engine.explain = schedule_.explain;
  engine.quality = quality_;
  if (asks_for_tiles()) engine.tiles = TileOptions{parse_tiles(tiles_), tile_overlap_};
  for (Config& config : configs) {
    pipeline::ScheduleRequest unused;  // of several, the first says how all are run
    pipeline::read_schedule(config, &config == &configs.front() ? engine.schedule : unused);
    pipeline::QualityRequest unused_quality;
    pipeline::read_quality(config,
                           &config == &configs.front() && offers_quality_ ? engine.quality : unused_quality);
    apply_to(config, wanted);
  }
  const bool adjustable = wants_settings(engine.quality, configs.size());
  std::vector<CompositeBranch> branches;
  for (const Config& config : configs) {
    branches.push_back(adjustable ? make_adjustable(config, engine.quality.settings, wanted)
                                  : make_branch(config, recognition::detector_extensions()));
  }
  for (const Config& config : configs) engine.files.insert(config.files().begin(), config.files().end());
  engine.processor = CompositeDetector::compose(std::move(branches));
  if (engine.tiles) require_boxes(engine.detector().info(), "tiles");
  const std::string& cpu_only = engine.detector().info().cpu_only;
  if (!cpu_only.empty()) spdlog::info("{}", cpu_only);
  pipeline::ScheduleRequest asked = schedule_.request;
  asked.devices = engine.schedule.devices;
  asked.buffers = engine.schedule.buffers;
  engine.device_stages = pipeline::make_devices(
      asked, *engine.processor,
      offers_schedule_ ? pipeline::cpu_devices_for(engine.schedule) : pipeline::CpuDevices::used);
  return engine;
}

}  // namespace sightline::apps
