#pragma once
/// Description of a detector family: everything that the command line knows about it.
///
/// A family derives one class from Family in its own folder and is listed in detectors/registry.cpp.
/// `sightline` generates its options, help, manual pages and commands from this description.
/// training/registry.cpp lists the families with a trainer.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "params/parameter.hpp"

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
/// Throws Error (input) if the frame is too small, Error (failed) where a variant's result is wrong, and
/// DeviceError.
using TuneFunction = TuningOutcome(const FrameProcessor& processor, const ComputeDevice& device,
                                   PictureView frame, const TuneOptions& options);

/// Times settings of a processor's kernels on a device, with frames of one size
/// (processing/opencl/kernel_sweep.hpp). Throws Error (failed) if a setting's results differ from the CPU's
/// or the run is stopped, Error (usage) for processors without such settings, Error (input) for frames that
/// are too small, and DeviceError.
using SweepFunction = std::vector<KernelSweep>(const FrameProcessor& processor, const ComputeDevice& device,
                                               std::span<const PictureView> frames,
                                               const SweepOptions& options);

/// A family's remark on a key of all families: added to the help of its option.
struct KeyRemark {
  const char* key;
  const char* remark;
};

/// Comparison for `measure`: one detector with several values of one key.
struct VariantAxis {
  ParameterInfo parameter;
  Option option;                    ///< takes several values, separated by commas; without a target
  std::vector<std::string> values;  ///< values of "all"; empty: no such list
  std::string noun;                 ///< noun for a value: "filters"
  /// Only the kernels on the device differ: the result and the windows searched stay the same.
  bool only_kernels = false;
};

/// Changes of one operating point to section [detector]: keys and values. Empty: none.
using OperatingPointChanges = std::vector<std::pair<std::string, Config::Value>>;

/// An example in a manual page.
struct CommandExample {
  std::string page;     ///< the command's full name: "sightline measure"
  std::string command;  ///< a command line without quotes, for it is parsed
  std::string meaning;
};

struct FamilyInfo {
  std::string_view name;            ///< value of key `family`, and NAME in `train NAME`
  std::string_view title;           ///< lower case, plural: "filter banks"
  std::string_view one;             ///< the same of one, with its article: "a filter bank"
  std::string_view commands;        ///< description of the group of its own commands; empty: it has none
  std::string_view model_file;      ///< kind of model file: "Sightline's (.safetensors)"
  std::string_view shipped_config;  ///< name of a configuration that ships and uses the family; empty: none
  /// Parameters of section [detector] that its detectors read, in the order of help; Family adds those of
  /// `variant_axes`. Families may share an option: it sets the key of each.
  std::vector<ParameterInfo> parameters;
  std::vector<KeyRemark> remarks;
  std::vector<VariantAxis> variant_axes;
  /// Values in evaluation, where low scores are wanted too, unless the user says otherwise.
  OperatingPointChanges evaluation_values;
  /// Values with which every window that is left is reported, with its score, instead of the best of
  /// neighbours. None where windows have no scores that could be compared with those of objects.
  OperatingPointChanges ungrouped_values;
  std::vector<CommandExample> examples;  ///< examples of features that only this family has
  /// The library of make_counterpart, as `measure --variants` names it; null if there is none.
  const char* counterpart = nullptr;
  const char* option_for_more = "--threshold";  ///< option whose lower values find more objects
  /// The model file describes the detector completely: --model needs no configuration, and one of another
  /// family is refused.
  bool needs_no_config = false;
  /// Models may be given by names that are no paths.
  bool finds_models_by_name = false;

  bool reads(std::string_view key) const;
};

/// A family. Immutable: thread-safe. Tools are made for each command; null if the family has none.
class Family {
 public:
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  const FamilyInfo& info() const { return info_; }

  /// Makes the detector of section [detector]; its plan key is the configuration's fingerprint. Throws Error
  /// (usage, model).
  std::unique_ptr<Detector> make(const Config& config) const;
  /// The same detector in plain scalar code on one thread: what `measure --variants` compares the others
  /// with. Null if the family has none. Throws as `make`.
  virtual std::unique_ptr<Detector> make_reference(const Config& config) const;
  /// The same model in another library, on `threads` threads (0: all). Null if there is none. Throws like
  /// `make`, and Error (device) if the library is not installed.
  virtual std::unique_ptr<Counterpart> make_counterpart(const Config& config, int threads) const;
  /// The settings that a run may turn between where the user lists none, from the most accurate to the
  /// fastest; the configuration as it is stands among them, without changes. Unless the family says
  /// otherwise: coarser and coarser scales.
  /// @param made  what `make` has made of the configuration says of itself
  virtual std::vector<OperatingPointChanges> settings(const Config& config, const DetectorInfo& made) const;
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
  explicit Family(FamilyInfo info);
  /// Implements `make`. Notes the model's file (Config::note_file).
  virtual std::unique_ptr<Detector> make_detector(const Config& config) const = 0;
  /// Scales coarser than those of `made`, rising; none if it has no scales of its own.
  static std::vector<OperatingPointChanges> coarser_scales(const DetectorInfo& made);

 private:
  FamilyInfo info_;
};

}  // namespace sightline
