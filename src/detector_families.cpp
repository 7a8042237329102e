#include "detector_families.hpp"

#include <array>
#include <span>

#include "base/error.hpp"
#include "cascade/detector.hpp"
#include "detection/nested_detector.hpp"
#include "filterbank/detector.hpp"

namespace sightline {
namespace {

struct Family {
  const char* name;
  std::unique_ptr<Detector> (*make)(const Config&);
  std::span<const char* const> keys;  // that it reads of [detector]
};

// A new family is one folder and one line here, with its keys.
constexpr Family kFamilies[] = {
    {"filterbank",
     [](const Config& config) -> std::unique_ptr<Detector> {
       return filterbank::make_filterbank_detector(config);
     },
     filterbank::kConfigKeys},
    {"cascade",
     [](const Config& config) -> std::unique_ptr<Detector> { return cascade::make_cascade_detector(config); },
     cascade::kConfigKeys},
};

constexpr const char* kInside = "inside";

const Family& family_of(const Config& config) {
  const std::string name = config.text("detector", "family", "filterbank");
  std::string known;
  for (const Family& family : kFamilies) {
    if (name == family.name) return family;
    known += (known.empty() ? "'" : ", '") + std::string(family.name) + "'";
  }
  throw Error(ExitCode::usage, config.name() + ": detector family '" + name + "' is not known",
              "known are: " + known);
}

// Beside the family's own keys: of any detector, and of one inside another.
constexpr const char* kOwnKeys[] = {"family", kInside};
constexpr const char* kPart = "part";

void expect_keys(const Config& config) {
  config.expect("detector", family_of(config).keys);
  config.expect("detector", kOwnKeys);
}

// Those inside, each with what its own section says.
std::vector<Config> inside_of(const Config& config) {
  return config.tables("detector", kInside);
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
              "give left, top, right and bottom, in parts of the box from 0 to 1");
}

std::unique_ptr<Detector> make_nested(const Config& config) {
  std::unique_ptr<Detector> detector = family_of(config).make(config);
  check_contract(detector->stages(), detector->resources());
  std::vector<InsideDetector> inside;
  for (const Config& one : inside_of(config)) inside.push_back({make_nested(one), part_of(one)});
  if (inside.empty()) return detector;
  return std::make_unique<NestedDetector>(std::move(detector), std::move(inside));
}

}  // namespace

void check_detector_config(const Config& config) {
  expect_keys(config);
  config.expect_all_known();
  check_inside(config);
}

std::unique_ptr<Detector> make_detector(const Config& config) {
  config.expect_section("schedule");  // the pipeline's, which may not be there at all
  check_detector_config(config);
  return make_nested(config);
}

}  // namespace sightline
