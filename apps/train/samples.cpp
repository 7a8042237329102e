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
      given_size("size", a.size, kSmallestSide, kLargestSide, "48x96").value_or(options.crop.object);
  options.samples.mask = a.mask == "box" ? training::Mask::box : training::Mask::ellipse;
  options.empty_scenes = a.empty_scenes.value_or(options.scenes);
  if (options.scenes + options.empty_scenes > 0 && a.backgrounds.empty())
    throw Error(ExitCode::usage, "--scenes needs backgrounds",
                "name pictures without the object with --backgrounds");
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
    throw Error(ExitCode::failed, "'" + folder.string() + "' was not made by `samples` and is not replaced",
                "choose another folder");
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
  options.group("Variation of copies (bounds; 0: none)");
  options.add("--turn-x DEGREES", &b.turn_x, "Maximum nodding of a copy, in degrees up and down")
      .between(0, 60)
      .show_default();
  options.add("--turn-y DEGREES", &b.turn_y, "Maximum turn of a copy to the side, in degrees")
      .between(0, 60)
      .show_default();
  options.add("--turn-z DEGREES", &b.turn_z, "Maximum rotation of a copy in the picture, in degrees")
      .between(0, 180)
      .show_default();
  options.add("--zoom RATIO", &b.zoom, "Maximum change of size, as a share of the size")
      .between(0, 1)
      .show_default();
  options.add("--shift RATIO", &b.shift, "Maximum shift from the middle, as a share of the height")
      .between(0, 0.5)
      .show_default();
  options.add("--contrast FACTOR", &b.contrast, "Maximum change of contrast; 1: between half and twice")
      .between(0, 4)
      .show_default();
  options.add("--brightness LEVELS", &b.brightness, "Maximum change of brightness, in levels of 255")
      .between(0, 255)
      .show_default();
  options.add("--gamma EXPONENT", &b.gamma, "Maximum change of gamma; 1: exponents from 0.5 to 2")
      .between(0, 4)
      .show_default();
  options.add("--gradient FACTOR", &b.gradient, "Maximum light from one side, edge against middle; 1: twice")
      .between(0, 1)
      .show_default();
  options.add("--blur PX", &b.blur, "Maximum blur: standard deviation of a Gaussian, in pixels")
      .between(0, 20)
      .show_default();
  options.add("--noise LEVELS", &b.noise, "Maximum noise: standard deviation of a Gaussian, in levels")
      .between(0, 100)
      .show_default();
  options.add("--mirror", &b.mirror, "Mirror every other copy (not for objects with a left and a right)");
}

void add_scene_options(OptionSet& options, SampleArguments& a) {
  options.group("Test scenes");
  options.add("--scenes N", &a.samples.scenes, "Number of pictures with objects, made of test pictures alone")
      .between(0, 100'000)
      .show_default();
  options.add("--empty-scenes N", &a.empty_scenes, "Number of pictures without objects (default: as many)")
      .between(0, 100'000);
  options
      .add("--scene-side PX", &a.samples.scene.longest_side,
           "Maximum side of a scene, in pixels; larger backgrounds are reduced")
      .between(64, 8192)
      .show_default();
  options.add("--scene-objects N", &a.samples.scene.most_objects, "Maximum number of objects in a scene")
      .between(1, 100)
      .show_default();
  options.add("--smallest PX", &a.samples.scene.smallest, "Minimum height of an object, in pixels")
      .between(8, 4096)
      .show_default();
  options
      .add("--largest RATIO", &a.samples.scene.largest,
           "Maximum height of an object, as a share of the scene's shorter side")
      .between(0.01, 1)
      .show_default();
}

}  // namespace

void add_samples(CLI::App& app, Common& common) {
  auto a = std::make_shared<SampleArguments>();
  SampleFolderOptions& s = a->samples;
  OptionSet options;
  options.add("pictures", &a->pictures, "Folders or lists of pictures with marked objects").require();
  options.add("--boxes FILE", &a->boxes, "Marks of the objects, as lines `name x1 y1 x2 y2` or COCO (.json)")
      .require();
  options.add("--boxes-label CLASS", &a->label, "Class of the objects in --boxes (default: all)").free_text();
  options.add("--folder FOLDER", &a->folder, "Folder of the pictures of a list (default: the list's folder)");
  options.add("-o,--output FOLDER", &a->output, "Folder to write").require();
  options.add("--overwrite", &a->replace, "Replace an earlier folder of this command").alias("--replace");
  options.add("--backgrounds FOLDER|LIST", &a->backgrounds,
              "Folders or lists of pictures without the object, into which copies are pasted");
  options.add("--copies N", &s.copies, "Number of copies of each object, besides itself")
      .between(0, 10'000)
      .show_default();
  options
      .add(
          "--size WxH", &a->size,
          "Width and height of the object in a crop, in pixels, with the shape of the window to train: 48x96")
      .separated_by('x')
      .show_default(fmt::format("{}x{}", s.crop.object.width, s.crop.object.height));
  options.add("--margin RATIO", &s.crop.margin, "Margin of a crop around the object, as a share of its sides")
      .between(0, 4)
      .show_default();
  options
      .add("--test-share SHARE", &s.test_share,
           "Share of the pictures and backgrounds for testing; none of them is in a crop for training")
      .between(0, 1)
      .show_default();
  options.add("--seed N", &s.samples.seed, "Seed of the random numbers").show_default();
  add_variation_options(options, s.samples.bounds);
  options.group("Pasting");
  options.add("--pasted SHARE", &s.crop.pasted, "Share of the copies that are pasted into --backgrounds")
      .between(0, 1)
      .show_default();
  options
      .add("--mask SHAPE", &a->mask, "Shape of the object: the ellipse in the marked box, or the whole box")
      .one_of({"ellipse", "box"})
      .show_default();
  options
      .add("--mask-edge RATIO", &s.samples.mask_edge,
           "Width of the soft edge, as a share of the object's height")
      .between(0, 1)
      .show_default();
  add_scene_options(options, *a);
  add_command(app, common, "samples", "Make training and test pictures from few marked objects", options,
              [a, &common] { return run_samples(*a, common.verbosity); });
}

}  // namespace sightline::apps
