#include "apps/train/train_sweep.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/judge.hpp"
#include "apps/common/marked_pictures.hpp"
#include "apps/measure/sweep_page.hpp"
#include "apps/train/training_line.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "evaluation/report.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::vector<double> values_of(const SweepArguments& a, const SweptOption& swept) {
  if (a.values == "all") return swept.values;
  std::vector<double> values;
  const char* at = a.values.data();
  const char* const end = at + a.values.size();
  for (;;) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != ',')) {
      throw Error(ExitCode::usage, fmt::format("--sweep '{}' is not a list of numbers", a.values),
                  "use all, or for example 0.4,0.5,0.6");
    }
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    if (next == end) return values;
    at = next + 1;
  }
}

fs::path name_with(const fs::path& output, const std::string& value) {
  return output.parent_path() / (output.stem().string() + "-" + value + output.extension().string());
}

std::unique_ptr<Detector> detector_of(const Family& family, const fs::path& model) {
  Config config = Config::parse("", "the sweep's models");
  config.set("detector", "family", std::string(family.info().name));
  config.set("detector", "model", fs::absolute(model).string());
  for (const auto& [key, value] : family.info().evaluation_values) config.set("detector", key, value);
  return family.make(config);
}

void write_csv(const fs::path& file, std::span<const SweptModel> models) {
  std::vector<Decisions> all;
  for (const SweptModel& model : models) {
    Decisions best = model.decisions;
    best.points = {model.decisions.best()};
    all.push_back(std::move(best));
  }
  write_report(file, decisions_as_csv(all));
}

void write_json(const fs::path& file, const SweptOption& swept, std::span<const SweptModel> models,
                const SweptModel& best) {
  Json rows = Json::array();
  for (const SweptModel& model : models) {
    const Decision& decision = model.decisions.best();
    const Confusion& c = decision.counts;
    Json row{{"value", model.value}, {"model", model.file}, {"detector", model.detector}};
    if (decision.threshold != kFindsNothing) row["threshold"] = decision.threshold;
    row["true_positives"] = c.true_positives;
    row["false_negatives"] = c.false_negatives;
    row["false_positives"] = c.false_positives;
    row["true_negatives"] = c.true_negatives;
    row["accuracy"] = c.accuracy();
    row["precision"] = c.precision();
    row["recall"] = c.recall();
    row["f1"] = c.f1();
    row["objects_f1"] = model.objects_f1();
    row["log_average_miss_rate"] = log_average_miss_rate(model.curve.points);
    rows.push_back(std::move(row));
  }
  const Json json{{"option", swept.name}, {"best", best.value}, {"models", std::move(rows)}};
  write_report(file, json_text(json, 2) + '\n');
}

void print_sweep(const SweptOption& swept, std::span<const SweptModel> models, const SweptModel& best) {
  const std::string name = swept.name.substr(2);
  std::printf(
      "Decisions between pictures with objects and without, each model at its best F1; and objects:\n%*s %s",
      static_cast<int>(name.size()), name.c_str(), decision_heading().c_str());
  for (const SweptModel& model : models) {
    const std::string note = fmt::format("objects' F1 {:.3f}  {}{}", model.objects_f1(), model.file,
                                         &model == &best ? "  best F1" : "");
    std::printf("%*.4g %s", static_cast<int>(name.size()), model.value,
                decision_row(model.decisions.best(), note).c_str());
  }
}

// Another name for what is there.
void copy_whole(const fs::path& from, const fs::path& to) {
  std::ifstream file(from, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw Error(ExitCode::failed, "cannot read model '" + from.string() + "' again");
  write_whole(to, bytes, "model");
}

}  // namespace

void add_sweep_options(OptionSet& options, const SweptOption& swept, SweepArguments& a) {
  options.group("Sweep");
  options
      .add("--sweep VALUE,...", &a.values,
           fmt::format("Values of {} to train a model for, such as 0.4,0.5,0.6, or all: {:g} to {:g}. Models "
                       "are written beside OUTPUT as NAME-VALUE, and the best by F1 is OUTPUT",
                       swept.name, swept.values.front(), swept.values.back()))
      .free_text()
      .needs("--judge");
  options
      .add("--judge FOLDER|LIST", &a.pictures,
           "Folders or lists of pictures to judge the models on, some with objects and some without")
      .needs("--judge-boxes")
      .needs("--sweep");
  options.add("--judge-boxes FILE", &a.boxes,
              "Marks of the objects in --judge, as lines `name x1 y1 x2 y2`; other pictures have none");
  options
      .add("--judge-protocol PROTOCOL", &a.protocol,
           "Rule for a match: people, faces (overlap 0.4) or centre, as in evaluate frames")
      .one_of({"people", "faces", "centre"})
      .show_default();
  options.add("--csv FILE", &a.csv, "Write the results as a table")
      .checked_by(OutputFile{{".csv", ".txt"}})
      .needs("--sweep");
  options.add("--json FILE", &a.json, "Write the results as JSON")
      .checked_by(OutputFile{{".json"}})
      .needs("--sweep");
  options.add("--page FILE", &a.page, "Write the results as a page (HTML) with curves")
      .checked_by(OutputFile{{".html", ".htm"}})
      .needs("--sweep");
}

void sweep(const SweepArguments& a, const Family& family, Trainer& trainer, const std::string& state,
           const std::string& output, const TrainOne& train, bool shows_progress) {
  const SweptOption swept = trainer.swept().value();
  const std::vector<double> values = values_of(a, swept);
  const std::string name = swept.name.substr(2);
  refuse_same_outputs({output, a.csv, a.json, a.page});
  for (const std::string* file : {&a.csv, &a.json, &a.page}) require_writable(*file);
  const training::FileImageSet pictures = collect_pictures(a.pictures, "");
  const GroundTruth truth = load_marks(a.boxes);
  // What cannot be judged is refused before hours of training.
  std::vector<PictureScore> nothing_found;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (const auto score = picture_score({}, truth.find(pictures.name(i)))) nothing_found.push_back(*score);
  }
  static_cast<void>(decide("", nothing_found));

  std::vector<SweptModel> models;
  for (const double value : values) {
    const std::string text = fmt::format("{:g}", value);
    const fs::path file = name_with(output, text);
    require_writable(file);
    // Of a sweep that was interrupted there is a state: it goes on.
    if (!a.overwrite && !fs::exists(fs::path(state) / text)) refuse_existing(file.string());
    spdlog::info("model {} of {}: {} {}", models.size() + 1, values.size(), swept.name, text);
    trainer.sweep_to(value);
    trainer.check();
    train(fs::path(state) / text, file);
    const auto detector = detector_of(family, file);
    TrainingLine line(shows_progress);
    training::ProgressClock clock(
        [&](const training::TrainingProgress& progress) {
          line.show(progress);
          return !stop_requested().load();
        },
        1);
    clock.enter("judging " + file.filename().string(), 1);
    const Judgement judgement = judge(*detector, pictures, truth, matching_of(a.protocol), clock);
    line.end();
    SweptModel model{
        value, file.string(), detector->info().model, decide(name + " " + text, judgement.pictures), {}, {}};
    model.curve.name = model.decisions.name;
    model.curve.points = miss_rate_per_image(judgement.objects);
    model.curve.positives = static_cast<std::uint64_t>(judgement.objects.positives);
    model.curve.trials = static_cast<std::uint64_t>(judgement.objects.images);
    model.curve.summary = summary_of(model.curve.points, FalsePositiveUnit::per_image);
    model.objects = precision_recall(judgement.objects);
    models.push_back(std::move(model));
  }
  const SweptModel& best = *std::ranges::max_element(
      models, {}, [](const SweptModel& model) { return model.decisions.best().counts.f1(); });
  print_sweep(swept, models, best);
  copy_whole(best.file, output);
  std::printf("best by F1: %s %g, which is now %s\n", swept.name.c_str(), best.value, output.c_str());
  if (!a.csv.empty()) write_csv(a.csv, models);
  if (!a.json.empty()) write_json(a.json, swept, models, best);
  if (!a.page.empty()) write_report(a.page, sweep_page(swept, models, best, a.pictures));
  for (const std::string* file : {&a.csv, &a.json, &a.page}) {
    if (!file->empty()) spdlog::info("wrote {}", *file);
  }
}

}  // namespace sightline::apps
