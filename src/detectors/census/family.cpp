// Description of the census family, for the list of families.
#include "detectors/census/detector.hpp"
#include "detectors/census/model_show.hpp"
#include "detectors/census/opencl/tuning.hpp"
#include "family/pixel_window_info.hpp"

namespace sightline::census {
namespace {

FamilyInfo info() {
  FamilyInfo info = pixel_window_info(kKernelVariants, {kEarlyStages}, {kTurned});
  info.name = "census";
  info.title = "census cascades";
  info.one = "a census cascade";
  info.model_file = "Sightline's (.safetensors)";
  info.shipped_config = "faces";
  info.remarks.push_back({"scale_step", "default 1.15"});
  return info;
}

class CensusFamily : public Family {
 public:
  CensusFamily() : Family(census::info()) {}

  std::unique_ptr<Detector> make_detector(const Config& config) const override {
    return make_census_detector(config);
  }
  std::string calibration_key(const Config& /*config*/) const override { return "calibration"; }
  bool recognises(const std::string& model) const override { return looks_like_model(model); }
  std::unique_ptr<ModelShow> make_model_show() const override { return census::make_model_show(); }
  TuneFunction* tune_function() const override { return &census::tune; }
};

}  // namespace

const Family& family() {
  static const CensusFamily family;
  return family;
}

}  // namespace sightline::census
