// What census cascades say of themselves, for the list of families.
#include "family/family.hpp"

#include "census/detector.hpp"
#include "census/opencl/tuning.hpp"
#include "census/tools.hpp"

namespace sightline::census {
namespace {

using Kind = KeyOption::Kind;

FamilyInfo info() {
  FamilyInfo info;
  info.name = "census";
  info.title = "census cascades";
  info.one = "a census cascade";
  info.model_file = "Sightline's (.safetensors)";
  info.shipped_config = "faces-census";
  info.config_keys = kConfigKeys;
  // But for the last, shared with other families, whose words are the same.
  info.options = {
      {"border", Kind::whole_number, "--border",
       "How far windows may lie beyond the frame's edge, which is repeated there, in pixels of the "
       "model's window"},
      {"clip", Kind::sets_false, "--no-clip",
       "Boxes as large as the whole object where it stands out of the frame; otherwise they end at "
       "its edge"},
      {"turned", Kind::sets_true, "--turned",
       "Search objects that lie on their left or right side or upside down as well; results say which"}};
  info.remarks = {{"max_candidates", "100000 unless given"},
                  {"max_model_size", "16 unless given"},
                  {"scale_step", "1.15 unless given"}};
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

class CensusFamily : public Family {
 public:
  CensusFamily() : Family(census::info()) {}

  std::unique_ptr<Detector> make(const Config& config) const override { return make_census_detector(config); }
  bool recognises(const std::string& model) const override { return looks_like_model(model); }
  std::unique_ptr<ModelShow> make_model_show() const override { return census::make_model_show(); }
  std::unique_ptr<Trainer> make_trainer() const override { return census::make_trainer(); }
  TuneFunction* tune_function() const override { return &census::tune; }
};

}  // namespace

const Family& family() {
  static const CensusFamily family;
  return family;
}

}  // namespace sightline::census
