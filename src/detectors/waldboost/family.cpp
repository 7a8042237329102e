// Description of the WaldBoost family, for the list of families.
#include "detectors/waldboost/detector.hpp"
#include "detectors/waldboost/model_show.hpp"
#include "detectors/waldboost/opencl/tuning.hpp"
#include "family/pixel_window_info.hpp"

namespace sightline::waldboost {
namespace {

using Kind = KeyOption::Kind;

FamilyInfo info() {
  FamilyInfo info = pixel_window_info(kKernelVariants);
  info.name = "waldboost";
  info.title = "WaldBoost detectors";
  info.one = "a WaldBoost detector";
  info.model_file = "Sightline's (.safetensors) or <WaldBoostClassifier> (.xml)";
  info.shipped_config = "faces-waldboost";
  const auto add = [&](const char* key, const char* name, const char* help) {
    info.options.emplace_back(key, Kind::text, name, help).option.free_text();
  };
  add("shares", "--shares N,N,...",
      "On OpenCL devices: use the progressive kernels with these shares; 8,4,4,4: the first step passes at "
      "most 1 window in 8 to the second, and each further step 1 in 4");
  add("phases", "--phases N,N,...",
      "On OpenCL devices: use the progressive kernels with steps that end after these numbers of weak "
      "classifiers, such as 4,12,20,28");
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
