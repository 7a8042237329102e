#include "filterbank/training/state.hpp"

#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "model/safetensors.hpp"

namespace sightline::filterbank {
namespace {

// The container, where it exists, is whole and belongs to this run.
std::optional<Safetensors> load(const std::filesystem::path& file, const std::string& signature) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  try {
    Safetensors container = Safetensors::load(file);
    const auto found = container.metadata.find("signature");
    if (found != container.metadata.end() && found->second == signature) return container;
    spdlog::info("{}: made with other options or pictures, starting afresh", file.string());
  } catch (const Error& e) {
    spdlog::warn("{}; the step is done again", e.what());
  }
  return std::nullopt;
}

std::string name_of(const char* what, int size, int step) {
  return std::string(what) + "-" + std::to_string(size) + "-" + std::to_string(step);
}

}  // namespace

TrainingState::TrainingState(std::filesystem::path folder, std::string signature)
    : folder_(std::move(folder)), signature_(std::move(signature)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ExitCode::failed, "the folder '" + folder_.string() + "' cannot be made: " + error.message(),
                "choose another with --state");
  }
}

template <typename FilterType>
std::optional<std::vector<FilterType>> TrainingState::dictionary() const {
  constexpr std::size_t taps = std::tuple_size_v<FilterType>;
  const auto container = load(file("dictionary"), signature_);
  if (!container) return std::nullopt;
  const auto values = container->array<float>("filters", {Safetensors::kAny, taps});
  std::vector<FilterType> filters(values.size() / taps);
  for (std::size_t i = 0; i < values.size(); ++i) filters[i / taps][i % taps] = values[i];
  return filters;
}

template <typename FilterType>
void TrainingState::save_dictionary(const std::vector<FilterType>& filters) const {
  std::vector<float> values;
  for (const FilterType& f : filters) values.insert(values.end(), f.begin(), f.end());
  Safetensors container;
  container.metadata["signature"] = signature_;
  container.set<float>("filters", {static_cast<std::int64_t>(filters.size()), std::tuple_size_v<FilterType>},
                       values);
  container.save(file("dictionary"));
}

template std::optional<std::vector<FloatFilter>> TrainingState::dictionary() const;
template std::optional<std::vector<LargeFilter>> TrainingState::dictionary() const;
template void TrainingState::save_dictionary(const std::vector<FloatFilter>&) const;
template void TrainingState::save_dictionary(const std::vector<LargeFilter>&) const;

std::optional<std::vector<WindowKey>> TrainingState::negatives(int size, int step) const {
  const auto container = load(file(name_of("negatives", size, step)), signature_);
  if (!container) return std::nullopt;
  const auto values = container->array<std::int32_t>("windows", {Safetensors::kAny, 4});
  std::vector<WindowKey> keys(values.size() / 4);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = {static_cast<std::uint32_t>(values[4 * i]), static_cast<std::uint16_t>(values[4 * i + 1]),
               static_cast<std::uint16_t>(values[4 * i + 2]), static_cast<std::uint16_t>(values[4 * i + 3])};
  }
  return keys;
}

void TrainingState::save_negatives(int size, int step, const std::vector<WindowKey>& keys) const {
  std::vector<std::int32_t> values;
  for (const WindowKey& key : keys) {
    values.insert(values.end(), {static_cast<std::int32_t>(key.image), key.level, key.x, key.y});
  }
  Safetensors container;
  container.metadata["signature"] = signature_;
  container.set<std::int32_t>("windows", {static_cast<std::int64_t>(keys.size()), 4}, values);
  container.save(file(name_of("negatives", size, step)));
}

std::optional<TrainedClassifier> TrainingState::classifier(int size, int step) const {
  const auto container = load(file(name_of("classifier", size, step)), signature_);
  if (!container) return std::nullopt;
  const auto weights = container->array<std::int8_t>("weights", {Safetensors::kAny});
  return TrainedClassifier{{weights.begin(), weights.end()},
                           container->array<std::int64_t>("bias", {1})[0],
                           container->array<double>("scale", {1})[0],
                           container->array<std::int64_t>("negatives", {1})[0]};
}

void TrainingState::save_classifier(int size, int step, const TrainedClassifier& classifier) const {
  Safetensors container;
  container.metadata["signature"] = signature_;
  container.set<std::int8_t>("weights", {static_cast<std::int64_t>(classifier.weights.size())},
                             classifier.weights);
  container.set<std::int64_t>("bias", {1}, std::span(&classifier.bias, 1));
  container.set<double>("scale", {1}, std::span(&classifier.scale, 1));
  container.set<std::int64_t>("negatives", {1}, std::span(&classifier.negatives, 1));
  container.save(file(name_of("classifier", size, step)));
}

}  // namespace sightline::filterbank
