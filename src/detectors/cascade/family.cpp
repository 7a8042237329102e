// Description of the cascade family, for the list of families.
#include "family/family.hpp"

#include <fmt/format.h>

#include "detectors/cascade/comparison.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/cascade/model_show.hpp"
#include "detectors/cascade/opencl/tuning.hpp"

namespace sightline::cascade {
namespace {

FamilyInfo info() {
  FamilyInfo info;
  info.name = "cascade";
  info.title = "cascades";
  info.one = "a cascade";
  info.model_file = "an OpenCV cascade (.xml)";
  info.shipped_config = "faces-opencv";
  info.parameters = {keys::kModel,         keys::kThreshold, kEarlyStages,   keys::kLabel,
                     keys::kMaxModelSize,  keys::kScaleStep, keys::kMinSize, keys::kMaxSize,
                     keys::kMaxCandidates, kMinNeighbors,    kMirrored};
  info.remarks = {{"model", "an .xml file or the name of one of OpenCV's cascades; needs no --config"},
                  {"threshold", "the score is the number of agreeing windows"},
                  {"min_size", "side of the smallest box (OpenCV's minSize)"},
                  {"max_candidates", "default 100000"},
                  {"max_model_size", "default 16"}};
  const std::vector<std::string> variants(kKernelVariants.begin(), kKernelVariants.end());
  info.variant_axes = {
      {keys::kKernels,
       Option("--kernels VARIANT,...", {},
              fmt::format("Cascades: kernel variants to compare, separated by commas, or all: {}",
                          fmt::join(variants, ", "))),
       variants, "kernels", true}};
  // Everything that scores above -1 enters a curve. A box is reported from groups of two windows on: one
  // alone is seldom an object.
  info.evaluation_values = {{"threshold", -1.0}, {"min_neighbors", 1.0}};
  info.counterpart = "opencv";
  info.option_for_more = "--min-neighbors";
  info.needs_no_config = true;
  info.finds_models_by_name = true;
  return info;
}

class CascadeFamily : public Family {
 public:
  CascadeFamily() : Family(cascade::info()) {}

  std::unique_ptr<Detector> make_detector(const Config& config) const override {
    return make_cascade_detector(config);
  }
  std::unique_ptr<Detector> make_reference(const Config& config) const override {
    return make_reference_detector(config);
  }
  std::unique_ptr<Counterpart> make_counterpart(const Config& config, int threads) const override {
    return make_opencv_counterpart(config, threads);
  }
  bool recognises(const std::string& model) const override {
    return model.ends_with(".xml") || looks_like_cascade(model) || ships_with_opencv(model);
  }
  std::vector<std::string> model_names() const override { return names_shipped_with_opencv(); }
  std::unique_ptr<ModelShow> make_model_show() const override { return cascade::make_model_show(); }
  TuneFunction* tune_function() const override { return &cascade::tune; }
};

}  // namespace

const Family& family() {
  static const CascadeFamily family;
  return family;
}

}  // namespace sightline::cascade
