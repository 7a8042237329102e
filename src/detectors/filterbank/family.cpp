// Description of the filter-bank family, for the list of families.
#include "family/family.hpp"

#include "detectors/filterbank/detector.hpp"
#include "detectors/filterbank/model_show.hpp"
#include "detectors/filterbank/opencl/tuning.hpp"
#include "model/safetensors.hpp"

namespace sightline::filterbank {
namespace {

FamilyInfo info() {
  FamilyInfo info;
  info.name = "filterbank";
  info.title = "filter banks";
  info.one = "a filter bank";
  info.model_file = "Sightline's (.safetensors)";
  info.shipped_config = "people";
  info.parameters = {keys::kModel,           keys::kThreshold,    keys::kConfidence,    keys::kMaxOverlap,
                     keys::kRejectionMargin, keys::kMaxModelSize, keys::kVerifyAll,     keys::kScaleStep,
                     keys::kMinSize,         keys::kMaxSize,      keys::kMaxCandidates, keys::kFilters,
                     keys::kComputedScales,  keys::kExact,        keys::kBorder,        keys::kClip,
                     keys::kVerify,          keys::kRefine,       keys::kArithmetic};
  info.remarks = {
      {"model", "uses its largest size unless --filters is given"},
      {"threshold",
       "0.5 for the people model, about 1 false box in 10 frames (-0.4: 1 in each frame, 1.2: 1 in 100)"},
      {"threshold", "the verification network rejects the lowest scores unless --no-verify is given"},
      {"max_candidates", "windows that reach the verification network, default 20000"},
      {"max_model_size", "default 256"}};
  info.variant_axes = {
      {keys::kFilters,
       Option("--filters N,...", {}, "Sizes of the dictionary to compare, separated by commas"),
       {},
       "filters"}};
  // Everything that scores above -1 enters a curve; below lie the easy negatives of a support vector machine.
  info.evaluation_values = {{"threshold", -1.0}};
  info.ungrouped_values = {{"max_overlap", 1.0}};
  info.examples = {
      {"sightline measure", "sightline measure street.mp4 --filters 12,25,50",
       "Compare rate and accuracy of three dictionary sizes"},
      {"sightline train filterbank",
       "sightline train filterbank --positives crops/ --negatives scenes/ --output mine.safetensors "
       "--patterns --contrast-sensitive",
       "Train a model with the best known descriptor"}};
  return info;
}

class FilterbankFamily : public Family {
 public:
  FilterbankFamily() : Family(filterbank::info()) {}

  std::unique_ptr<Detector> make_detector(const Config& config) const override {
    return make_filterbank_detector(config);
  }
  // First smaller dictionaries, down to the smallest that the model has, then coarser scales.
  std::vector<OperatingPointChanges> settings(const Config& config, const DetectorInfo& made) const override {
    const std::vector<int> sizes = model_sizes(config);
    const int used = keys::kFilters.read(config, sizes.back());
    const auto changes_to = [&](int filters) {
      return filters == used ? OperatingPointChanges()
                             : OperatingPointChanges{{"filters", static_cast<double>(filters)}};
    };
    std::vector<OperatingPointChanges> all;
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) all.push_back(changes_to(*size));
    for (const OperatingPointChanges& coarser : coarser_scales(made)) {
      OperatingPointChanges& added = all.emplace_back(changes_to(sizes.front()));
      added.insert(added.end(), coarser.begin(), coarser.end());
    }
    return all;
  }
  std::string calibration_key(const Config& config) const override {
    if (!keys::kVerify.read(config, true)) return {};
    const int largest = model_sizes(config).back();
    return "calibration" + size_suffix(keys::kFilters.read(config, largest), largest);
  }
  bool recognises(const std::string& model) const override { return safetensors_kind(model) == kModelKind; }
  std::unique_ptr<ModelShow> make_model_show() const override { return filterbank::make_model_show(); }
  TuneFunction* tune_function() const override { return &filterbank::tune; }
};

}  // namespace

const Family& family() {
  static const FilterbankFamily family;
  return family;
}

}  // namespace sightline::filterbank
