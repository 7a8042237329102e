// The scores of single windows, for `sightline evaluate windows`.
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <limits>

#include "base/error.hpp"
#include "detectors/filterbank/centre_window.hpp"
#include "detectors/filterbank/detector.hpp"
#include "training/window_scorer.hpp"

namespace sightline::filterbank {
namespace {

constexpr double kAnyScore = -std::numeric_limits<double>::infinity();

// Scores all windows of a frame; with a network, those that it looks at are the workspace's candidates then.
// False where the frame is too small.
bool score_all(const FilterbankDetector& detector, FilterbankWorkspace& workspace, GrayView frame) {
  if (!detector.prepare(workspace, frame)) return false;
  detector.score_windows(workspace);
  if (detector.verifies()) detector.run_stage(kVerify, workspace);
  return true;
}

// Score of a window that the network does not see, or without a network.
double score_unseen(const FilterbankDetector& detector, double score) {
  return detector.verifies() ? detector.model().network.rejected_score(score) : score;
}

double score_centre(const FilterbankDetector& detector, FilterbankWorkspace& workspace,
                    const Image<std::uint8_t>& image, const std::string& name) {
  const auto centred = centre_window(image.view(), detector.model().window);
  if (!centred) throw Error(ExitCode::input, "'" + name + "' is smaller than the model's window");
  score_all(detector, workspace, centred->view);
  for (const Candidate& c : workspace.candidates) {
    if (detector.verifies() && c.level == 0 && c.x == centred->x && c.y == centred->y) return c.score;
  }
  return score_unseen(detector, detector.score(workspace.levels[0], centred->x, centred->y));
}

void add_scores(const FilterbankDetector& detector, const FilterbankWorkspace& workspace,
                NegativeScores& scores) {
  for (const Level& level : workspace.levels) {
    for (int y = 0; y < level.windows_y; ++y) {
      for (int x = 0; x < level.windows_x; ++x) {
        const double score = detector.score(level, x, y);
        if (!detector.verifies() || score < detector.first_threshold())
          scores.add(score_unseen(detector, score));
      }
    }
  }
  if (!detector.verifies()) return;
  for (const Candidate& looked_at : workspace.candidates) scores.add(looked_at.score);
}

// Properties of the detector that are evaluated.
struct Method {
  std::string arithmetic = "exact";
  int computed_scales = 0;
  bool no_verify = false;
};

class FilterbankWindowModel : public WindowModel {
 public:
  FilterbankWindowModel(std::filesystem::path file, Model model, Method method)
      : file_(std::move(file)), model_(std::move(model)), method_(std::move(method)) {}

  const std::filesystem::path& file() const override { return file_; }
  std::string size_text() const override { return std::to_string(model_.dictionary.size()) + " filters"; }
  int stride() const override { return kCell; }
  WindowScores score(const training::ImageSet& positives, const training::ImageSet& negatives,
                     const WindowSearch& search) const override;
  void store(const StoredEvaluation& evaluation) const override {
    Model model = model_;
    model.evaluation = {evaluation.miss_rate_at_1e4, evaluation.miss_rate_at_1e5, evaluation.data};
    store_evaluation(model, file_);
  }

 private:
  std::filesystem::path file_;
  Model model_;
  Method method_;
};

WindowScores FilterbankWindowModel::score(const training::ImageSet& positives,
                                          const training::ImageSet& negatives,
                                          const WindowSearch& search) const {
  Options options;
  options.scale_step = search.scale_step;
  options.computed_scales = method_.computed_scales;
  if (method_.arithmetic == "float") options.arithmetic = Arithmetic::floating_point;
  options.verify = !method_.no_verify;
  if (options.verify && !model_.network.empty())
    options.threshold = kAnyScore;  // verifies everything above the first-stage threshold
  options.max_candidates = kMostCandidates;
  const FilterbankDetector scanner(model_, options);
  options.max_size = model_.object.height;
  const FilterbankDetector single(model_, options);

  using Workspaces = oneapi::tbb::enumerable_thread_specific<std::unique_ptr<Workspace>>;
  Workspaces workspaces([&] { return scanner.make_workspace(); });
  const auto local = [&]() -> FilterbankWorkspace& {
    return static_cast<FilterbankWorkspace&>(*workspaces.local());
  };
  WindowScores scores;
  scores.positives.resize(positives.size());
  oneapi::tbb::parallel_for(std::size_t{0}, positives.size(), [&](std::size_t i) {
    search.throw_if_stopped();
    scores.positives[i] = score_centre(single, local(), positives.load(i), positives.name(i));
  });
  workspaces.clear();  // another detector's from here on

  oneapi::tbb::enumerable_thread_specific<NegativeScores> negative_scores;
  oneapi::tbb::parallel_for(std::size_t{0}, negatives.size(), [&](std::size_t i) {
    search.throw_if_stopped();
    const Image<std::uint8_t> image = negatives.load(i);
    FilterbankWorkspace& workspace = local();
    if (score_all(scanner, workspace, image.view())) add_scores(scanner, workspace, negative_scores.local());
  });
  for (const NegativeScores& found : negative_scores) scores.negatives.merge(found);
  return scores;
}

class FilterbankWindowScorer : public WindowScorer {
 public:
  OptionSet options() override {
    OptionSet options;
    options
        .add("--filters N", &filters_,
             "Number of filters, one of the model's sizes; several, such as 25,50,100, give a curve each "
             "(default: the configuration's, or the largest of --model)")
        .separated_by(',')
        .one_at_a_time();
    options
        .add("--computed-scales N", &method_.computed_scales,
             "Number of filtered scales per octave; the others are approximated from the nearest; 0: all")
        .between(0, 1000)
        .show_default()
        .alias("--real-levels");
    options.add("--arithmetic KIND", &method_.arithmetic, "Arithmetic: exact or float")
        .one_of({"exact", "float"})
        .show_default();
    options.add("--no-verify", &method_.no_verify, "Skip the verification network, if the model has one");
    return options;
  }

  void check_storable() const override {
    if (method_.arithmetic == "exact" && method_.computed_scales == 0 && !method_.no_verify) return;
    throw Error(ExitCode::usage,
                "--store needs exact arithmetic and the complete model on every scale"_message,
                "leave out --store, or --arithmetic, --computed-scales and --no-verify"_message);
  }

  std::vector<std::unique_ptr<WindowModel>> load(const std::filesystem::path& file,
                                                 std::optional<int> max_size) const override {
    return load_sizes(file, {filters_.begin(), filters_.end()}, max_size);
  }
  std::vector<std::unique_ptr<WindowModel>> load(const Config& config,
                                                 std::optional<int> max_size) const override {
    std::vector<std::optional<int>> sizes(filters_.begin(), filters_.end());
    if (sizes.empty()) sizes.push_back(keys::kFilters.read(config));
    return load_sizes(config.model_path("detector", "model", kDefaultModel), std::move(sizes), max_size);
  }

 private:
  std::vector<std::unique_ptr<WindowModel>> load_sizes(const std::filesystem::path& file,
                                                       std::vector<std::optional<int>> sizes,
                                                       std::optional<int> max_size) const {
    if (sizes.empty()) sizes.emplace_back();
    const std::uint64_t most = std::uint64_t(max_size.value_or(kMaxModelSize)) << 20;
    std::vector<std::unique_ptr<WindowModel>> models;
    for (const std::optional<int>& size : sizes) {
      models.push_back(std::make_unique<FilterbankWindowModel>(file, load_model(file, size, most), method_));
    }
    return models;
  }

  std::vector<int> filters_;
  Method method_;
};

}  // namespace

std::unique_ptr<WindowScorer> make_window_scorer() {
  return std::make_unique<FilterbankWindowScorer>();
}

}  // namespace sightline::filterbank
