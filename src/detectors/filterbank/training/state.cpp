#include "detectors/filterbank/training/state.hpp"

#include <span>
#include <utility>

namespace sightline::filterbank {

using training::TrainingState;

std::string step_name(const char* what, int size, int step) {
  return std::string(what) + "-" + std::to_string(size) + "-" + std::to_string(step);
}

template <typename FilterType>
std::optional<std::vector<FilterType>> load_dictionary(const TrainingState& state) {
  return state.load("dictionary", [](const Safetensors& arrays) {
    constexpr std::size_t taps = std::tuple_size_v<FilterType>;
    const auto values = arrays.array<float>("filters", {Safetensors::kAny, taps});
    std::vector<FilterType> filters(values.size() / taps);
    for (std::size_t i = 0; i < values.size(); ++i) filters[i / taps][i % taps] = values[i];
    return filters;
  });
}

template <typename FilterType>
void save_dictionary(const TrainingState& state, const std::vector<FilterType>& filters) {
  std::vector<float> values;
  for (const FilterType& f : filters) values.insert(values.end(), f.begin(), f.end());
  Safetensors arrays;
  arrays.set<float>("filters", {static_cast<std::int64_t>(filters.size()), std::tuple_size_v<FilterType>},
                    values);
  state.save("dictionary", std::move(arrays));
}

template std::optional<std::vector<FloatFilter>> load_dictionary(const TrainingState&);
template std::optional<std::vector<LargeFilter>> load_dictionary(const TrainingState&);
template void save_dictionary(const TrainingState&, const std::vector<FloatFilter>&);
template void save_dictionary(const TrainingState&, const std::vector<LargeFilter>&);

std::optional<TrainedClassifier> load_classifier(const TrainingState& state, int size, int step) {
  return state.load(step_name("classifier", size, step), [](const Safetensors& arrays) {
    const auto weights = arrays.array<std::int8_t>("weights", {Safetensors::kAny});
    return TrainedClassifier{{weights.begin(), weights.end()},
                             arrays.array<std::int64_t>("bias", {1})[0],
                             arrays.array<double>("scale", {1})[0],
                             arrays.array<std::int64_t>("negatives", {1})[0]};
  });
}

void save_classifier(const TrainingState& state, int size, int step, const TrainedClassifier& classifier) {
  Safetensors arrays;
  arrays.set<std::int8_t>("weights", {static_cast<std::int64_t>(classifier.weights.size())},
                          classifier.weights);
  arrays.set<std::int64_t>("bias", {1}, std::span(&classifier.bias, 1));
  arrays.set<double>("scale", {1}, std::span(&classifier.scale, 1));
  arrays.set<std::int64_t>("negatives", {1}, std::span(&classifier.negatives, 1));
  state.save(step_name("classifier", size, step), std::move(arrays));
}

}  // namespace sightline::filterbank
