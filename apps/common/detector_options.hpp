#pragma once
/// Options that choose and tune a detector, the same for every subcommand that runs one. What each family has
/// of its own comes from its description (family/family.hpp).

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/config_lookup.hpp"
#include "apps/common/detector_engine.hpp"
#include "apps/common/schedule_options.hpp"
#include "detection/composite_detector.hpp"
#include "detection/tiles.hpp"
#include "family/family.hpp"
#include "params/config.hpp"
#include "params/options.hpp"

namespace sightline::apps {

/// --max-model-size: MiB.
void add_model_size_option(OptionSet& options, std::optional<int>& mebibytes);

/// A help text with what it means to each family that says something of the key.
std::string with_remarks(std::string help, std::string_view key);

/// A parameter of section [detector] with the value that the command line gives it.
struct DetectorSetting {
  using Value = std::variant<bool, std::optional<int>, std::optional<double>, std::string>;

  ParameterInfo parameter;
  Option option;
  std::string group;  ///< heading of the option
  Value value;        ///< not given: false or empty

  bool is_given() const;
  void apply_to(Config& config) const;
};

/// Selection of the objects that a detector reports.
enum class Wanted {
  objects,     ///< as the user says
  low_scores,  ///< those of low scores too: FamilyInfo::evaluation_values count where the user gave none
  windows,     ///< these, and all windows that are left instead of the best: FamilyInfo::ungrouped_values
};

class DetectorOptions {
 public:
  /// @param default_config  where the user names none
  explicit DetectorOptions(std::string default_config = kDefaultConfig);

  /// @param left_out  names of options that the command has no use for
  void add_to(OptionSet& options, const std::set<std::string>& left_out = {});

  /// Adds --tiles and --tile-overlap, for commands that search frames by Engine::tiles.
  void add_tiles_to(OptionSet& options);
  /// Whether the command line asks for tiles.
  bool asks_for_tiles() const { return !tiles_.empty(); }

  /// Adds the options of the quality controller (quality_options.hpp). With an objective, the detector is
  /// made in several settings.
  void add_quality_to(OptionSet& options);
  /// Whether the command line asks for an objective of the quality controller.
  bool asks_for_quality() const { return quality_.has_objective(); }

  /// The goal of schedule `auto` that an option names; empty: none does.
  const std::string& goal() const { return schedule_.request.goal; }

  /// As if an option had been given that sets a key: of `measure`, which sets one to several values.
  void set(const DetectorSetting& setting) { settings_.push_back(setting); }

  /// Whether the user has named a detector.
  bool is_named() const { return !config_.empty() || !model_.empty(); }
  /// `make` opens no device: of commands that run the detector on the CPU.
  void use_no_device() { schedule_.request.devices = "none"; }
  /// The detector is made in several settings even without an objective: keys change them.
  void turn_by_hand() { turns_by_hand_ = true; }
  /// A gallery's changes count while the detector runs.
  void follow_gallery() { follows_gallery_ = true; }

  /// The family of the detector that the user has asked for. Throws Error (usage) as `make` does, and where
  /// there are several detectors.
  const Family& family() const;

  /// The configuration with all that the options change in section [detector]. Throws Error (usage).
  Config config(Wanted wanted = Wanted::objects) const;

  /// Throws Error (usage, model) as make_detector does, Error (usage) for an option that the detector does
  /// not read, and Error (device) as pipeline::make_devices does.
  /// Throws Error (usage) where windows are wanted and the family has no scores of them.
  DetectorEngine make(Wanted wanted = Wanted::objects) const;

 private:
  std::string model() const;  ///< the file that --model names; empty where it is not given
  std::vector<Config> load_configs() const;
  void check_options(const std::vector<Config>& configs) const;

  bool wants_settings(const pipeline::QualityRequest& quality, std::size_t detectors) const;
  CompositeBranch make_adjustable(const Config& configuration, const std::string& listed,
                                  Wanted wanted) const;
  void apply_to(Config& config, Wanted wanted) const;
  void apply_recognition_to(Config& config) const;

  std::string default_config_;
  std::string config_;  ///< empty: none named
  std::string model_;
  std::vector<DetectorSetting> settings_;  ///< never grows once add_to has handed out its addresses
  std::string gallery_;
  std::optional<double> false_accepts_;
  bool follows_gallery_ = false;
  std::string tiles_;  ///< their size; empty: none
  double tile_overlap_ = TileOptions().overlap;
  ScheduleArguments schedule_;
  pipeline::QualityRequest quality_;
  bool offers_schedule_ = false;
  bool offers_quality_ = false;
  bool turns_by_hand_ = false;
};

}  // namespace sightline::apps
