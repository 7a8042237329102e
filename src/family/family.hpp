#pragma once
/// What a detector family says of itself: all that the command line knows of it.
///
/// A family derives one class from Family, in its own folder, and stands in the list of
/// detector_families.cpp. `sightline` makes its options, its help, its manual pages and its commands of what
/// is said here. training/registry.hpp lists the families that have a trainer.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "base/options.hpp"

namespace sightline {

class ComputeDevice;
class Counterpart;
class Detector;
class FamilyCommand;
class FrameProcessor;
class ModelShow;
class PictureView;
struct DetectorInfo;
struct KernelSweep;
struct SweepOptions;
struct TuneOptions;
struct TuningOutcome;

/// Finds the fastest variants of a processor's kernels on a device (processing/opencl/opencl_tuner.hpp).
/// Throws Error (input) where the frame is too small, Error (failed) where a variant's result is wrong, and
/// DeviceError.
using TuneFunction = TuningOutcome(const FrameProcessor& processor, const ComputeDevice& device,
                                   PictureView frame, const TuneOptions& options);

/// Times settings of a processor's kernels on a device, with frames of one size
/// (processing/opencl/kernel_sweep.hpp). Each must give the CPU's results on every frame, or it is an Error
/// (failed); so is being stopped. Throws Error (usage) for processors whose kernels have no such settings,
/// Error (input) where frames are too small, and DeviceError.
using SweepFunction = std::vector<KernelSweep>(const FrameProcessor& processor, const ComputeDevice& device,
                                               std::span<const PictureView> frames,
                                               const SweepOptions& options);

/// A key of section [detector] that has had another name, which goes on working.
struct RenamedKey {
  const char* former;
  const char* name;
};

/// An option that sets a key of section [detector]. Families may share one: the key of both is set.
struct KeyOption {
  enum class Kind { whole_number, number, text, sets_true, sets_false };
  /// The option's name is read by Option::called.
  KeyOption(std::string key, Kind kind, const std::string& option_name, std::string help);
  std::string key;
  Kind kind;
  Option option;  ///< without a target, which is the parser's
};

/// What a key that all families have means to one of them: added to its option's help.
struct KeyRemark {
  const char* key;
  const char* remark;
};

/// A value that a key has in evaluation, where low scores are wanted too, unless the user says otherwise.
struct EvaluationValue {
  const char* key;
  double value;
};

/// What `measure` can compare: the same detector with one key set to several values, one after the other.
struct VariantAxis {
  KeyOption option;                 ///< takes several values, separated by commas
  std::vector<std::string> values;  ///< what "all" stands for; empty where there is no such list
  std::string noun;                 ///< what a value counts or names, for people: "filters"
  /// Only the kernels on the device differ: the result and the windows searched stay the same.
  bool only_kernels = false;
};

/// What one setting of a detector changes of section [detector]: keys and their values. Empty: nothing.
using SettingChanges = std::vector<std::pair<std::string, Config::Value>>;

/// An example in a manual page.
struct CommandExample {
  std::string page;     ///< the command's full name: "sightline measure"
  std::string command;  ///< a command line without quotes, for it is parsed
  std::string meaning;
};

struct FamilyInfo {
  std::string_view name;                     ///< of key `family`, and of `train NAME`
  std::string_view title;                    ///< for people, in lower case and the plural: "filter banks"
  std::string_view one;                      ///< the same of one, with its article: "a filter bank"
  std::string_view model_file;               ///< what a model file is: "Sightline's (.safetensors)"
  std::string_view shipped_config;  ///< name of a configuration that ships and uses the family; empty: none
  std::span<const char* const> config_keys;  ///< that its detectors read of section [detector]
  std::vector<RenamedKey> renamed_keys;
  /// Keys that say something of the configuration's own model: left out where another one is named.
  std::vector<const char*> model_keys;
  std::vector<KeyOption> options;  ///< beside those that all families have
  std::vector<KeyRemark> remarks;
  std::vector<VariantAxis> variant_axes;
  std::vector<EvaluationValue> evaluation_values;
  /// Values with which every window that is left is reported, with its score, instead of the best of
  /// neighbours. None where windows have no scores that could be compared with those of objects.
  std::vector<EvaluationValue> ungrouped_values;
  std::vector<CommandExample> examples;  ///< of what only this family has
  /// The library of make_counterpart, as `measure --variants` names it; null where there is none.
  const char* counterpart = nullptr;
  const char* option_for_more = "--threshold";  ///< that finds more objects when it is lower
  /// A model says all that a detector needs: with --model no configuration has to be named, and one of
  /// another family is refused.
  bool needs_no_config = false;
  /// Models may be given by names that are no paths.
  bool finds_models_by_name = false;
};

/// A family. Immutable: thread-safe. The tools are made anew for each command; null where the family has
/// none.
class Family {
 public:
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  const FamilyInfo& info() const { return info_; }

  /// Makes the detector of section [detector]. Throws Error (usage, model).
  virtual std::unique_ptr<Detector> make(const Config& config) const = 0;
  /// The same detector in plain scalar code on one thread: what `measure --variants` compares the others
  /// with. Null where the family has none. Throws as `make`.
  virtual std::unique_ptr<Detector> make_reference(const Config& config) const;
  /// The same model in another library, on so many threads (0: all). Null where there is none. Throws as
  /// `make`, and Error (device) where the library is not installed.
  virtual std::unique_ptr<Counterpart> make_counterpart(const Config& config, int threads) const;
  /// The settings that a run may turn between where the user lists none, from the most accurate to the
  /// fastest; the configuration as it is stands among them, without changes. Unless the family says
  /// otherwise: coarser and coarser scales.
  /// @param made  what `make` has made of the configuration says of itself
  virtual std::vector<SettingChanges> settings(const Config& config, const DetectorInfo& made) const;
  /// Whether a file, or a name that is no path, looks like a model of this family. It need not be there.
  virtual bool recognises(const std::string& model) const = 0;
  /// The key under which the header of the configuration's model file keeps a ScoreCalibration; empty where
  /// the model cannot keep one.
  virtual std::string calibration_key(const Config& /*config*/) const { return {}; }
  /// Names that models may be given by, of those that are there; for completion.
  virtual std::vector<std::string> model_names() const { return {}; }

  virtual std::unique_ptr<ModelShow> make_model_show() const;
  /// Commands of the family's own, for `sightline NAME COMMAND`.
  virtual std::vector<std::unique_ptr<FamilyCommand>> make_commands() const;
  /// Finds the fastest variants of the kernels on a device, for `tune`.
  virtual TuneFunction* tune_function() const { return nullptr; }
  /// Times settings of the kernels side by side, for `measure --sweep`.
  virtual SweepFunction* sweep_function() const { return nullptr; }

 protected:
  explicit Family(FamilyInfo info) : info_(std::move(info)) {}
  /// Coarser scales than those of `made`, rising; none where it has no scales of its own.
  static std::vector<SettingChanges> coarser_scales(const DetectorInfo& made);

 private:
  FamilyInfo info_;
};

}  // namespace sightline
