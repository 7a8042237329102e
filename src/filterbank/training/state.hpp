#pragma once
/// What a training run keeps on disk so that it can be stopped and resumed: the dictionary and, for each of
/// the model's sizes, which windows were added as negatives and the classifier after each step. Features are
/// computed again, which is cheap.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "filterbank/dictionary.hpp"

namespace sightline::filterbank {

/// One window of the pyramid over one negative picture.
struct WindowKey {
  std::uint32_t image = 0;
  std::uint16_t level = 0;
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  friend auto operator<=>(const WindowKey&, const WindowKey&) = default;
};

/// What a step of one size ends with.
struct TrainedClassifier {
  std::vector<std::int8_t> weights;
  std::int64_t bias = 0;
  double scale = 1;
  std::int64_t negatives = 0;  ///< windows that it was trained against
};

/// Steps are numbered: 0 has the random negatives, then one a round. `size` is a number of filters.
/// Thread-safety: one thread at a time. Writes are atomic (temporary name, then rename). A folder that was
/// made with another `signature` is ignored and overwritten.
class TrainingState {
 public:
  TrainingState(std::filesystem::path folder, std::string signature);

  /// Ordered, see order_filters. For FloatFilter and LargeFilter.
  template <typename FilterType>
  std::optional<std::vector<FilterType>> dictionary() const;
  template <typename FilterType>
  void save_dictionary(const std::vector<FilterType>& filters) const;

  /// The negatives that a step added.
  std::optional<std::vector<WindowKey>> negatives(int size, int step) const;
  void save_negatives(int size, int step, const std::vector<WindowKey>& keys) const;

  std::optional<TrainedClassifier> classifier(int size, int step) const;
  void save_classifier(int size, int step, const TrainedClassifier& classifier) const;

 private:
  std::filesystem::path file(const std::string& name) const { return folder_ / (name + ".safetensors"); }
  std::filesystem::path folder_;
  std::string signature_;
};

}  // namespace sightline::filterbank
