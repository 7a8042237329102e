// `sightline live`: objects in what a camera sees now, in a window.
#include <spdlog/spdlog.h>

#include <memory>

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

// As they are typed.
struct Typed {
  std::string size;
  std::string drop;
  std::string format;
  std::string rotate;
  std::optional<double> pace;
  std::optional<int> loop;
};

void complete_input(LiveArguments& a, const Typed& typed) {
  if (a.input.empty()) a.input = media::first_camera().path;
  prepare_reading(a.input, a.reading);
  if (!typed.size.empty()) a.reading.capture.size = parse_size(typed.size, "--size");
  a.capture.live = media::is_live(a.input);
  // What is live may come later, and where it does not, the reader knows what to do about it.
  if (!a.capture.live) require_present(a.input);
  if (a.capture.live && typed.loop)
    throw Error(ExitCode::usage, "--loop needs a file, and '" + a.input + "' is not one");
  if (a.capture.live && typed.pace)
    throw Error(ExitCode::usage, "--pace needs a file: '" + a.input + "' is live and sets the pace");
  if (a.capture.live && a.reading.start > 0)
    throw Error(ExitCode::usage, "--start needs a file: '" + a.input + "' is live");
  a.reading.loop = typed.loop.value_or(0);
  if (!a.capture.live) a.capture.pace = typed.pace.value_or(1);
  // What is read as fast as it can be waits for the detector: else nearly all would be dropped.
  const bool waits = !a.capture.live && a.capture.pace == 0;
  a.capture.drop = typed.drop.empty() ? (waits ? pipeline::DropPolicy::none : pipeline::DropPolicy::oldest)
                                      : pipeline::parse_drop_policy(typed.drop);
}

void complete_outputs(LiveArguments& a, const Typed& typed) {
  a.format = detections_format(a.detections, typed.format);
  a.recording.rotation = parse_segment_limits(typed.rotate, "rotate");
  if (a.recording.path.empty() && (a.recording.rotation.is_set() || a.recording.keep > 0))
    throw Error(ExitCode::usage, "--rotate and --keep need a recording", "name one with --record");
  for (const std::string* file : {&a.detections, &a.trace, &a.report}) refuse_input(a.input, *file);
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

int run_live(LiveArguments a, const Typed& typed, int verbosity) {
  complete_input(a, typed);
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
  options.add("input", &a.input,
              "Camera (/dev/video0), RTSP, HTTP or UDP URL, screen: (or screen::0.0+100,200), or a file "
              "(default: the first camera)");
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
      .add("--give-up-after SECONDS", &a.capture.give_up_after,
           "Maximum time to wait for a lost source, or for one that is missing at the start, in seconds "
           "(default: no limit)")
      .between(0, 1e6);
  add_limit_options(options, a.reading);
  options.add("--duration SECONDS", &a.duration, "Length of the run, in seconds").positive();
}

void add_latency_options(OptionSet& options, LiveArguments& a, Typed& typed) {
  options.group("Latency");
  options
      .add("--drop POLICY", &typed.drop,
           "Frames to drop when they come too fast: oldest (the default: the newest are searched), newest, "
           "none (capture waits)")
      .suggest(drop_policy_choices);
  options.add("--queue FRAMES", &a.capture.queue, "Maximum number of waiting frames")
      .between(1, 1000)
      .show_default();
  options.add("--every N", &a.capture.every, "Search every n-th frame").between(1, 1'000'000).show_default();
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
  options.add("--record FILE", &a.recording.path,
              "Annotated video: a file, a folder, or a pattern such as cam-%Y%m%d-%H%M%S.mp4; no existing "
              "file is replaced");
  options
      .add("--rotate LIMIT", &typed.rotate,
           "Maximum length or size of a recording before a new one starts: 10m, 1h, 500M, 2G, or 10m,500M")
      .free_text();
  options.add("--keep N", &a.recording.keep, "Number of recordings of this run to keep, the newest")
      .between(1, 1'000'000);
  add_encoder_options(options, a.recording.writing);
  options
      .add("-d,--detections FILE", &a.detections,
           "Detections file, written frame by frame: a file, a pipe, or - for standard output")
      .checked_by(OutputFile(kDetectionsEndings));
  options.add("-f,--format FORMAT", &typed.format, "Format of the detections: jsonl, json, csv, mot, coco")
      .suggest(format_choices);
  options.add("--trace FILE", &a.trace, "Trace file of all stages (Chrome trace JSON)")
      .checked_by(OutputFile{{".json"}});
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
