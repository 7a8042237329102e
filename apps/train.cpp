// `sightline train`: a model from pictures, one subcommand a family that has a trainer.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "commands.hpp"
#include "detector_families.hpp"
#include "evaluation/ground_truth.hpp"
#include "family/tools.hpp"
#include "stop.hpp"
#include "training/file_image_set.hpp"
#include "training/marked_objects.hpp"
#include "writable.hpp"

namespace sightline::apps {
namespace {

using training::FileImageSet;

struct TrainArguments {
  std::vector<std::string> positives;
  std::vector<std::string> negatives;
  std::string folder;
  std::vector<std::string> boxes;
  std::string output = "model.safetensors";
  std::string state;
  std::unique_ptr<Trainer> trainer;
};

FileImageSet collect(const std::vector<std::string>& paths, const std::string& folder) {
  FileImageSet set(paths.front(), folder);
  for (std::size_t i = 1; i < paths.size(); ++i) set.add(FileImageSet(paths[i], folder));
  return set;
}

// The objects that are marked in the pictures, in the order of these.
std::vector<training::MarkedObject> marked_objects(const FileImageSet& pictures,
                                                   const std::vector<std::string>& lists) {
  GroundTruth truth;
  for (const std::string& list : lists) truth.images.merge(load_box_list(list).images);
  std::vector<training::MarkedObject> objects;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const std::vector<TruthBox>* const marked = truth.find(pictures.name(i));
    if (!marked) continue;
    for (const TruthBox& one : *marked) {
      if (!one.ignore) objects.push_back({i, one.box});
    }
  }
  if (objects.empty())
    throw Error(ExitCode::input, "no box of '" + lists.front() + "' is in a picture of --positives",
                "every line begins with a picture's file name, without folders");
  return objects;
}

// One line that is rewritten on a terminal, and a line a phase elsewhere.
class TrainProgressLine {
 public:
  void show(const training::TrainingProgress& progress) {
    if (!terminal_) {
      if (progress.phase != phase_)
        std::fprintf(stderr, "%6s  %s\n", duration_text(progress.elapsed).c_str(), progress.phase.c_str());
      phase_ = progress.phase;
      return;
    }
    const std::string left =
        progress.left < 0 ? "estimating" : "about " + duration_text(progress.left) + " left";
    std::fprintf(stderr, "\r\033[K%6s  %-32s %3.0f%%  %s", duration_text(progress.elapsed).c_str(),
                 progress.phase.c_str(), 100 * progress.fraction, left.c_str());
  }
  void end() const {
    if (terminal_) std::fprintf(stderr, "\n");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::string phase_;
};

int run(const TrainArguments& a, int verbosity) {
  a.trainer->check();
  const std::string state = a.state.empty() ? a.output + ".training" : a.state;
  require_writable(a.output);
  const FileImageSet pictures = collect(a.positives, a.folder);
  std::optional<training::MarkedObjects> cut_out;
  if (!a.boxes.empty())
    cut_out.emplace(pictures, marked_objects(pictures, a.boxes), a.trainer->margin().value());
  const training::ImageSet& positives = cut_out ? static_cast<const training::ImageSet&>(*cut_out) : pictures;
  const FileImageSet negatives = collect(a.negatives, "");
  spdlog::info("{} positive and {} negative pictures, {}; finished steps are kept in {}", positives.size(),
               negatives.size(), a.trainer->summary(), state);
  const std::atomic<bool>& stop = stop_requested();
  TrainProgressLine line;
  try {
    a.trainer->train(positives, negatives, state, a.output, [&](const training::TrainingProgress& progress) {
      if (verbosity >= 0) line.show(progress);
      return !stop.load();
    });
    if (verbosity >= 0) line.end();
  } catch (const training::TrainingStopped&) {
    line.end();
    spdlog::warn("stopped; run the same command again to go on from the last finished step");
    return stop_exit_code();
  }
  std::printf("%s\n", a.output.c_str());
  return 0;
}

void add_trainer(CLI::App& train, Common& common, const Family& family, std::unique_ptr<Trainer> trainer) {
  auto a = std::make_shared<TrainArguments>();
  a->trainer = std::move(trainer);
  OptionSet options;
  options.add("--positives", &a->positives, "Folders or lists of pictures with one object in the middle each")
      .require();
  options.add("--negatives", &a->negatives, "Folders or lists of pictures without the object").require();
  options.add("--folder", &a->folder, "Where the pictures of a list are, if not beside it");
  if (a->trainer->margin()) {
    options.add(
        "--boxes", &a->boxes,
        "Where the objects are in the pictures of --positives, as lines `name x1 y1 x2 y2`: they are cut out "
        "with what is around them");
  }
  options.add("-o,--output", &a->output, "Model file to write").show_default();
  options.add("--state", &a->state, "Folder for finished steps, to resume from (default: OUTPUT.training)");
  options.add_all(a->trainer->options());
  add_command(train, common, std::string(family.info().name), a->trainer->description(), options,
              [a, &common] { return run(*a, common.verbosity); });
}

}  // namespace

void add_train(CLI::App& app, Common& common) {
  CLI::App& train = add_command_group(app, "train", "Make a model from pictures");
  for (const Family* family : families()) {
    if (auto trainer = family->make_trainer()) add_trainer(train, common, *family, std::move(trainer));
  }
}

}  // namespace sightline::apps
