#include "detector_families.hpp"

#include "base/error.hpp"
#include "filterbank/detector.hpp"

namespace sightline {
namespace {

struct Family {
  const char* name;
  std::unique_ptr<Detector> (*make)(const Config&);
};

// A new family is one folder and one line here.
constexpr Family kFamilies[] = {
    {"filterbank",
     [](const Config& config) -> std::unique_ptr<Detector> {
       return filterbank::make_filterbank_detector(config);
     }},
};

}  // namespace

std::unique_ptr<Detector> make_detector(const Config& config) {
  const std::string name = config.text("detector", "family", "filterbank");
  std::string known;
  for (const Family& family : kFamilies) {
    if (name == family.name) {
      auto detector = family.make(config);
      config.expect_all_known();
      return detector;
    }
    known += (known.empty() ? "'" : ", '") + std::string(family.name) + "'";
  }
  throw Error(ExitCode::usage, config.name() + ": detector family '" + name + "' is not known",
              "known are: " + known);
}

}  // namespace sightline
