// What WaldBoost detectors say of themselves, for the list of families.
#include "family/family.hpp"
#include "waldboost/detector.hpp"
#include "waldboost/opencl/tuning.hpp"
#include "waldboost/tools.hpp"

namespace sightline::waldboost {
namespace {

using Kind = KeyOption::Kind;

FamilyInfo info() {
  FamilyInfo info;
  info.name = "waldboost";
  info.title = "WaldBoost detectors";
  info.one = "a WaldBoost detector";
  info.model_file = "Sightline's (.safetensors) or <WaldBoostClassifier> (.xml)";
  info.shipped_config = "faces-waldboost";
  info.config_keys = kConfigKeys;
  // Shared with other families, whose words are the same.
  info.options = {
      {"border", Kind::whole_number, "--border",
       "How far windows may lie beyond the frame's edge, which is repeated there, in pixels of the "
       "model's window"},
      {"clip", Kind::sets_false, "--no-clip",
       "Boxes as large as the whole object where it stands out of the frame; otherwise they end at "
       "its edge"},
      {"shares", Kind::text, "--shares",
       "WaldBoost on OpenCL devices: the progressive kernels, of whose steps each hands one in so many "
       "windows on: 8,4,4,4"},
      {"phases", Kind::text, "--phases",
       "WaldBoost on OpenCL devices: the progressive kernels, and the weak classifiers that their steps come "
       "to before they count what is left, rising: 4,12,20,28"}};
  for (std::size_t i = info.options.size() - 2; i < info.options.size(); ++i)
    info.options[i].option.free_text();
  info.remarks = {{"max_candidates", "100000 unless given"}, {"max_model_size", "16 unless given"}};
  // Shared with cascades, whose help adds these variants.
  const std::vector<std::string> variants(kKernelVariants.begin(), kKernelVariants.end());
  info.variant_axes = {{{"kernels", Kind::text, "--kernels", "Variants of the device's kernels to compare"},
                        variants,
                        "kernels",
                        true}};
  info.evaluation_values = {{"threshold", -1e6}};
  info.ungrouped_values = {{"max_overlap", 1.0}};
  info.needs_no_config = true;
  return info;
}

class WaldboostFamily : public Family {
 public:
  WaldboostFamily() : Family(waldboost::info()) {}

  std::unique_ptr<Detector> make(const Config& config) const override {
    return make_waldboost_detector(config);
  }
  bool recognises(const std::string& model) const override { return looks_like_model(model); }
  std::unique_ptr<ModelShow> make_model_show() const override { return waldboost::make_model_show(); }
  std::unique_ptr<Trainer> make_trainer() const override { return waldboost::make_trainer(); }
  TuneFunction* tune_function() const override { return &waldboost::tune; }
  SweepFunction* sweep_function() const override { return &waldboost::sweep; }
};

}  // namespace

const Family& family() {
  static const WaldboostFamily family;
  return family;
}

}  // namespace sightline::waldboost
