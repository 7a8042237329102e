// `sightline samples`: many pictures of few marked objects, to train and to test with.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/common/marked_pictures.hpp"
#include "apps/train/sample_sheet.hpp"
#include "apps/train/training_line.hpp"
#include "base/atomic_folder.hpp"
#include "base/error.hpp"
#include "training/cut_options.hpp"
#include "training/sample_folder.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using training::FileImageSet;
using training::SampleFolder;
using training::SampleFolderOptions;

constexpr char kSummary[] = "samples.json";  // what tells a folder of ours
constexpr int kSmallestSide = 12, kLargestSide = 512;

struct SampleArguments {
  std::vector<std::string> pictures;
  std::vector<std::string> boxes;
  std::string label;
  std::vector<std::string> backgrounds;
  std::string folder;
  std::string output;
  bool replace = false;
  std::vector<int> size;
  std::string mask = "ellipse";
  std::optional<int> empty_scenes;
  SampleFolderOptions samples;
};

SampleFolderOptions checked(const SampleArguments& a) {
  SampleFolderOptions options = a.samples;
  options.crop.object =
      given_size("--size", a.size, kSmallestSide, kLargestSide, "48x96").value_or(options.crop.object);
  options.samples.mask = a.mask == "box" ? training::Mask::box : training::Mask::ellipse;
  options.empty_scenes = a.empty_scenes.value_or(options.scenes);
  if (options.scenes + options.empty_scenes > 0 && a.backgrounds.empty())
    throw Error(ExitCode::usage, "scenes are made of backgrounds",
                "give pictures without the object with --backgrounds");
  return options;
}

// A folder of the user's own is never replaced.
void check_folder(const fs::path& folder, bool replace) {
  std::error_code error;
  if (!fs::exists(folder, error) || (fs::is_directory(folder, error) && fs::is_empty(folder, error))) return;
  if (!replace) {
    throw Error(ExitCode::usage, "'" + folder.string() + "' exists already",
                "choose another name, or replace it with --overwrite");
  }
  if (!fs::exists(folder / kSummary, error)) {
    throw Error(ExitCode::failed,
                "'" + folder.string() + "' is no folder that `samples` has made, and is not replaced",
                "choose another one");
  }
}

std::string counts_text(const SampleFolder& folder, const SampleFolderOptions& options) {
  const auto side = [&](const char* what, const training::SampleSide& one) {
    return fmt::format("{}: {} objects, {} crops, {} backgrounds", what, one.objects.size(),
                       one.objects.size() * static_cast<std::size_t>(1 + options.copies),
                       one.backgrounds.size());
  };
  std::string text = side("training", folder.training()) + "; " + side("testing", folder.testing());
  if (options.scenes + options.empty_scenes > 0)
    text += fmt::format(", {} scenes with objects and {} without", options.scenes, options.empty_scenes);
  return text;
}

int run_samples(const SampleArguments& a, int verbosity) {
  const SampleFolderOptions options = checked(a);
  check_folder(a.output, a.replace);
  const std::atomic<bool>& stop = stop_requested();  // before there is anything that would be left behind
  AtomicFolder output(a.output, a.replace);
  const FileImageSet pictures = collect_pictures(a.pictures, a.folder);
  std::vector<training::MarkedObject> objects = marked_objects(pictures, a.boxes, a.label, "the pictures");
  std::optional<FileImageSet> backgrounds;
  if (!a.backgrounds.empty()) backgrounds = collect_pictures(a.backgrounds, "");
  if (backgrounds) refuse_shared_pictures(pictures, "the pictures", *backgrounds, "--backgrounds");
  TrainingLine line(verbosity >= 0);
  training::ProgressClock clock(
      [&](const training::TrainingProgress& progress) {
        line.show(progress);
        return !stop.load();
      },
      SampleFolder::cost(objects.size(), options));
  try {
    const SampleFolder samples(pictures, std::move(objects), backgrounds ? &*backgrounds : nullptr, options,
                               clock);
    samples.write(output.place(), clock);
    write_sample_sheet(output.place() / "sheet.png", samples, options);
    clock.check(1);
    output.finish();
    line.end();
    spdlog::info("{}", counts_text(samples, options));
  } catch (const training::TrainingStopped&) {
    line.end();
    spdlog::warn("stopped; nothing was written");
    return stop_exit_code();
  }
  std::printf("%s\n", a.output.c_str());
  return 0;
}

void add_variation_options(OptionSet& options, training::VariationBounds& b) {
  options.group("How copies vary (each within its bounds, 0: not)");
  options.add("--turn-x DEGREES", &b.turn_x, "Nodding, degrees up and down").between(0, 60).show_default();
  options.add("--turn-y DEGREES", &b.turn_y, "Looking to the side, degrees").between(0, 60).show_default();
  options.add("--turn-z DEGREES", &b.turn_z, "Tilting in the picture, degrees")
      .between(0, 180)
      .show_default();
  options.add("--zoom RATIO", &b.zoom, "Larger or smaller, in parts of its size")
      .between(0, 1)
      .show_default();
  options.add("--shift RATIO", &b.shift, "Off the middle, in parts of its height")
      .between(0, 0.5)
      .show_default();
  options.add("--contrast FACTOR", &b.contrast, "More or less, 1: up to twice or half of it")
      .between(0, 4)
      .show_default();
  options.add("--brightness LEVELS", &b.brightness, "Brighter or darker, levels of 255")
      .between(0, 255)
      .show_default();
  options.add("--gamma EXPONENT", &b.gamma, "Exponent, 1: from a half to 2").between(0, 4).show_default();
  options
      .add("--gradient FACTOR", &b.gradient,
           "Light from one side: so much more on its edge than in the middle, 1: twice")
      .between(0, 1)
      .show_default();
  options.add("--blur PX", &b.blur, "Pixels of a Gaussian's standard deviation")
      .between(0, 20)
      .show_default();
  options.add("--noise LEVELS", &b.noise, "Levels of a Gaussian's standard deviation")
      .between(0, 100)
      .show_default();
  options.add("--mirror", &b.mirror, "Every other copy is mirrored (not for what has a left and a right)");
}

void add_scene_options(OptionSet& options, SampleArguments& a) {
  options.group("Scenes to test with");
  options.add("--scenes N", &a.samples.scenes, "Pictures with objects, made of what is for testing alone")
      .between(0, 100'000)
      .show_default();
  options.add("--empty-scenes N", &a.empty_scenes, "The same without objects (default: as many)")
      .between(0, 100'000);
  options
      .add("--scene-side PX", &a.samples.scene.longest_side,
           "Longest side at most, pixels: larger backgrounds are reduced")
      .between(64, 8192)
      .show_default();
  options.add("--scene-objects N", &a.samples.scene.most_objects, "Objects in one, at most")
      .between(1, 100)
      .show_default();
  options.add("--smallest PX", &a.samples.scene.smallest, "Height of an object, pixels")
      .between(8, 4096)
      .show_default();
  options
      .add("--largest RATIO", &a.samples.scene.largest, "Height of an object, in parts of the shorter side")
      .between(0.01, 1)
      .show_default();
}

}  // namespace

void add_samples(CLI::App& app, Common& common) {
  auto a = std::make_shared<SampleArguments>();
  SampleFolderOptions& s = a->samples;
  OptionSet options;
  options.add("pictures", &a->pictures, "Folders or lists of pictures in which objects are marked").require();
  options.add("--boxes FILE", &a->boxes, "Where the objects are, as lines `name x1 y1 x2 y2` or COCO (.json)")
      .require();
  options.add("--boxes-label CLASS", &a->label, "Class of --boxes to take objects of (default: all)")
      .free_text();
  options.add("--folder FOLDER", &a->folder, "Where the pictures of a list are, if not beside it");
  options.add("-o,--output FOLDER", &a->output, "Folder to make").require();
  options.add("--overwrite", &a->replace, "Replace a folder of that name that this command has made")
      .alias("--replace");
  options.add("--backgrounds FOLDER|LIST", &a->backgrounds,
              "Folders or lists of pictures without the object, into which copies are pasted");
  options.add("--copies N", &s.copies, "Copies of each object, beside itself")
      .between(0, 10'000)
      .show_default();
  options
      .add("--size WxH", &a->size,
           "Width and height of the object in a crop, pixels; the shape is that of the window to train, as "
           "in 48x96")
      .separated_by('x')
      .show_default(fmt::format("{}x{}", s.crop.object.width, s.crop.object.height));
  options.add("--margin RATIO", &s.crop.margin, "Margin of a crop around the object, in parts of its sides")
      .between(0, 4)
      .show_default();
  options
      .add("--test-share SHARE", &s.test_share,
           "Share of the pictures and backgrounds that are for testing: none of them is in a crop for "
           "training")
      .between(0, 1)
      .show_default();
  options.add("--seed N", &s.samples.seed, "Same seed, same samples").show_default();
  add_variation_options(options, s.samples.bounds);
  options.group("How they are pasted");
  options
      .add("--pasted SHARE", &s.crop.pasted,
           "Share of the copies with another background, where there are --backgrounds")
      .between(0, 1)
      .show_default();
  options
      .add("--mask SHAPE", &a->mask, "Pixels of the object: the ellipse in the marked box, or all of the box")
      .one_of({"ellipse", "box"})
      .show_default();
  options
      .add("--mask-edge RATIO", &s.samples.mask_edge,
           "Width over which it fades into the background, in parts of the object's height")
      .between(0, 1)
      .show_default();
  add_scene_options(options, *a);
  add_command(app, common, "samples", "Make many pictures of few marked objects, to train and to test with",
              options, [a, &common] { return run_samples(*a, common.verbosity); });
}

}  // namespace sightline::apps
