// Description of the filter-bank family, for the list of families.
#include "family/family.hpp"

#include <algorithm>
#include <iterator>

#include "detectors/filterbank/detector.hpp"
#include "detectors/filterbank/model_show.hpp"
#include "detectors/filterbank/opencl/tuning.hpp"
#include "model/safetensors.hpp"

namespace sightline::filterbank {
namespace {

using Kind = KeyOption::Kind;

std::vector<KeyOption> detector_options() {
  std::vector<KeyOption> options{
      {"filters", Kind::whole_number, "--filters N",
       "Number of filters, one of those that `sightline model show` lists: fewer filters are faster and miss "
       "more (default: the configuration's, or the largest of --model)"},
      {"computed_scales", Kind::whole_number, "--computed-scales N",
       "Number of filtered scales per octave; the others are approximated from the nearest of them; 0: all "
       "(default: the configuration's)"},
      {"exact", Kind::sets_true, "--exact",
       "Use the plain, slower method: filter every scale, classify every window, verify all candidates"},
      {"border", Kind::whole_number, "--border PX",
       "Distance that windows may reach past the frame, in window pixels; edge pixels are repeated; filter "
       "banks: a multiple of 8 (default: the window's margin and 8)"},
      {"clip", Kind::sets_false, "--no-clip",
       "Report whole boxes of objects that are partly outside the frame; otherwise boxes end at its edge"},
      {"verify", Kind::sets_false, "--no-verify",
       "Skip the model's verification network, if it has one: faster, more false boxes"},
      {"refine", Kind::sets_false, "--no-refine",
       "Report boxes of the window's size; otherwise the verification network fits them to the object"},
      {"arithmetic", Kind::text, "--arithmetic KIND",
       "Arithmetic: exact (integers) or float (the reference method, slow)"}};
  options[1].option.between(0, 1000).alias("--real-levels");
  options[3].option.between(0, kLargestBorder);
  options[7].option.suggest([] { return Choices{{{"exact", ""}, {"float", ""}}}; });
  return options;
}

FamilyInfo info() {
  FamilyInfo info;
  info.name = "filterbank";
  info.title = "filter banks";
  info.one = "a filter bank";
  info.model_file = "Sightline's (.safetensors)";
  info.shipped_config = "people";
  info.config_keys = {"model",          "threshold", "confidence", "max_overlap", "rejection_margin",
                      "max_model_size", "verify_all"};
  info.renamed_keys = {{"real_levels", "computed_scales"}, {"screen_margin", "rejection_margin"}};
  info.model_keys = {"filters"};
  info.options = window_options();
  std::ranges::move(detector_options(), std::back_inserter(info.options));
  info.remarks = {
      {"model", "uses its largest size unless --filters is given"},
      {"threshold",
       "0.5 for the people model, about 1 false box in 10 frames (-0.4: 1 in each frame, 1.2: 1 in 100)"},
      {"threshold", "the verification network rejects the lowest scores unless --no-verify is given"},
      {"max_candidates", "windows that reach the verification network, default 20000"},
      {"max_model_size", "default 256"}};
  info.variant_axes = {{{"filters", Kind::whole_number, "--filters N,...",
                         "Sizes of the dictionary to compare, separated by commas"},
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
    const int used =
        config.optional_whole_number("detector", "filters", 1, kMaxFilters).value_or(sizes.back());
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
    if (!config.flag("detector", "verify", true)) return {};
    const int largest = model_sizes(config).back();
    return "calibration" +
           size_suffix(config.optional_whole_number("detector", "filters", 1, kMaxFilters).value_or(largest),
                       largest);
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
