#include "family/family.hpp"

#include "family/counterpart.hpp"
#include "family/tools.hpp"

namespace sightline {

KeyOption::KeyOption(std::string of_key, Kind of_kind, std::string option_name, std::string help)
    : key(std::move(of_key)), kind(of_kind) {
  option.name = std::move(option_name);
  option.help = std::move(help);
}

std::unique_ptr<Detector> Family::make_reference(const Config& /*config*/) const {
  return nullptr;
}

std::unique_ptr<Counterpart> Family::make_counterpart(const Config& /*config*/, int /*threads*/) const {
  return nullptr;
}

std::unique_ptr<ModelShow> Family::make_model_show() const {
  return nullptr;
}

std::unique_ptr<Trainer> Family::make_trainer() const {
  return nullptr;
}

std::unique_ptr<WindowScorer> Family::make_window_scorer() const {
  return nullptr;
}

}  // namespace sightline
