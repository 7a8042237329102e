#pragma once
/// Interface of a trainer whose model belongs to no detector family, for `sightline train NAME`.

#include <filesystem>
#include <string>

#include "params/options.hpp"
#include "training/progress.hpp"

namespace sightline::training {

/// Its options' values go into the object itself, so that one object serves one command. Unlike a family's
/// (class Trainer), it says itself which pictures it takes and how: few models are made of positives and
/// negatives. Thread-safety: one thread at a time.
class StandaloneTrainer {
 public:
  virtual ~StandaloneTrainer() = default;
  virtual std::string name() const = 0;         ///< name of the command; differs from all families' names
  virtual std::string description() const = 0;  ///< description of the command in --help
  virtual OptionSet options() = 0;
  /// Default name of the model file.
  virtual std::string default_output() const { return name() + ".safetensors"; }
  /// Command that judges a model, for the user to complete: "sightline evaluate landmarks ...".
  virtual std::string judging_command(const std::filesystem::path& model) const = 0;
  /// Checks options that only make sense together. Throws Error (usage).
  virtual void check() {}
  /// Whether finished steps are kept on the way, with the options as they are.
  virtual bool keeps_steps() const { return true; }
  /// Trains, and writes the model once it is there. After check() only.
  /// @param state   folder of finished steps, from which training resumes; not made where none are kept
  /// @param report  see ReportProgress
  /// Throws TrainingStopped, and Error (input, failed).
  virtual void train(const std::filesystem::path& state, const std::filesystem::path& output,
                     const ReportProgress& report) = 0;
};

}  // namespace sightline::training
