#pragma once
/// Interface of a trainer of a detector family's models.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "params/options.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"

namespace sightline {

/// An option of a trainer, a number, of which a model each is trained for several values, to choose one.
struct SweptOption {
  std::string name;            ///< "--false-alarm"
  std::vector<double> values;  ///< all of them
};

/// Makes a model from pictures: `train NAME`. The values of its options go into the object itself, so that
/// one object serves one command. Thread-safety: one thread at a time.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual std::string description() const = 0;  ///< description of the command in --help
  virtual OptionSet options() = 0;
  /// Checks options that only make sense together. Throws Error (usage).
  virtual void check() = 0;
  /// Margin that positives need around the object on each side, relative to its width and height; none if
  /// they cannot be cut out by boxes. After check().
  virtual std::optional<double> margin() const { return std::nullopt; }
  /// Fewest positives that a model can be made of.
  virtual std::size_t fewest_positives() const { return 3; }
  /// Default name of the model file.
  virtual std::string default_output() const { return "model.safetensors"; }
  /// The option of `train NAME --sweep`; none if there is no such thing.
  virtual std::optional<SweptOption> swept() const { return std::nullopt; }
  /// Sets the value of that option. Before check().
  virtual void sweep_to(double /*value*/) {}
  /// Description of a run for logs, apart from its pictures: "seed 1".
  virtual std::string summary() const = 0;
  /// Trains, and writes the model once it is there. After check() only.
  /// @param state   folder of finished steps, from which training resumes
  /// @param report  see training::ReportProgress
  /// Throws training::TrainingStopped, and Error (input, failed).
  virtual void train(const training::ImageSet& positives, const training::ImageSet& negatives,
                     const std::filesystem::path& state, const std::filesystem::path& output,
                     const training::ReportProgress& report) = 0;
};

}  // namespace sightline
