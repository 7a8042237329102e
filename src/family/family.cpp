#include "family/family.hpp"

#include <algorithm>
#include <cmath>

#include "detection/detector.hpp"
#include "family/counterpart.hpp"
#include "family/family_command.hpp"
#include "family/model_show.hpp"

namespace sightline {
namespace {

constexpr double kCoarsestStep = 1.6;  // beyond, objects are lost between the scales

}  // namespace

bool FamilyInfo::reads(std::string_view key) const {
  return std::ranges::any_of(parameters, [&](const ParameterInfo& own) { return own.key == key; });
}

Family::Family(FamilyInfo info) : info_(std::move(info)) {
  for (const VariantAxis& axis : info_.variant_axes) {
    if (!info_.reads(axis.parameter.key)) info_.parameters.push_back(axis.parameter);
  }
}

std::unique_ptr<Detector> Family::make(const Config& config) const {
  std::unique_ptr<Detector> detector = make_detector(config);
  detector->set_plan_key(config.fingerprint());
  return detector;
}

std::unique_ptr<Detector> Family::make_reference(const Config& /*config*/) const {
  return nullptr;
}

std::unique_ptr<Counterpart> Family::make_counterpart(const Config& /*config*/, int /*threads*/) const {
  return nullptr;
}

std::vector<OperatingPointChanges> Family::settings(const Config& /*config*/,
                                                    const DetectorInfo& made) const {
  std::vector<OperatingPointChanges> all = coarser_scales(made);
  all.insert(all.begin(), OperatingPointChanges());
  return all;
}

// Two thirds, a half and a third as many scales.
std::vector<OperatingPointChanges> Family::coarser_scales(const DetectorInfo& made) {
  std::vector<OperatingPointChanges> all;
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
