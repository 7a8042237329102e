#pragma once
/// Options that choose and tune a detector, the same for every subcommand that runs one.

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "detection/detector.hpp"
#include "pipeline/planner.hpp"
#include "pipeline/schedule.hpp"
#include "processing/device_stages.hpp"

namespace sightline::apps {

/// A detector, its stages on the device that was asked for, and how the user wants them to be run.
struct Engine {
  std::unique_ptr<Detector> detector;
  std::unique_ptr<DeviceStages> device;  ///< null: the CPU alone
  pipeline::ScheduleRequest schedule;    ///< of the command line and the configuration
  int threads = 0;                       ///< 0: all
  bool explain = false;                  ///< print what `auto` weighed

  /// Whether the schedule is to be found by measuring.
  bool is_auto() const;
  /// The schedule to begin with; with `auto`, until one is planned. Throws Error (usage).
  pipeline::Schedule resolve() const;
  /// Plans schedule `auto` with some frames of the source, sets it, and tells the user. Throws Error (usage).
  /// @param stop  ends the measuring early, with what is known by then
  pipeline::Planned plan(pipeline::Pipeline& pipeline, const std::vector<media::Frame>& frames,
                         const std::atomic<bool>& stop) const;
};

/// --max-model-size: MiB.
void add_model_size_option(CLI::App& command, std::optional<int>& mebibytes,
                           const std::string& group = "Options");

/// Whether a model is an OpenCV cascade, as its file or its name says, be it there or not.
bool is_cascade_model(const std::string& model);

/// Throws Error (usage) where a command that is for filter banks alone is given the configuration or the
/// model of something else.
void require_filterbank(const std::string& command, const Config& config);
void require_filterbank(const std::string& command, const std::string& model);

class DetectorOptions {
 public:
  /// @param with_filters  whether to take one size of the dictionary; see set_filters
  void add_to(CLI::App& command, bool with_filters = true);
  void set_filters(int filters) { filters_ = filters; }
  /// Cascades: the form of the kernels on devices, see cascade::kKernelVariants.
  void set_kernels(const std::string& form) { kernels_ = form; }
  const std::string& kernels() const { return kernels_; }

  /// What takes the place of the configuration's values where the user gave none on the command line:
  /// evaluation wants low scores too.
  struct Fallbacks {
    std::optional<double> threshold;
    std::optional<int> min_neighbors;  ///< cascades
  };
  /// Throws Error (usage, model) as make_detector does.
  /// A device that the user named and that does not work is an Error (device); one that was chosen
  /// automatically is left out with a warning.
  Engine make() const { return make(Fallbacks{}); }
  Engine make(const Fallbacks& fallbacks) const;

 private:
  std::unique_ptr<DeviceStages> make_device(const Detector& detector) const;

  pipeline::ScheduleRequest schedule_;
  int threads_ = 0;
  bool explain_ = false;
  Config load_config() const;
  void check_options(const Config& config) const;

  std::string config_;  ///< empty: none named
  std::string device_ = "auto";
  std::string model_;
  std::string arithmetic_;
  std::optional<double> threshold_;
  std::optional<double> scale_step_;
  std::optional<double> min_size_;
  std::optional<int> computed_scales_;
  bool exact_ = false;
  bool no_verify_ = false;
  std::optional<double> max_size_;
  std::optional<int> min_neighbors_;
  std::optional<int> max_candidates_;
  std::optional<int> max_model_size_;
  std::optional<int> filters_;
  std::string kernels_;
};

/// Tells the user what runs: build, threads, schedule, model.
void describe_engine(const Engine& engine, const pipeline::Pipeline& pipeline);

/// The file of a configuration given as a path, or by the name of one that ships ("people"): looked for in
/// $SIGHTLINE_CONFIGS, beside the installed program (../share/sightline/configs), and in the source tree of a
/// build. Throws Error (usage) where there is none.
std::filesystem::path find_config(const std::string& path_or_name);

/// The names of the configurations that ship, in alphabetical order.
std::vector<std::string> config_names();

}  // namespace sightline::apps
