#pragma once
/// What a family may offer beside its detectors: a description of its models, a trainer, scores of single
/// windows. Each has options of its own, whose values go into the object that offers them, so that
/// one object serves one command. Thread-safety: one thread at a time.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.hpp"
#include "base/options.hpp"
#include "detection/detector.hpp"
#include "evaluation/curves.hpp"
#include "image/picture_view.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"

namespace sightline {

/// What a command lends to the description of a model.
struct ShowContext {
  std::optional<int> max_model_size;  ///< MiB of the largest file that is taken; none: the family's limit
  std::function<void(std::string_view)> print;
  /// Calls `each` with every picture of a file or a folder. Throws Error (input), and Error (failed) where
  /// the user has asked to stop.
  std::function<void(const std::string& path, const std::function<void(PictureView)>& each)> pictures;
};

/// What `model show` says of a model.
class ModelShow {
 public:
  virtual ~ModelShow() = default;
  virtual OptionSet options() { return {}; }
  /// @param model  a file, or a name that the family knows
  /// Throws Error (usage, model, input).
  virtual void show(const std::string& model, const ShowContext& context) = 0;
};

/// An option of a trainer, a number, of which a model each is trained for several values, to choose one.
struct SweptOption {
  std::string name;            ///< "--false-alarm"
  std::vector<double> values;  ///< all of them
};

/// Makes a model from pictures: `train NAME`.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual std::string description() const = 0;  ///< of the command, as --help says it
  virtual OptionSet options() = 0;
  /// Checks options that only make sense together. Throws Error (usage).
  virtual void check() = 0;
  /// What positives have to show around the object, in parts of its width and height on each side; none where
  /// they cannot be cut out of pictures by boxes. After check().
  virtual std::optional<double> margin() const { return std::nullopt; }
  /// What the model's file is called where --output does not say it.
  virtual std::string default_output() const { return "model.safetensors"; }
  /// The option of `train NAME --sweep`; none where there is no such thing.
  virtual std::optional<SweptOption> swept() const { return std::nullopt; }
  /// As if that option had been given. Before check().
  virtual void sweep_to(double /*value*/) {}
  /// What a log says of a run beside its pictures: "seed 1".
  virtual std::string summary() const = 0;
  /// Trains, and writes the model once it is there. After check() only.
  /// @param state   folder of finished steps, from which training resumes
  /// @param report  see training::ReportProgress
  /// Throws training::TrainingStopped, and Error (input, failed).
  virtual void train(const training::ImageSet& positives, const training::ImageSet& negatives,
                     const std::filesystem::path& state, const std::filesystem::path& output,
                     const training::ReportProgress& report) = 0;
};

/// The scores of windows: one for each positive, and all of the negatives'.
struct WindowScores {
  std::vector<double> positives;
  NegativeScores negatives;
};

/// How negatives are searched for windows.
struct WindowSearch {
  double scale_step = 1.2;                 ///< ratio of neighbouring scales, above 1
  std::function<void()> throw_if_stopped;  ///< called before every picture, from several threads at once
};

/// What is kept in a model file of how good it was found to be.
struct StoredEvaluation {
  double miss_rate_at_1e4 = 0;  ///< 0..1, at so many false positives a window
  double miss_rate_at_1e5 = 0;
  std::string data;  ///< for people: what it was measured on
};

/// A model, in one of its sizes where it has several, whose windows can be scored one by one.
class WindowModel {
 public:
  virtual ~WindowModel() = default;
  virtual const std::filesystem::path& file() const = 0;
  virtual std::string size_text() const = 0;  ///< "25 filters"
  virtual int stride() const = 0;             ///< pixels from window to window
  /// @param positives  one object in the middle of each picture; smaller ones than the window are an Error
  ///                   (input)
  /// @param negatives  all windows of which are scored, on all scales
  virtual WindowScores score(const training::ImageSet& positives, const training::ImageSet& negatives,
                             const WindowSearch& search) const = 0;
  /// Puts an evaluation into the model's file. Throws Error (failed, model).
  virtual void store(const StoredEvaluation& evaluation) const = 0;
};

/// Scores the windows of models: `evaluate windows`.
class WindowScorer {
 public:
  virtual ~WindowScorer() = default;
  virtual OptionSet options() = 0;
  /// Throws Error (usage) where the options ask for something else than what a stored evaluation stands for.
  virtual void check_storable() const = 0;
  /// The model in all the sizes that were asked for. Throws Error (usage, model).
  /// @param max_size  MiB of the largest file that is taken; none: the family's limit
  virtual std::vector<std::unique_ptr<WindowModel>> load(const std::filesystem::path& file,
                                                         std::optional<int> max_size) const = 0;
  /// The same of the configuration's model, in the configuration's size unless the options name others.
  virtual std::vector<std::unique_ptr<WindowModel>> load(const Config& config,
                                                         std::optional<int> max_size) const = 0;
};

}  // namespace sightline
