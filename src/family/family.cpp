#include "family/family.hpp"

#include <cmath>

#include "detection/detector.hpp"
#include "family/counterpart.hpp"
#include "family/family_command.hpp"
#include "family/model_show.hpp"

namespace sightline {
namespace {

constexpr double kCoarsestStep = 1.6;  // beyond, objects are lost between the scales

}  // namespace

KeyOption::KeyOption(std::string of_key, Kind of_kind, const std::string& option_name, std::string help)
    : key(std::move(of_key)), kind(of_kind) {
  option.called(option_name);
  option.help = std::move(help);
}

std::unique_ptr<Detector> Family::make_reference(const Config& /*config*/) const {
  return nullptr;
}

std::unique_ptr<Counterpart> Family::make_counterpart(const Config& /*config*/, int /*threads*/) const {
  return nullptr;
}

std::vector<SettingChanges> Family::settings(const Config& /*config*/, const DetectorInfo& made) const {
  std::vector<SettingChanges> all = coarser_scales(made);
  all.insert(all.begin(), SettingChanges());
  return all;
}

// Two thirds, a half and a third as many scales.
std::vector<SettingChanges> Family::coarser_scales(const DetectorInfo& made) {
  std::vector<SettingChanges> all;
  if (made.scale_step <= 1) return all;
  for (const double power : {1.5, 2.0, 3.0}) {
    const double step = std::round(100 * std::pow(made.scale_step, power)) / 100;
    if (step > made.scale_step && step <= kCoarsestStep) all.push_back({{"scale_step", step}});
  }
  return all;
}

std::unique_ptr<ModelShow> Family::make_model_show() const {
  return nullptr;
}

std::vector<std::unique_ptr<FamilyCommand>> Family::make_commands() const {
  return {};
}

}  // namespace sightline
