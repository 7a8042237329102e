// `sightline detect`: objects in video files, pictures and streams, into files.
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <strings.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <utility>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/count_rules.hpp"
#include "apps/common/listed_inputs.hpp"
#include "apps/common/media_options.hpp"
#include "apps/common/picture_output.hpp"
#include "apps/detect/detect_run.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "media/folder.hpp"

namespace sightline::apps {

namespace fs = std::filesystem;

constexpr const char* kYolo = "yolo";  // a format of `detect` alone

Target target_for(const DetectArguments& a, const std::string& input) {
  std::error_code error;
  const fs::path output = a.output;
  const bool several = a.several;
  const bool from_folder = fs::is_directory(input, error);
  const bool to_folder = several || !output.has_filename() || fs::is_directory(output, error) ||
                         (from_folder && !output.has_extension());
  fs::path name = fs::path(input).filename();
  if (name.empty()) name = fs::path(input).parent_path().filename();
  if (to_folder && from_folder) return {(several ? output / name : output).string(), true};
  if (to_folder && is_picture(input) && fs::is_regular_file(input, error)) return {a.output, true};
  if (several) return {(output / (name.stem().string() + "-detected.mp4")).string()};
  return {a.output};
}

namespace {

// No two inputs end in one file, and no input is overwritten.
void check_targets(const DetectArguments& a) {
  std::vector<std::string> names;
  std::vector<std::string> replaced;
  std::error_code error;
  for (const std::string& input : a.inputs) {
    const Target target = target_for(a, input);
    if (!target.pictures) {
      names.push_back(target.path);
      refuse_input(input, target.path);
      continue;
    }
    for (const PicturePair& pair : picture_pairs(input, target.path, a.reading.recursive)) {
      names.push_back(pair.target.string());
      if (media::is_same_file(pair.source.string(), pair.target.string())) {
        throw Error(ExitCode::usage, "the output '" + pair.target.string() + "' is the input",
                    "choose another folder");
      }
      if (fs::exists(pair.target, error)) replaced.push_back(pair.target.string());
    }
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    throw Error(ExitCode::usage, "two inputs would both be written to '" + *twice + "'",
                "run them one by one, each with its own --output folder");
  }
  if (!a.overwrite && !replaced.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("{} in '{}' would be replaced, for example '{}'",
                            counted(std::ssize(replaced), "picture"), a.output,
                            *std::min_element(replaced.begin(), replaced.end())),
                "choose another folder, or replace them with --overwrite");
  }
}

bool is_folder(const std::string& name) {
  std::error_code error;
  return fs::is_directory(name, error);
}

// By its extension, a video or picture.
bool names_a_file(const std::string& output) {
  if (!fs::path(output).has_extension() || is_folder(output)) return false;
  try {
    static_cast<void>(media::is_picture_name(output));
  } catch (const Error&) {
    return false;
  }
  return true;
}

// Of numbered pictures (name%03d.png, or a video into a folder), the first one.
std::string first_picture(const std::string& output) {
  if (is_folder(output) || output.ends_with('/')) return (fs::path(output) / "000001.png").string();
  std::smatch number;
  if (!std::regex_search(output, number, std::regex("%0?([0-9]*)d"))) return output;
  const int digits = number[1].length() > 0 ? std::min(std::stoi(number[1].str().substr(0, 2)), 20) : 1;
  return fmt::format("{}{:0{}}{}", number.prefix().str(), 1, digits, number.suffix().str());
}

// What cannot be written to one file is refused before anything is there.
void check_output(const DetectArguments& a) {
  std::error_code error;
  const bool is_file = fs::exists(a.output, error) && !is_folder(a.output);
  if (a.several && (is_file || names_a_file(a.output))) {
    throw Error(ExitCode::usage, "with several inputs, --output '" + a.output + "' must be a folder",
                "name a folder; each input gets its own video or picture in it");
  }
  const std::string& input = a.inputs.front();
  if (!is_folder(input) || !names_a_file(a.output) || !media::is_picture_name(a.output)) return;
  const auto pictures = std::ssize(media::list_folder(input, a.reading.recursive).images);
  if (pictures < 2 || a.output.find('%') != std::string::npos) return;
  throw Error(
      ExitCode::usage,
      fmt::format("--output '{}' is one picture, and there are {} in '{}'", a.output, pictures, input),
      "name a folder, in which each picture keeps its name");
}

// A folder, or a file of a single picture: animated ones are videos.
bool holds_pictures(const std::string& input) {
  std::error_code error;
  if (is_folder(input)) return true;
  if (!is_picture(input) || !fs::is_regular_file(input, error)) return false;
  try {
    return media::Reader(input).info().is_pictures;
  } catch (const Error&) {
    return false;  // the run says what is wrong with it
  }
}

void check_expected(const DetectArguments& a) {
  if (a.expected.empty()) return;
  for (const std::string& output : {a.output, a.detections}) refuse_input(a.expected, output);
  std::set<std::string> names;
  for (const std::string& input : a.inputs) {
    if (a.together && !names.insert(fs::path(input).filename()).second) {
      throw Error(
          ExitCode::usage,
          "--expect tells inputs by their names, and two are '" + fs::path(input).filename().string() + "'",
          "leave out --together");
    }
  }
}

void check_detect(const DetectArguments& a) {
  const bool needs_time = a.reading.start > 0 || a.reading.duration || a.tracking.is_asked_for();
  // Before another one is processed.
  for (const std::string& input : a.inputs) {
    require_present(input);
    if (needs_time && holds_pictures(input)) refuse_time_options(input, a.reading, a.tracking.is_asked_for());
  }
  if (a.detector.asks_for_quality() && a.inputs.size() == 1 && !is_folder(a.inputs.front()) &&
      holds_pictures(a.inputs.front())) {
    throw Error(ExitCode::usage,
                "--hold, --budget and --battery do nothing for one picture: '" + a.inputs.front() + "'",
                "leave them out; they change the setting while a video runs");
  }
  if (!a.output.empty()) {
    check_output(a);
    check_targets(a);
  }
  check_expected(a);
  require_writable(a.contact_sheet);
  require_writable(a.trace);
  require_writable(a.report);
  refuse_same_outputs({a.output, a.detections, a.contact_sheet, a.trace, a.report});
  if (a.output.empty()) return;
  for (const std::string& input : a.inputs) {
    const Target target = target_for(a, input);
    if (!a.overwrite && !target.pictures) refuse_existing(first_picture(target.path));
  }
  if (a.several) make_folder(a.output);
}

// The format of the detections, known before anything is opened.
ResultFormat format_of(const DetectArguments& a) {
  const ResultFormat format = detections_format(a.detections, a.format);
  if (format == ResultFormat::mot && a.several && !a.detections.empty()) {
    throw Error(ExitCode::usage, "the mot format holds one source, and there are several inputs",
                "run them one by one, or choose another format");
  }
  return format;
}

// Detections in files of each frame go to a folder, and to no file.
void move_labels(DetectArguments& a) {
  const std::vector<std::string_view> names = result_format_names();
  if (a.format != kYolo) {
    if (a.format.empty() || std::ranges::find(names, a.format) != names.end()) return;
    throw Error(ExitCode::usage, "unknown result format '" + a.format + "'",
                fmt::format("choose one of {}, {}", fmt::join(names, ", "), kYolo));
  }
  if (a.detections.empty() || a.detections == "-") {
    throw Error(ExitCode::usage,
                "--format yolo writes a file for each frame, and no folder is named for them",
                "add --detections labels/");
  }
  a.labels = std::exchange(a.detections, "");
  a.format = "";
}

int run_detect_command(DetectArguments a, int verbosity) {
  const std::vector<std::string> named = std::move(a.inputs);
  a.inputs = with_videos(named, a.reading.recursive);
  a.several = a.inputs.size() > 1 || a.inputs != named;
  move_labels(a);
  prepare_reading(a.inputs, a.reading);
  check_detect(a);
  // Without any output, detections go to standard output: the program is never silent about what it found.
  if (a.detections.empty() && a.output.empty() && a.contact_sheet.empty() && a.expected.empty() &&
      a.crops.empty() && a.labels.empty() && !a.digest)
    a.detections = "-";
  const ResultFormat format = format_of(a);
  return run_detect(std::move(a), format, verbosity);
}

}  // namespace

void add_detect(CLI::App& app, Common& common) {
  auto a = std::make_shared<DetectArguments>();
  auto zones = std::make_shared<std::string>();
  OptionSet options;
  options
      .add("input", &a->inputs,
           "Videos, pictures, folders of these, patterns (img%03d.png), URLs, lavfi:GRAPH, or - for standard "
           "input")
      .require();
  options.group("Output");
  options
      .add("-o,--output FILE", &a->output,
           "Annotated video (.mp4, .mkv, ...), picture, or folder (for several inputs, and for folders of "
           "pictures)")
      .checked_by(OutputFile());
  options
      .add("-d,--detections FILE", &a->detections,
           "Detections file; - is standard output (the default without any output)")
      .checked_by(OutputFile(kDetectionsEndings));
  options
      .add("-f,--format FORMAT", &a->format,
           "Format of the detections: jsonl, json, csv, mot, coco, or yolo, for which --detections names a "
           "folder (default: by the file's extension, else jsonl)")
      .suggest([] {
        Choices choices = format_choices();
        choices.values.push_back({kYolo, ""});
        return choices;
      });
  options
      .add("--contact-sheet FILE", &a->contact_sheet,
           "Picture (PNG) with annotated frames spread over the run")
      .checked_by(OutputFile{{".png"}});
  options
      .add("--trace FILE", &a->trace,
           "Trace file of all stages (Chrome trace JSON, for ui.perfetto.dev or chrome://tracing), or a plot "
           "of each step's time along the frames (NAME.svg)")
      .checked_by(OutputFile{{".json", ".svg"}});
  options.add("--report FILE", &a->report, "Page (HTML): rate and setting over time, and stage times")
      .checked_by(OutputFile{{".html", ".htm"}});
  options.add(
      "--crops FOLDER", &a->crops,
      "Pictures (PNG) of the found objects; with --track, the one with the highest score of each track");
  options.add("--digest", &a->digest,
              "Print a digest of each input's results, equal on every machine; in JSON, of each frame's");
  options.add("--expect FILE", &a->expected,
              "Compare with stored results (.jsonl, .json) exactly; the exit code is 6 if they differ");
  add_encoder_options(options, a->writing);
  options.add("--no-audio", &a->no_audio, "Drop the sound");
  options.group("Input");
  options.add("--together", &a->together,
              "Search all inputs at the same time; they share the processors evenly");
  options.add("--keep-going", &a->keep_going,
              "Continue after damaged inputs and pictures; the log names them, and the exit code is 1");
  options.add("--recursive", &a->reading.recursive, "Also read pictures and videos in sub-folders");
  options.add("--start SECONDS", &a->reading.start, "Start of the part to search, in seconds").not_negative();
  options
      .add("--duration SECONDS", &a->reading.duration,
           "Length of the part to search, in seconds; with --loop -1, of all repeats together")
      .positive();
  options.add("--every N", &a->reading.every, "Read every n-th frame").between(1, 1'000'000).show_default();
  options.add("--loop TIMES", &a->reading.loop, "Repeats of the input; -1: without end")
      .between(-1, 1'000'000);
  a->detector.add_tiles_to(options);
  add_limit_options(options, a->reading);
  add_decoder_option(options, a->reading);
  add_timeout_option(options, a->reading);
  a->tracking.add_to(options);
  options.add("--zones FILE", zones.get(), "Lines and zones (TOML) in which tracked objects are counted")
      .needs("--track");
  a->detector.add_to(options);
  a->detector.follow_gallery();
  a->detector.add_quality_to(options);
  add_command(app, common, "detect", "Find objects in video files, pictures or streams", options,
              [a, zones, &common] {
                if (!zones->empty()) a->counted = read_count_rules(*zones);
                a->overwrite = common.overwrite;
                return run_detect_command(*a, common.verbosity);
              });
}

}  // namespace sightline::apps
