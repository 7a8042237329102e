#include "family/family.hpp"

#include <algorithm>
#include <cmath>

#include "detection/candidate_limit.hpp"
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

std::vector<KeyOption> window_options() {
  using Kind = KeyOption::Kind;
  std::vector<KeyOption> options{
      {"scale_step", Kind::number, "--scale-step RATIO",
       "Ratio of neighbouring scales, above 1; smaller finds more, slower (OpenCV's scaleFactor)"},
      {"min_size", Kind::number, "--min-size PX",
       "Minimum height of an object, in pixels; smaller costs more"},
      {"max_size", Kind::number, "--max-size PX",
       "Maximum height of an object, in pixels (OpenCV's maxSize)"},
      {"max_candidates", Kind::whole_number, "--max-candidates N",
       "Maximum number of windows of a frame that are kept before overlapping ones are joined: the best"}};
  options.back().option.between(1, kMostCandidates);
  return options;
}

Family::Family(FamilyInfo info) : info_(std::move(info)) {
  std::vector<std::string>& keys = info_.config_keys;
  const auto add = [&](const KeyOption& option) {
    if (std::ranges::find(keys, option.key) == keys.end()) keys.push_back(option.key);
  };
  for (const KeyOption& option : info_.options) add(option);
  for (const VariantAxis& axis : info_.variant_axes) add(axis.option);
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
