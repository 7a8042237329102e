#include "training/state.hpp"

#include <functional>
#include <utility>

#include "base/log.hpp"

namespace sightline::training {

std::string run_signature(std::string_view options, std::initializer_list<const ImageSet*> sets) {
  std::string signature(options);
  for (const ImageSet* set : sets) {
    std::string names;
    for (std::size_t i = 0; i < set->size(); ++i) names += set->name(i) + '\n';
    signature +=
        "; " + std::to_string(set->size()) + " pictures " + std::to_string(std::hash<std::string>()(names));
  }
  return signature;
}

TrainingState::TrainingState(std::filesystem::path folder, std::string signature)
    : folder_(std::move(folder)), signature_(std::move(signature)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ExitCode::failed, "cannot create the folder '" + folder_.string() + "': " + error.message(),
                "choose another with --state"_message);
  }
}

std::optional<Safetensors> TrainingState::find(const std::string& step) const {
  const std::filesystem::path path = file(step);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  try {
    Safetensors arrays = Safetensors::load(path);
    const auto found = arrays.metadata.find("signature");
    if (found != arrays.metadata.end() && found->second == signature_) return arrays;
    logger().info("{}: made with other options or pictures, starting again", path.string());
  } catch (const Error& damage) {
    report_damage(damage);
  }
  return std::nullopt;
}

void TrainingState::report_damage(const Error& error) {
  logger().warn("{}; repeating the step", error.what());
}

void TrainingState::save(const std::string& step, Safetensors arrays) const {
  arrays.metadata["signature"] = signature_;
  arrays.save(file(step));
}

}  // namespace sightline::training
