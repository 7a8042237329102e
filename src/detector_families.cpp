#include "detector_families.hpp"

#include <span>

#include "base/error.hpp"
#include "cascade/detector.hpp"
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

}  // namespace

void check_detector_config(const Config& config) {
  config.expect("detector", family_of(config).keys);
  config.expect_all_known();
}

std::unique_ptr<Detector> make_detector(const Config& config) {
  config.expect_section("schedule");  // the pipeline's, which may not be there at all
  check_detector_config(config);
  return family_of(config).make(config);
}

}  // namespace sightline
