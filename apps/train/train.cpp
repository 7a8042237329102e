// `sightline train`: a model from pictures, one subcommand a family that has a trainer, and one for each
// model that belongs to no family.
#include <spdlog/spdlog.h>

#include <cstdio>

#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/marked_pictures.hpp"
#include "apps/train/train_sweep.hpp"
#include "apps/train/training_line.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "detectors/families.hpp"
#include "training/file_image_set.hpp"
#include "training/marked_objects.hpp"
#include "training/registry.hpp"

namespace sightline::apps {
namespace {

using training::FileImageSet;

struct TrainArguments {
  std::vector<std::string> positives;
  std::vector<std::string> negatives;
  std::string folder;
  std::vector<std::string> boxes;
  std::string label;
  std::string output;
  std::string state;
  SweepArguments sweep;
  std::unique_ptr<Trainer> trainer;
};

struct StandaloneArguments {
  std::string output;
  std::string state;
  std::unique_ptr<training::StandaloneTrainer> trainer;
};

// What both kinds of trainers have.
template <typename Arguments>
void add_file_options(OptionSet& options, Arguments& a) {
  options.add("-o,--output FILE", &a.output, "Model file to write")
      .checked_by(OutputFile{{std::filesystem::path(a.output).extension().string()}})
      .show_default();
  options.add("--state FOLDER", &a.state,
              "Folder for finished steps, to resume from (default: OUTPUT.training)");
}

template <typename Arguments>
std::string state_folder(const Arguments& a) {
  return a.state.empty() ? a.output + ".training" : a.state;
}

void refuse_too_few(std::size_t positives, std::size_t fewest) {
  constexpr std::size_t kFew = 100;
  const std::string has = "--positives has " + counted(static_cast<std::int64_t>(positives), "object");
  if (positives < fewest)
    throw Error(ExitCode::input, has + ", too few to train on", "give hundreds, better thousands");
  if (positives < kFew) spdlog::warn("{}; a model needs hundreds, better thousands", has);
}

// Calls `train(report)`, shows how it goes on, and says where the model is and what can be done with it.
template <typename Train>
int run_training(const std::string& output, const std::string& next_command, TrainingLine& line,
                 bool keeps_steps, const Train& train) {
  const std::atomic<bool>& stop = stop_requested();
  try {
    train([&](const training::TrainingProgress& progress) {
      line.show(progress);
      return !stop.load();
    });
    line.end();
  } catch (const training::TrainingStopped&) {
    line.end();
    spdlog::warn(keeps_steps ? "stopped; run the same command again to resume from the last finished step"
                             : "stopped; the same command starts again from the beginning");
    return stop_exit_code();
  }
  std::printf("%s\n", output.c_str());
  spdlog::info("try it: {}", next_command);
  return 0;
}

int run_train(const TrainArguments& a, const Family& family, int verbosity) {
  a.trainer->check();
  const std::string state = state_folder(a);
  require_writable(a.output);
  const FileImageSet pictures = collect_pictures(a.positives, a.folder);
  std::optional<training::MarkedObjects> cut_out;
  if (!a.boxes.empty())
    cut_out.emplace(pictures, marked_objects(pictures, a.boxes, a.label, "--positives"),
                    a.trainer->margin().value());
  const training::ImageSet& positives = cut_out ? static_cast<const training::ImageSet&>(*cut_out) : pictures;
  const FileImageSet negatives = collect_pictures(a.negatives, "");
  refuse_shared_pictures(pictures, "--positives", negatives, "--negatives");
  refuse_too_few(positives.size(), a.trainer->fewest_positives());
  spdlog::info("{} positive and {} negative pictures, {}; finished steps are kept in {}", positives.size(),
               negatives.size(), a.trainer->summary(), state);
  TrainingLine line(verbosity >= 0);
  const std::string next = "sightline detect INPUT --model " + a.output;
  return run_training(a.output, next, line, true, [&](const training::ReportProgress& report) {
    const auto train = [&](const std::filesystem::path& steps, const std::filesystem::path& output) {
      a.trainer->train(positives, negatives, steps, output, report);
      line.end();
    };
    if (!a.sweep.values.empty()) {
      sweep(a.sweep, family, *a.trainer, state, a.output, train, verbosity >= 0);
    } else {
      train(state, a.output);
    }
  });
}

int run_train(const StandaloneArguments& a, int verbosity) {
  a.trainer->check();
  const std::string state = state_folder(a);
  require_writable(a.output);
  const bool keeps_steps = a.trainer->keeps_steps();
  if (keeps_steps) {
    spdlog::info("finished steps are kept in {}", state);
  } else if (!a.state.empty()) {
    throw Error(ExitCode::usage, "--state does nothing: this training has no steps to keep", "leave it out");
  }
  TrainingLine line(verbosity >= 0);
  const std::string next = a.trainer->judging_command(a.output);
  return run_training(a.output, next, line, keeps_steps, [&](const training::ReportProgress& report) {
    a.trainer->train(state, a.output, report);
  });
}

void add_trainer(CLI::App& train, Common& common, const Family& family, std::unique_ptr<Trainer> trainer) {
  auto a = std::make_shared<TrainArguments>();
  a->trainer = std::move(trainer);
  a->output = a->trainer->default_output();
  OptionSet options;
  options
      .add("--positives FOLDER|LIST", &a->positives,
           "Folders or lists of pictures, each with one object in the middle")
      .require();
  options.add("--negatives FOLDER|LIST", &a->negatives, "Folders or lists of pictures without the object")
      .require();
  options.add("--folder FOLDER", &a->folder, "Folder of the pictures of a list (default: the list's folder)");
  if (a->trainer->margin()) {
    options.add("--boxes FILE", &a->boxes,
                "Marks of the objects in --positives, as lines `name x1 y1 x2 y2` or COCO (.json); crops "
                "include their surroundings");
    options.add("--boxes-label CLASS", &a->label, "Class of the objects in --boxes (default: all)")
        .free_text()
        .needs("--boxes");
  }
  add_file_options(options, *a);
  options.add_all(a->trainer->options());
  if (const auto swept = a->trainer->swept()) add_sweep_options(options, *swept, a->sweep);
  add_command(train, common, std::string(family.info().name), a->trainer->description(), options,
              [a, &family, &common] {
                a->sweep.overwrite = common.overwrite;
                return run_train(*a, family, common.verbosity);
              });
}

void add_trainer(CLI::App& train, Common& common, std::unique_ptr<training::StandaloneTrainer> trainer) {
  auto a = std::make_shared<StandaloneArguments>();
  a->trainer = std::move(trainer);
  a->output = a->trainer->default_output();
  OptionSet options = a->trainer->options();
  add_file_options(options, *a);
  add_command(train, common, a->trainer->name(), a->trainer->description(), options,
              [a, &common] { return run_train(*a, common.verbosity); });
}

}  // namespace

void add_train(CLI::App& app, Common& common) {
  CLI::App& train = add_command_group(app, "train", "Make a model from pictures");
  for (const Family* family : families()) {
    if (auto trainer = make_trainer(*family)) add_trainer(train, common, *family, std::move(trainer));
  }
  for (auto& trainer : make_standalone_trainers()) add_trainer(train, common, std::move(trainer));
}

}  // namespace sightline::apps
