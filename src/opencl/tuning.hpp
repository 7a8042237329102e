#pragma once
/// Kernel tuning: finds and stores the fastest variant of a kernel on a device. The search space is data: a
/// table of parameters with their values, and the combinations to try for each stage.
/// processing/opencl/opencl_tuner.hpp times them.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_store.hpp"
#include "opencl/device.hpp"

namespace sightline::opencl {

/// Value of a parameter: a number (a switch is 0 or 1) or a word.
using TuningValue = std::variant<int, std::string>;
/// For people: the number or the word.
std::string to_string(const TuningValue& value);

/// Values by the parameters' names.
using TuningValues = std::map<std::string, TuningValue, std::less<>>;

/// In a table, the vector width that suits the device: as many floats as it computes at once, 4 to 16.
inline constexpr int kNativeWidth = -1;

/// Preferences of a device, measured without any family's kernels: start values of a search. 0 and none:
/// unknown.
struct DeviceHints {
  int work_group = 0;                     ///< work-items
  int vector_width = 0;                   ///< 32-bit words that a work-item reads at once
  std::optional<bool> local_memory = {};  ///< whether local memory pays for frequently read data
  friend bool operator==(const DeviceHints&, const DeviceHints&) = default;
};

/// Hint that a parameter starts from.
enum class Follows { nothing, work_group, vector_width, local_memory };

/// One parameter of a family's kernels.
struct TuningParameter {
  std::string name;  ///< name in the file of results
  TuningValue gpu;   ///< untuned default on GPUs and accelerators
  TuningValue cpu;   ///< likewise on CPUs
  /// Values that kernels can be built with and launched, without inexact variants. If empty: the numbers from
  /// `lowest` to `highest`.
  std::vector<TuningValue> values;
  int lowest = 0;
  int highest = 0;
  Follows follows = Follows::nothing;
};

/// Combinations to try: each value of the first parameter with each of the second, and so on. Other
/// parameters keep their values.
struct TuningSweep {
  enum class Devices { all, cpu, others };
  std::vector<std::pair<std::string, std::vector<TuningValue>>> values;
  Devices devices = Devices::all;
  bool exact = true;  ///< false: tried for comparison, and never chosen
  /// Further requirement on the device; null: none.
  bool (*needs)(const DeviceInfo& device) = nullptr;
};

/// A stage whose kernels are tuned.
struct TunedStage {
  std::string span;  ///< timed part of a frame, see DeviceSpan::name
  /// Description of a variant; a parameter's name in braces is replaced by its value.
  std::string text;
  std::vector<TuningSweep> sweeps;
};

struct TuningTable {
  std::vector<TuningParameter> parameters;
  std::vector<TunedStage> stages;  ///< tuned one after the other, each with the winners of those before
  /// Whether values that are each possible are so together; null: always.
  bool (*fit_together)(const TuningValues& values) = nullptr;
};

/// Untuned defaults for such a device.
TuningValues default_values(const TuningTable& table, const DeviceInfo& device);
/// The same, but for parameters that follow a hint that is known: the nearest value that they may have, the
/// lower of two. As without hints where that would not fit together.
TuningValues start_values(const TuningTable& table, const DeviceInfo& device, const DeviceHints& hints);
/// Whether kernels can be built and launched with these values, which are exactly the table's parameters.
bool is_possible(const TuningTable& table, const TuningValues& values);

struct TuningVariant {
  std::string text;  ///< description
  TuningValues values;
  bool exact = true;
};
/// All variants of a stage to try on a device; parameters of other stages stay as in `base`.
std::vector<TuningVariant> variants_of(const TunedStage& stage, const TuningValues& base,
                                       const DeviceInfo& device);

/// A sweep's combinations as a grid: every one of them is named by the places of its values.
struct TuningGrid {
  std::vector<std::pair<std::string, std::vector<TuningValue>>> axes;
  bool exact = true;

  /// `base` with the values at some places, one an axis.
  TuningVariant at(const std::vector<std::size_t>& places, const TunedStage& stage,
                   const TuningValues& base) const;
  /// The places of the values that are nearest to those given.
  std::vector<std::size_t> nearest(const TuningValues& values) const;
};
/// The sweeps of a stage that are tried on a device.
std::vector<TuningGrid> grids_of(const TunedStage& stage, const DeviceInfo& device);

/// One variant of one stage's kernel, timed.
struct TuningTrial {
  std::string stage;
  std::string variant;       ///< description: variant, widths, work-group
  double seconds = 0;        ///< a frame, the fastest of several; 0 if it did not run
  double multiply_adds = 0;  ///< multiply-adds of the frame; 0 for memory-bound stages
  std::string failure;       ///< why it did not run
  bool exact = true;
  bool best = false;
};
using TuningReport = std::function<void(const TuningTrial&)>;

/// A device with its driver, as files of results name it: a new driver may be a new device.
std::string device_key(const DeviceInfo& device);

/// Winners by device, driver and problem, in one JSON file. A file that cannot be read counts as empty.
/// Thread-safety: `store` replaces the file in one step; the last of several processes wins.
class TuningDatabase {
 public:
  explicit TuningDatabase(std::filesystem::path file) : store_(std::move(file)) {}
  /// In the user's cache folder; empty (nothing is remembered) where there is none.
  static std::filesystem::path default_file();

  /// No value if nothing is stored; with a warning, if it does not match the table.
  /// @param problem  family and size of the model, which also decide the fastest variant
  std::optional<TuningValues> find(const DeviceInfo& device, const std::string& problem,
                                   const TuningTable& table) const;
  /// Throws Error (failed) if the file cannot be written.
  void store(const DeviceInfo& device, const std::string& problem, const TuningValues& values) const;
  const std::filesystem::path& file() const { return store_.file(); }

 private:
  JsonStore store_;
};

/// Fingerprint of all results for a device in the default file; changes with `sightline tune`.
std::string tuning_state(const DeviceInfo& device);

/// Stored values for a device in the default file, or else default_values.
TuningValues best_values(const DeviceInfo& device, const std::string& problem, const TuningTable& table);

/// A parameter, and the member that it sets of the structure that a family's host code works with. A bool is
/// a switch.
template <typename Settings>
struct TunedMember {
  TuningParameter parameter;
  std::variant<int Settings::*, bool Settings::*, std::string Settings::*> member;
};

/// A tuning table whose parameters are the members of a structure. Stages and constraints are added as to any
/// table.
template <typename Settings>
class SettingsTable : public TuningTable {
 public:
  explicit SettingsTable(std::vector<TunedMember<Settings>> members) {
    for (TunedMember<Settings>& tied : members) {
      members_.push_back({tied.parameter.name, tied.member});
      parameters.push_back(std::move(tied.parameter));
    }
  }

  /// The values of all members that are parameters.
  TuningValues values(const Settings& settings) const {
    TuningValues all;
    for (const Member& one : members_) {
      std::visit(
          [&](const auto member) {
            if constexpr (std::is_same_v<decltype(member), bool Settings::*const>) {
              all[one.name] = settings.*member ? 1 : 0;
            } else {
              all[one.name] = settings.*member;
            }
          },
          one.member);
    }
    return all;
  }

  /// The inverse; members that are no parameters keep their defaults. Values must have the members' types,
  /// which is_possible ensures.
  Settings settings(const TuningValues& values) const {
    Settings settings;
    for (const Member& one : members_) {
      const TuningValue& value = values.at(one.name);
      std::visit(
          [&](const auto member) {
            if constexpr (std::is_same_v<decltype(member), bool Settings::*const>) {
              settings.*member = std::get<int>(value) != 0;
            } else if constexpr (std::is_same_v<decltype(member), int Settings::*const>) {
              settings.*member = std::get<int>(value);
            } else {
              settings.*member = std::get<std::string>(value);
            }
          },
          one.member);
    }
    return settings;
  }

  /// Untuned defaults for such a device.
  Settings defaults(const DeviceInfo& device) const { return settings(default_values(*this, device)); }
  /// Stored settings for a device and a problem, or else the defaults.
  Settings best(const DeviceInfo& device, const std::string& problem) const {
    return settings(best_values(device, problem, *this));
  }

 private:
  struct Member {
    std::string name;
    std::variant<int Settings::*, bool Settings::*, std::string Settings::*> member;
  };
  std::vector<Member> members_;
};

}  // namespace sightline::opencl
