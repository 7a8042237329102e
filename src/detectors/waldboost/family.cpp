// Description of the WaldBoost family, for the list of families.
#include "detectors/waldboost/detector.hpp"
#include "detectors/waldboost/model_show.hpp"
#include "detectors/waldboost/opencl/tuning.hpp"
#include "family/pixel_window_info.hpp"

namespace sightline::waldboost {
namespace {

FamilyInfo info() {
  FamilyInfo info = pixel_window_info(kKernelVariants, {}, {kShares, kPhases});
  info.name = "waldboost";
  info.title = "WaldBoost detectors";
  info.one = "a WaldBoost detector";
  info.model_file = "Sightline's (.safetensors) or <WaldBoostClassifier> (.xml)";
  info.shipped_config = "faces-waldboost";
  return info;
}

class WaldboostFamily : public Family {
 public:
  WaldboostFamily() : Family(waldboost::info()) {}

  std::unique_ptr<Detector> make_detector(const Config& config) const override {
    return make_waldboost_detector(config);
  }
  std::unique_ptr<Detector> make_reference(const Config& config) const override {
    return waldboost::make_reference(config);
  }
  std::string calibration_key(const Config& /*config*/) const override { return "calibration"; }
  bool recognises(const std::string& model) const override { return looks_like_model(model); }
  std::unique_ptr<ModelShow> make_model_show() const override { return waldboost::make_model_show(); }
  TuneFunction* tune_function() const override { return &waldboost::tune; }
  SweepFunction* sweep_function() const override { return &waldboost::sweep; }
};

}  // namespace

const Family& family() {
  static const WaldboostFamily family;
  return family;
}

}  // namespace sightline::waldboost
