#include "detectors/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/error.hpp"
#include "detection/inside_search.hpp"

namespace sightline {

namespace filterbank {
const Family& family();
}
namespace waldboost {
const Family& family();
}
namespace census {
const Family& family();
}
namespace cascade {
const Family& family();
}

namespace {

// The first is the default. A model file belongs to the first that recognises it; cascades recognise any XML.
std::vector<const Family*>& known_families() {
  static std::vector<const Family*> all{&filterbank::family(), &waldboost::family(), &census::family(),
                                        &cascade::family()};
  return all;
}

}  // namespace

std::span<const Family* const> families() {
  return known_families();
}

void add_family(const Family& family) {
  std::vector<const Family*>& all = known_families();
  if (std::ranges::find(all, &family) == all.end()) all.push_back(&family);
}

const Family& family_named(std::string_view name) {
  for (const Family* family : families()) {
    if (family->info().name == name) return *family;
  }
  throw std::out_of_range("there is no detector family '" + std::string(name) + "'");
}

const Family& family_of(const Config& config) {
  const std::string name = config.text("detector", "family", families().front()->info().name);
  std::string known;
  for (const Family* family : families()) {
    const FamilyInfo& info = family->info();
    if (name == info.name) {
      // From the last on: those with options are warned of first.
      for (auto one = info.parameters.rbegin(); one != info.parameters.rend(); ++one) {
        if (one->former) config.accept_former("detector", one->key, one->former);
      }
      return *family;
    }
    known += (known.empty() ? "'" : ", '") + std::string(info.name) + "'";
  }
  throw Error(ExitCode::usage, config.name() + ": detector family '" + name + "' is not known",
              "known are: " + known);
}

const Family* family_of_model(const std::string& model) {
  if (model.empty()) return nullptr;
  for (const Family* family : families()) {
    if (family->recognises(model)) return family;
  }
  return nullptr;
}

Config config_of_model(const Family& family, const std::string& model) {
  Config config = Config::parse(fmt::format("[detector]\nfamily = \"{}\"\n", family.info().name), model);
  config.set("detector", "model", model);
  return config;
}

void use_model(Config& config, const std::string& model) {
  config.set("detector", "model", model);
  for (const ParameterInfo& one : family_of(config).info().parameters) {
    if (one.of_model) config.leave_out("detector", one.key);
  }
}

namespace {

constexpr const char* kInside = "inside";

// Beside the family's own keys: of any detector, and of one inside another.
constexpr const char* kOwnKeys[] = {"family", kInside};
constexpr const char* kPart = "part";

void expect_keys(const Config& config) {
  for (const ParameterInfo& one : family_of(config).info().parameters)
    config.expect("detector", std::array{one.key});
  config.expect("detector", kOwnKeys);
}

constexpr int kMaxDetectors = 16;  // each loads a model

// Detectors inside, each with the keys of its own section.
std::vector<Config> inside_of(const Config& config) {
  return config.tables("detector", kInside);
}

int number_of_detectors(const Config& config) {
  int number = 1;
  for (const Config& one : inside_of(config)) number += number_of_detectors(one);
  return number;
}

void check_inside(const Config& config) {
  for (const Config& one : inside_of(config)) {
    expect_keys(one);
    one.expect("detector", std::array{kPart});
    one.expect_all_known();
    check_inside(one);
  }
}

BoxPart part_of(const Config& config) {
  const auto sides = config.optional_numbers("detector", kPart, 4, -10, 10);
  if (!sides) return {};
  const BoxPart part{(*sides)[0], (*sides)[1], (*sides)[2], (*sides)[3]};
  if (part.left < part.right && part.top < part.bottom) return part;
  throw Error(ExitCode::usage, config.name() + ": 'part' of [[detector.inside]] is empty",
              "give left, top, right and bottom relative to the box, 0 to 1");
}

std::unique_ptr<Detector> make_nested(const Config& config);

// Adds the search inside the boxes that the configuration describes.
void add_inside(CompositeBranch& branch, const Config& config) {
  check_contract(branch.detector().stages(), branch.detector().resources());
  std::vector<InsideDetector> inside;
  for (const Config& one : inside_of(config)) inside.push_back({make_nested(one), part_of(one)});
  if (!inside.empty()) branch.add(make_inside_search(std::move(inside)));
}

CompositeBranch nested_branch(const Config& config, std::unique_ptr<Detector> made = nullptr) {
  CompositeBranch branch(made ? std::move(made) : family_of(config).make(config));
  add_inside(branch, config);
  return branch;
}

std::unique_ptr<Detector> make_nested(const Config& config) {
  return CompositeDetector::compose(nested_branch(config));
}

// Adds the stages of the extensions that the configuration asks for.
void extend(CompositeBranch& branch, const Config& config, std::span<const DetectorExtension> extensions) {
  for (const DetectorExtension& extension : extensions) {
    if (!extension.wanted(config)) continue;
    // If a file with one section has several detectors, only those with the extension's objects get it.
    if (auto behind = extension.make(config, branch.info())) branch.add(std::move(behind));
  }
}

void check_config(const Config& config, std::span<const DetectorExtension> extensions) {
  config.expect_section("schedule");  // the pipeline's, which may not be there at all
  config.expect_section("knob");      // likewise
  check_detector_config(config, extensions);
}

// Displayed name of an operating point: variant of the model, scales, and other changes.
std::string setting_name(const FamilyInfo& family, const DetectorInfo& info,
                         const OperatingPointChanges& changes) {
  std::string name = info.variant;
  const auto is_said = [&](const std::string& key) {
    if (key == "scale_step") return true;
    return !info.variant.empty() && std::ranges::any_of(family.variant_axes, [&](const VariantAxis& axis) {
      return axis.parameter.key == key && !axis.only_kernels;
    });
  };
  const auto add = [&](const std::string& text) { name += (name.empty() ? "" : ", ") + text; };
  if (info.scale_step > 0) add(fmt::format("step {:.4g}", info.scale_step));
  for (const auto& [key, value] : changes) {
    if (is_said(key)) continue;
    add(key + " " +
        (std::holds_alternative<double>(value) ? fmt::format("{:g}", std::get<double>(value))
                                               : std::get<std::string>(value)));
  }
  return name;
}

}  // namespace

void check_number_of_detectors(std::span<const Config> configs) {
  int number = 0;
  for (const Config& config : configs) number += number_of_detectors(config);
  if (number <= kMaxDetectors) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: {} detectors are configured, more than the limit of {}",
                          configs.front().name(), number, kMaxDetectors),
              "combine fewer configurations, or remove [[detector.inside]] sections");
}

void check_detector_config(const Config& config, std::span<const DetectorExtension> extensions) {
  check_number_of_detectors({&config, 1});
  expect_keys(config);
  for (const DetectorExtension& extension : extensions) {
    if (extension.wanted(config)) extension.check(config);
  }
  config.expect_all_known();
  check_inside(config);
}

CompositeBranch make_branch(const Config& config, std::span<const DetectorExtension> extensions,
                            std::unique_ptr<Detector> made) {
  check_config(config, extensions);
  CompositeBranch branch = nested_branch(config, std::move(made));
  extend(branch, config, extensions);
  return branch;
}

CompositeBranch make_branch(const Config& configuration, const DetectorInfo& made,
                            std::span<const ConfiguredSetting> settings,
                            std::span<const DetectorExtension> extensions) {
  check_config(configuration, extensions);
  const Family& family = family_of(configuration);
  const std::string used = setting_name(family.info(), made, {});
  std::vector<NamedDetector> points;
  std::size_t configured = 0;
  for (const ConfiguredSetting& setting : settings) {
    check_config(setting.config, extensions);
    std::unique_ptr<Detector> detector = family.make(setting.config);
    std::string name = setting_name(family.info(), detector->info(), setting.changes);
    if (name == used) {
      configured = points.size();
      detector->set_plan_key(made.plan_key);
    }
    points.push_back({std::move(name), std::move(detector)});
  }
  CompositeBranch branch(std::move(points), configured);
  add_inside(branch, configuration);
  extend(branch, configuration, extensions);
  return branch;
}

std::unique_ptr<Detector> make_detector(const Config& config, std::span<const DetectorExtension> extensions) {
  return CompositeDetector::compose(make_branch(config, extensions));
}

std::unique_ptr<Detector> make_detector(const Config& config) {
  return make_detector(config, {});
}

}  // namespace sightline
