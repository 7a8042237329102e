#pragma once
/// Content of this family's training state (training/state.hpp): the dictionary and, for each of the model's
/// sizes, the added negatives and the classifier after each step.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detectors/filterbank/dictionary.hpp"
#include "training/state.hpp"

namespace sightline::filterbank {

/// Result of a step of one size.
struct TrainedClassifier {
  std::vector<std::int8_t> weights;
  std::int64_t bias = 0;
  double scale = 1;
  std::int64_t negatives = 0;  ///< windows that it was trained against
};

/// The name of a step's file. Steps are numbered: 0 has the random negatives, then one a round.
/// @param size  of the dictionary, in filters
std::string step_name(const char* what, int size, int step);

/// Ordered, see order_filters. For FloatFilter and LargeFilter.
template <typename FilterType>
std::optional<std::vector<FilterType>> load_dictionary(const training::TrainingState& state);
template <typename FilterType>
void save_dictionary(const training::TrainingState& state, const std::vector<FilterType>& filters);

std::optional<TrainedClassifier> load_classifier(const training::TrainingState& state, int size, int step);
void save_classifier(const training::TrainingState& state, int size, int step,
                     const TrainedClassifier& classifier);

}  // namespace sightline::filterbank
