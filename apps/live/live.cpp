// `sightline live`: objects in what a camera sees now, in a window.
#include <spdlog/spdlog.h>

#include <cctype>
#include <filesystem>
#include <memory>
#include <thread>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "apps/live/live_report.hpp"
#include "base/error.hpp"
#include "media/cameras.hpp"
#if SIGHTLINE_DISPLAY
#include "apps/live/live_window.hpp"
#endif

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecordingPattern = "sightline-%Y%m%d-%H%M%S.mp4";

// As they are typed.
struct Typed {
  std::vector<std::string> inputs;
  std::string size;
  std::string drop;
  std::string format;
  std::string rotate;
  std::optional<double> pace;
  std::optional<int> loop;
  pipeline::LiveOptions capture;  ///< of all inputs
  media::RecordOptions recording;
};

std::string short_name(const std::string& input) {
  std::error_code error;
  return fs::is_regular_file(input, error) ? fs::path(input).filename().string() : input;
}

// Letters, digits and points of an input's name.
std::string name_for_files(const std::string& input) {
  std::error_code error;
  const std::string name = fs::is_regular_file(input, error) ? fs::path(input).stem().string() : input;
  std::string safe;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_') {
      safe += c;
    } else if (!safe.empty() && safe.back() != '-') {
      safe += '-';
    }
  }
  return safe;
}

// Where recordings of an input go, of several: the name is in theirs.
std::string recordings_of(const std::string& wish, const std::string& input) {
  std::error_code error;
  fs::path path = wish;
  if (fs::is_directory(path, error) || !path.has_filename()) path /= kRecordingPattern;
  const std::string name = path.stem().string() + "-" + name_for_files(input) + path.extension().string();
  return path.replace_filename(name).string();
}

LiveInputArguments complete_input(std::string input, const LiveArguments& a, const Typed& typed) {
  LiveInputArguments all{input, short_name(input), typed.capture, typed.recording};
  pipeline::LiveOptions& capture = all.capture;
  capture.live = media::is_live(input);
  // What is live may come later, and where it does not, the reader knows what to do about it.
  if (!capture.live) require_present(input);
  if (capture.live && typed.loop)
    throw Error(ExitCode::usage, "--loop needs a file, and '" + input + "' is not one");
  if (capture.live && typed.pace)
    throw Error(ExitCode::usage, "--pace needs a file: '" + input + "' is live and sets the pace");
  if (capture.live && a.reading.start > 0)
    throw Error(ExitCode::usage, "--start needs a file: '" + input + "' is live");
  if (!capture.live) capture.pace = typed.pace.value_or(1);
  // What is read as fast as it can be waits for the detector: else nearly all would be dropped.
  const bool waits = !capture.live && capture.pace == 0;
  capture.drop = typed.drop.empty() ? (waits ? pipeline::DropPolicy::none : pipeline::DropPolicy::oldest)
                                    : pipeline::parse_drop_policy(typed.drop);
  if (!a.records) all.recording.path = kRecordingPattern;
  if (typed.inputs.size() > 1) all.recording.path = recordings_of(all.recording.path, input);
  return all;
}

void complete_inputs(LiveArguments& a, Typed& typed) {
  if (typed.inputs.empty()) typed.inputs.push_back(media::first_camera().path);
  prepare_reading(typed.inputs, a.reading);
  if (!typed.size.empty()) a.reading.capture.size = parse_size(typed.size, "--size");
  a.reading.loop = typed.loop.value_or(0);
  a.records = !typed.recording.path.empty();
  typed.recording.rotation = parse_segment_limits(typed.rotate, "rotate");
  if (!a.records && (typed.recording.rotation.is_set() || typed.recording.keep > 0))
    throw Error(ExitCode::usage, "--rotate and --keep need a recording", "name one with --record");
  for (const std::string& input : typed.inputs) a.inputs.push_back(complete_input(input, a, typed));
}

void complete_outputs(LiveArguments& a, const Typed& typed) {
  a.format = detections_format(a.detections, typed.format);
  if (a.format == ResultFormat::mot && a.has_several_inputs() && !a.detections.empty()) {
    throw Error(ExitCode::usage, "the mot format holds one source, and there are several inputs",
                "run them one by one, or choose another format");
  }
  for (const std::string* file : {&a.detections, &a.trace, &a.report})
    for (const LiveInputArguments& input : a.inputs) refuse_input(input.name, *file);
  refuse_same_outputs({a.detections, a.trace, a.report});
  require_writable(a.trace);
  require_writable(a.report);
}

void run_headless(const LiveArguments& arguments, int verbosity) {
  LiveSession session(arguments, [] {});
  session.begin();
  LiveReport report(session, arguments.status_every, arguments.duration, verbosity);
  while (!stop_requested() && !session.has_ended() && !report.is_over()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    report.tell();
  }
  session.finish();
  report.summarise();
}

int run_live(LiveArguments a, Typed typed, int verbosity) {
  complete_inputs(a, typed);
  complete_outputs(a, typed);
  if (!a.headless) a.detector.turn_by_hand();
#if SIGHTLINE_DISPLAY
  if (a.headless) {
    run_headless(a, verbosity);
  } else {
    run_in_window(a, verbosity);
  }
#else
  if (!a.headless) throw Error(ExitCode::usage, "this build of Sightline has no windows", "add --headless");
  run_headless(a, verbosity);
#endif
  return stop_exit_code();
}

void add_input_options(OptionSet& options, LiveArguments& a, Typed& typed) {
  options.add("input", &typed.inputs,
              "Cameras (/dev/video0), RTSP, HTTP or UDP URLs, screen: (or screen::0.0+100,200), and files; "
              "several share one window (default: the first camera)");
  options.group("Input");
  options.add("--size WxH", &typed.size, "Size of a camera's pictures, or of a part of the screen: 1280x720")
      .free_text();
  options.add("--fps FPS", &a.reading.capture.frame_rate, "Frames per second of a camera or screen")
      .positive();
  options
      .add("--pixel-format FORMAT", &a.reading.capture.pixel_format,
           "Pixel format of a camera, from `sightline devices --cameras`: mjpeg, yuyv422, ...")
      .free_text();
  options
      .add("--pace SPEED", &typed.pace,
           "Playback speed of a file: 1 its own pace (the default), 2 twice as fast, 0 as fast as it can be "
           "read")
      .between(0, 1000);
  options.add("--loop TIMES", &typed.loop, "Repeats of a file; -1: without end").between(-1, 1'000'000);
  options.add("--start SECONDS", &a.reading.start, "Start of the part of a file to play, in seconds")
      .not_negative();
  options
      .add("--give-up-after SECONDS", &typed.capture.give_up_after,
           "Maximum time to wait for a lost source, or for one that is missing at the start, in seconds "
           "(default: no limit)")
      .between(0, 1e6);
  a.detector.add_tiles_to(options);
  add_limit_options(options, a.reading);
  add_decoder_option(options, a.reading);
  options.add("--duration SECONDS", &a.duration, "Length of the run, in seconds").positive();
}

void add_latency_options(OptionSet& options, LiveArguments& a, Typed& typed) {
  options.group("Latency");
  options
      .add("--drop POLICY", &typed.drop,
           "Frames to drop when they come too fast: oldest (the default: the newest are searched), newest, "
           "none (capture waits)")
      .suggest(drop_policy_choices);
  options.add("--queue FRAMES", &typed.capture.queue, "Maximum number of waiting frames")
      .between(1, 1000)
      .show_default();
  options.add("--every N", &typed.capture.every, "Search every n-th frame")
      .between(1, 1'000'000)
      .show_default();
  options.add("--display-all", &a.display_all,
              "Show every frame at once, with the latest boxes, instead of the searched frames only");
}

void add_window_options(OptionSet& options, LiveArguments& a) {
  options.group("Window");
  options.add("--headless", &a.headless, "Run without a window");
  options.add("--full-screen", &a.full_screen, "Fill the screen from the start");
  options
      .add("--hud MODE", &a.hud,
           "Statistics over the picture: compact (found, frames/s, latency), full or off; key o changes it")
      .one_of({"full", "compact", "off"})
      .show_default();
  options.add("--software", &a.software, "Draw without the graphics card");
  options.add("--vsync", &a.vsync, "Avoid tearing, at the cost of up to one refresh of latency");
}

void add_output_options(OptionSet& options, LiveArguments& a, Typed& typed) {
  options.group("Output");
  options.add("--record FILE", &typed.recording.path,
              "Annotated video: a file, a folder, or a pattern such as cam-%Y%m%d-%H%M%S.mp4; no existing "
              "file is replaced. Those of several inputs have the inputs' names in theirs");
  options
      .add("--rotate LIMIT", &typed.rotate,
           "Maximum length or size of a recording before a new one starts: 10m, 1h, 500M, 2G, or 10m,500M")
      .free_text();
  options.add("--keep N", &typed.recording.keep, "Number of recordings of this run to keep, the newest")
      .between(1, 1'000'000);
  add_encoder_options(options, typed.recording.writing);
  options
      .add("-d,--detections FILE", &a.detections,
           "Detections file, written frame by frame: a file, a pipe, or - for standard output")
      .checked_by(OutputFile(kDetectionsEndings));
  options.add("-f,--format FORMAT", &typed.format, "Format of the detections: jsonl, json, csv, mot, coco")
      .suggest(format_choices);
  options
      .add("--trace FILE", &a.trace,
           "Trace file of all stages (Chrome trace JSON), or a plot of each step's time (NAME.svg)")
      .checked_by(OutputFile{{".json", ".svg"}});
  options
      .add("--report FILE", &a.report, "Page (HTML), at the end: rate and setting over time, and stage times")
      .checked_by(OutputFile{{".html", ".htm"}});
  options.add("--status SECONDS", &a.status_every, "Interval between status lines, in seconds").positive();
}

}  // namespace

void add_live(CLI::App& app, Common& common) {
  auto a = std::make_shared<LiveArguments>();
  auto typed = std::make_shared<Typed>();
  OptionSet options;
  add_input_options(options, *a, *typed);
  add_latency_options(options, *a, *typed);
  add_window_options(options, *a);
  add_output_options(options, *a, *typed);
  a->tracking.add_to(options, true);
  a->detector.add_to(options);
  a->detector.add_quality_to(options);
  a->detector.follow_gallery();
  add_command(app, common, "live",
              "Find objects in a camera, a screen or a stream, and show them in a window", options,
              [a, typed, &common] { return run_live(*a, *typed, common.verbosity); });
}

}  // namespace sightline::apps
