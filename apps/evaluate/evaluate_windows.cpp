// `sightline evaluate windows`: how good a model is, per window.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/config_lookup.hpp"
#include "apps/cli/family_commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/detector_options.hpp"
#include "apps/common/marked_pictures.hpp"
#include "apps/evaluate/report_options.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "evaluation/curves.hpp"
#include "evaluation/report.hpp"
#include "training/file_image_set.hpp"
#include "training/registry.hpp"

namespace sightline::apps {
namespace {

using training::FileImageSet;

constexpr char kCommand[] = "evaluate windows";

// The scorer of a family, with its options.
struct FamilyScorer {
  const Family* family = nullptr;
  std::unique_ptr<WindowScorer> scorer;
};

struct WindowArguments {
  std::vector<std::string> models;
  std::string config = kDefaultConfig;
  std::string positives;
  std::string folder;
  std::string negatives;
  double scale_step = 1.2;
  bool store = false;
  std::string data;
  std::optional<int> max_model_size;
  ReportArguments report;
  std::vector<FamilyScorer> scorers;
};

// A model in one of its sizes.
struct Contender {
  std::string name;
  std::unique_ptr<WindowModel> model;
};

// What the rates at 1e-5 need, to stand on more than a window or two.
constexpr std::uint64_t kFewestWindowsToStore = 100'000;

const WindowScorer& scorer_of(const WindowArguments& a, const Family& family) {
  return *std::ranges::find_if(a.scorers, [&](const FamilyScorer& one) {
            return one.family == &family;
          })->scorer;
}

void add_contenders(std::vector<std::unique_ptr<WindowModel>> sizes, std::vector<Contender>& contenders) {
  const bool several = sizes.size() > 1;
  for (std::unique_ptr<WindowModel>& model : sizes) {
    std::string name = model->file().stem().string();
    if (several) name += ", " + model->size_text();
    contenders.push_back({std::move(name), std::move(model)});
  }
}

// All models in all sizes that were asked for.
std::vector<Contender> load_contenders(const WindowArguments& a) {
  std::vector<Contender> contenders;
  std::vector<const Family*> of_models;
  for (const std::string& model : a.models)
    of_models.push_back(&require_tool(kCommand, model, make_window_scorer));
  for (std::size_t i = 0; i < a.models.size(); ++i)
    add_contenders(scorer_of(a, *of_models[i]).load(a.models[i], a.max_model_size), contenders);
  if (a.models.empty()) {
    const Config config = Config::load(find_config(a.config));
    const Family& family = require_tool(kCommand, config, make_window_scorer);
    add_contenders(scorer_of(a, family).load(config, a.max_model_size), contenders);
  }
  check_report(a.report, contenders.size());
  for (std::size_t i = 0; i < a.report.names.size(); ++i) contenders[i].name = a.report.names[i];
  return contenders;
}

// Prints the figures of one model, and makes its curve.
NamedCurve report_windows(const Contender& contender, const WindowScores& scores) {
  std::printf("%-28s %-10s %s\n", "false positives per window", "miss rate", "threshold");
  const std::vector<double> rates{1e-2, 1e-3, 1e-4, 1e-5};
  for (const WindowOperatingPoint& point : miss_rates_per_window(scores.positives, scores.negatives, rates)) {
    std::printf("%-28g %-10s %.4f\n", point.requested_rate, percent(point.miss_rate()).c_str(),
                point.threshold);
  }
  std::fflush(stdout);
  const std::vector<DetPoint> curve = miss_rate_per_window(scores.positives, scores.negatives);
  return {contender.name, summary_of(curve, FalsePositiveUnit::per_window), curve, scores.positives.size(),
          scores.negatives.windows()};
}

void store_windows(const Contender& contender, const WindowArguments& a, const WindowScores& scores) {
  if (scores.negatives.windows() < kFewestWindowsToStore) {
    throw Error(ExitCode::input,
                "cannot store the evaluation: " + std::to_string(scores.negatives.windows()) +
                    " negative windows are too few for a rate of 1e-5",
                "use at least " + std::to_string(kFewestWindowsToStore) + " of them");
  }
  char counts[128];
  std::snprintf(counts, sizeof counts, ": %zu windows with the object, %llu without, scale step %g",
                scores.positives.size(), static_cast<unsigned long long>(scores.negatives.windows()),
                a.scale_step);
  // The last name of a path, with or without a slash behind it.
  const auto name = [](const std::filesystem::path& path) {
    return (path / "").parent_path().filename().string();
  };
  const std::string names = name(a.positives) + " and " + name(a.negatives);
  const auto points =
      miss_rates_per_window(scores.positives, scores.negatives, std::vector<double>{1e-4, 1e-5});
  contender.model->store(
      {points[0].miss_rate(), points[1].miss_rate(), (a.data.empty() ? names : a.data) + counts});
}

int run_evaluate_windows(const WindowArguments& a) {
  if (a.store) {
    for (const FamilyScorer& one : a.scorers) one.scorer->check_storable();
  }
  const std::vector<Contender> contenders = load_contenders(a);
  const FileImageSet positives(a.positives, a.folder);
  const FileImageSet negatives(a.negatives);
  refuse_shared_pictures(positives, "--positives", negatives, "--negatives");
  if (a.store) {  // files are replaced by files written beside them
    for (const Contender& contender : contenders) require_writable(contender.model->file().string() + ".new");
  }
  std::vector<NamedCurve> curves;
  for (const Contender& contender : contenders) {
    const WindowScores scores =
        contender.model->score(positives, negatives, {a.scale_step, throw_if_stopped});
    if (contenders.size() > 1) std::printf("%s%s\n", curves.empty() ? "" : "\n", contender.name.c_str());
    std::printf("%zu positive windows, %llu negative windows from %zu pictures (stride %d, scale step %g)\n",
                scores.positives.size(), static_cast<unsigned long long>(scores.negatives.windows()),
                negatives.size(), contender.model->stride(), a.scale_step);
    curves.push_back(report_windows(contender, scores));
    if (a.store) store_windows(contender, a, scores);
  }
  write_reports(a.report, curves, FalsePositiveUnit::per_window);
  return 0;
}

}  // namespace

void add_evaluate_windows(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<WindowArguments>();
  for (const Family* family : families()) {
    if (auto scorer = make_window_scorer(*family)) a->scorers.push_back({family, std::move(scorer)});
  }
  OptionSet options;
  options
      .add("--positives FOLDER|LIST", &a->positives,
           "Folder or list of pictures, each with one object in the middle")
      .require();
  options.add("--folder FOLDER", &a->folder, "Folder of the pictures of a list (default: the list's folder)");
  options
      .add("--negatives FOLDER|LIST", &a->negatives,
           "Folder or list of pictures without the object; every window is scored")
      .require();
  options.add("-c,--config CONFIG", &a->config, "Configuration whose model is evaluated")
      .suggest(config_choices)
      .show_default();
  options
      .add("-m,--model MODEL", &a->models,
           "Model file instead of the configuration's; each one given has its own curve")
      .suggest(model_choices)
      .one_at_a_time();
  add_model_size_option(options, a->max_model_size);
  options.add("--scale-step RATIO", &a->scale_step, "Ratio of neighbouring scales")
      .between(1.01, 8.0)
      .show_default();
  for (const FamilyScorer& one : a->scorers) options.add_all(one.scorer->options());
  options.add("--store", &a->store, "Store the miss rates at 1e-4 and 1e-5 in the model file, for this size");
  options
      .add("--data NOTE", &a->data,
           "Note about the pictures, with --store (default: the names of list and folder)")
      .needs("--store")
      .free_text();
  add_report_options(options, a->report);
  add_command(
      evaluate, common, "windows",
      "Measure miss rate against false positives per window (of " + titles_with(make_window_scorer) + ")",
      options, [a] { return run_evaluate_windows(*a); });
}

}  // namespace sightline::apps
