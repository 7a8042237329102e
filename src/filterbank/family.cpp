// What the filter bank says of itself, for the list of families.
#include "family/family.hpp"

#include "filterbank/detector.hpp"
#include "filterbank/opencl/tuning.hpp"
#include "filterbank/tools.hpp"
#include "model/safetensors.hpp"

namespace sightline::filterbank {
namespace {

using Kind = KeyOption::Kind;

std::vector<KeyOption> detector_options() {
  std::vector<KeyOption> options{
      {"filters", Kind::whole_number, "--filters",
       "Size of the model's dictionary, of those it has (see `sightline model show`): fewer filters are "
       "faster and miss more; the configuration's, or the largest of --model, unless given"},
      {"computed_scales", Kind::whole_number, "--computed-scales",
       "Scales in each octave that are filtered (default: the configuration's), the others follow from the "
       "nearest of them; 0: all"},
      {"exact", Kind::sets_true, "--exact",
       "The plain method: filters every scale, classifies every window, verifies all that is left; slower"},
      {"border", Kind::whole_number, "--border",
       "How far windows may lie beyond the frame's edge, which is repeated there, in pixels of the model's "
       "window, a multiple of 8 (default: the window's margin and 8); 0: windows lie in the frame"},
      {"clip", Kind::sets_false, "--no-clip",
       "Boxes as large as the whole object where it stands out of the frame; otherwise they end at its edge"},
      {"verify", Kind::sets_false, "--no-verify",
       "Without the model's verification network: faster, more false boxes; models without one have none"},
      {"refine", Kind::sets_false, "--no-refine",
       "Boxes where the window lies; otherwise the verification network moves them to where the object ends"},
      {"arithmetic", Kind::text, "--arithmetic", "exact (integers) or float (the reference method, slow)"}};
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
  info.config_keys = kConfigKeys;
  info.renamed_keys = {{"real_levels", "computed_scales"}, {"screen_margin", "rejection_margin"}};
  info.model_keys = {"filters"};
  info.options = detector_options();
  info.remarks = {
      {"model", "in its largest size unless --filters says otherwise"},
      {"threshold",
       "the people model's is 0.5, about one false box in ten frames (1.2: in a hundred, -0.4: in each); "
       "down to what a model's network looks at (--no-verify: to any)"},
      {"max_candidates", "those that the classifier leaves for the verification network; 20000 unless given"},
      {"max_model_size", "256 unless given"}};
  info.variant_axes = {{{"filters", Kind::whole_number, "--filters",
                         "Sizes of the dictionary to compare, separated by commas"},
                        {},
                        "filters"}};
  // Everything that scores above -1 enters a curve; below lie the easy negatives of a support vector machine.
  info.evaluation_values = {{"threshold", -1.0}};
  info.ungrouped_values = {{"max_overlap", 1.0}};
  info.examples = {
      {"sightline measure", "sightline measure street.mp4 --filters 12,25,50",
       "Rate and accuracy by the size of the dictionary"},
      {"sightline train filterbank",
       "sightline train filterbank --positives crops/ --negatives scenes/ --output mine.safetensors "
       "--patterns --contrast-sensitive",
       "Trains a model of the best kind that is known"}};
  return info;
}

class FilterbankFamily : public Family {
 public:
  FilterbankFamily() : Family(filterbank::info()) {}

  std::unique_ptr<Detector> make(const Config& config) const override {
    return make_filterbank_detector(config);
  }
  // First smaller dictionaries, down to the smallest that the model has, then coarser scales.
  std::vector<SettingChanges> settings(const Config& config, const DetectorInfo& made) const override {
    const std::vector<int> sizes = model_sizes(config);
    const int used =
        config.optional_whole_number("detector", "filters", 1, kMaxFilters).value_or(sizes.back());
    const auto changes_to = [&](int filters) {
      return filters == used ? SettingChanges() : SettingChanges{{"filters", static_cast<double>(filters)}};
    };
    std::vector<SettingChanges> all;
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) all.push_back(changes_to(*size));
    for (const SettingChanges& coarser : coarser_scales(made)) {
      SettingChanges& added = all.emplace_back(changes_to(sizes.front()));
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
  std::unique_ptr<Trainer> make_trainer() const override { return filterbank::make_trainer(); }
  std::unique_ptr<WindowScorer> make_window_scorer() const override {
    return filterbank::make_window_scorer();
  }
  TuneFunction* tune_function() const override { return &filterbank::tune; }
};

}  // namespace

const Family& family() {
  static const FilterbankFamily family;
  return family;
}

}  // namespace sightline::filterbank
