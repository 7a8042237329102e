#pragma once
/// Interface of a scorer of single windows.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/curves.hpp"
#include "params/config.hpp"
#include "params/options.hpp"
#include "training/image_set.hpp"

namespace sightline {

/// The scores of windows: one for each positive, and all of the negatives'.
struct WindowScores {
  std::vector<double> positives;
  NegativeScores negatives;
};

/// Options of the search for windows in negatives.
struct WindowSearch {
  double scale_step = 1.2;                 ///< ratio of neighbouring scales, above 1
  std::function<void()> throw_if_stopped;  ///< called before every picture, from several threads at once
};

/// Evaluation stored in a model file.
struct StoredEvaluation {
  double miss_rate_at_1e4 = 0;  ///< 0..1, at 1e-4 false positives a window
  double miss_rate_at_1e5 = 0;
  std::string data;  ///< description of the test data
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

/// Scores the windows of models: `evaluate windows`. The values of its options go into the object itself, so
/// that one object serves one command. Thread-safety: one thread at a time.
class WindowScorer {
 public:
  virtual ~WindowScorer() = default;
  virtual OptionSet options() = 0;
  /// Throws Error (usage) if the options differ from those of a stored evaluation.
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
