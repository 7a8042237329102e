// `sightline label`: marks objects in pictures, to train detectors on and to judge them by.
#include <spdlog/spdlog.h>

#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "apps/common/picture_output.hpp"
#include "apps/label/label_session.hpp"
#include "base/error.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

// The folder of pictures; of a list or a video its folder, with a name of its own.
fs::path default_place(const std::string& input, TruthFormat format) {
  std::error_code error;
  const bool is_folder = fs::is_directory(input, error);
  const fs::path path = fs::path(input).lexically_normal();
  const fs::path folder = is_folder ? path : path.parent_path();
  const std::string stem = is_folder || is_picture(path) ? "" : path.stem().string() + ".";
  switch (format) {
    case TruthFormat::yolo:
      return folder / (stem + "labels");
    case TruthFormat::coco:
      return folder / (stem + "boxes.json");
    default:
      return folder / (stem + "boxes.txt");
  }
}

LabelStore make_store(const LabelArguments& a) {
  const TruthFormat format = !a.format.empty() ? parse_truth_format(a.format)
                             : a.boxes.empty() ? TruthFormat::boxes
                                               : guess_truth_format(a.boxes);
  const fs::path place =
      a.boxes.empty() ? default_place(a.pictures.inputs.front(), format) : fs::path(a.boxes);
  if (a.convert_to.empty()) return {place, format};
  return LabelStore::to_read(place, format);
}

// A picture's marks in another format, which may need its size: it is opened.
void learn_sizes(LabelWork& work) {
  labelling::Session& session = work.session();
  while (work.extend()) throw_if_stopped();
  for (std::size_t i = 0; i < session.size(); ++i) {
    throw_if_stopped();
    if (!session.is_seen(i)) continue;
    session.go_to(i);
    const Size size = work.pictures().load(i).size();
    session.opened(size);
    if (const std::size_t outside = session.outside(); outside > 0)
      spdlog::warn("{}: {} box{} outside of the picture", session.name(i), outside, outside == 1 ? "" : "es");
  }
}

int convert(const LabelArguments& a, LabelWork& work) {
  const fs::path place = a.convert_to;
  // A name that says nothing is a folder's.
  const TruthFormat format =
      place.has_filename() && !place.has_extension() ? TruthFormat::yolo : guess_truth_format(place);
  std::error_code error;
  if (fs::equivalent(place, work.store().place(), error))
    throw Error(ExitCode::usage, "'" + place.string() + "' is where the boxes are", "choose another name");
  if (!a.overwrite)
    refuse_existing(format == TruthFormat::yolo ? (place / "classes.txt").string() : a.convert_to);
  if (format != TruthFormat::yolo) require_writable(place.string());
  labelling::Session& session = work.session();
  learn_sizes(work);
  const GroundTruth& truth = session.truth();
  if (truth.images.empty()) {
    throw Error(ExitCode::input, "nothing is marked in '" + work.store().place().string() + "'",
                "name the boxes with --boxes");
  }
  if (const std::string lost = lost_in(format, truth); !lost.empty())
    spdlog::warn("{} cannot hold {}: skipped", to_string(format), lost);
  write_truth(place, format, truth);
  std::printf("%s\n", place.c_str());
  return 0;
}

int run_label(LabelArguments a) {
  prepare_reading(a.pictures.inputs, a.pictures.reading);
  for (const std::string& input : a.pictures.inputs) refuse_input(input, a.boxes);
  LabelWork work(a);
  if (!a.convert_to.empty()) return convert(a, work);
#if SIGHTLINE_DISPLAY
  label_in_window(a, work);
  return stop_exit_code();
#else
  throw Error(ExitCode::usage, "this build of Sightline has no windows",
              "use --convert-to, which needs none");
#endif
}

}  // namespace

LabelWork::LabelWork(const LabelArguments& arguments)
    : store_(make_store(arguments)),
      pictures_(arguments.pictures, store_.is_yolo()),
      session_(store_.load(), arguments.classes, store_.is_yolo()) {
  for (std::size_t i = 0; i < pictures_.size(); ++i) add(i);
}

void LabelWork::add(std::size_t picture) {
  const auto known = store_.find(pictures_.name(picture));
  session_.add_picture(pictures_.name(picture), known ? &*known : nullptr);
}

bool LabelWork::extend() {
  if (!pictures_.extend()) return false;
  add(pictures_.size() - 1);
  return true;
}

void add_label(CLI::App& app, Common& common) {
  auto a = std::make_shared<LabelArguments>();
  OptionSet options;
  options
      .add("input", &a->pictures.inputs,
           "Folders of pictures, lists of pictures (.txt), pictures, or videos, whose frames are marked")
      .require();
  options.group("Boxes");
  options.add("-b,--boxes FILE", &a->boxes,
              "File of the boxes: a list (lines: name x1 y1 x2 y2), a COCO file (.json) or a YOLO folder "
              "(default: boxes.txt beside the pictures)");
  options
      .add("-f,--format FORMAT", &a->format, "Format of the boxes: boxes, yolo, coco (default: by the name)")
      .one_of({"boxes", "yolo", "coco"});
  options
      .add("--classes CLASS,...", &a->classes,
           "Classes to mark, in the order of the keys 1 to 9 and 0: person,car,dog")
      .separated_by(',')
      .one_at_a_time()
      .free_text();
  options.add("--convert-to FILE", &a->convert_to,
              "File to write all boxes to, without a window: a list, COCO file (.json) or YOLO folder (a "
              "name without extension)");
  options.add("--overwrite", &a->overwrite, "Replace the file of --convert-to");
  options.group("Pictures");
  options.add("--unseen", &a->only_unseen, "Show only unseen pictures (key u)");
  options.add("--every N", &a->pictures.reading.every, "Take every n-th frame of a video")
      .between(1, 1'000'000)
      .show_default();
  options.add("--frames FOLDER", &a->frames,
              "Folder to write marked frames of videos to, as pictures for `train`");
  add_limit_options(options, a->pictures.reading);
  add_decoder_option(options, a->pictures.reading);
  options.group("Window");
  options.add("--full-screen", &a->full_screen, "Fill the screen from the start");
  options.add("--software", &a->software, "Draw without the graphics card");
  a->detector.add_to(options, {"--classes", "--device", "--schedule", "--map", "--split", "--in-flight",
                               "--batch", "--goal", "--explain"});
  add_command(app, common, "label", "Mark objects in pictures, for training and evaluation", options, [a] {
    a->pictures.frames = a->frames;
    return run_label(*a);
  });
}

}  // namespace sightline::apps
