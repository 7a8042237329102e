// `sightline live`: objects in what a camera sees now, in a window.
#include <spdlog/spdlog.h>

#include <memory>

#include "base/error.hpp"
#include "commands.hpp"
#include "live_report.hpp"
#include "media/cameras.hpp"
#include "media_options.hpp"
#include "numbers.hpp"
#include "stop.hpp"
#include "writable.hpp"
#if SIGHTLINE_DISPLAY
#include "live_window.hpp"
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
  if (!typed.size.empty()) a.reading.capture.size = parse_size(typed.size, "--size");
  a.capture.live = media::is_live(a.input);
  // What is live may come later, and where it does not, the reader knows what to do about it.
  if (!a.capture.live) require_present(a.input);
  if (a.capture.live && typed.loop)
    throw Error(ExitCode::usage, "--loop is for files, and '" + a.input + "' is none");
  if (a.capture.live && typed.pace)
    throw Error(ExitCode::usage, "--pace is for files: '" + a.input + "' has a pace of its own");
  if (a.capture.live && a.reading.start > 0)
    throw Error(ExitCode::usage, "--start is for files: '" + a.input + "' begins now");
  a.reading.loop = typed.loop.value_or(0);
  if (!a.capture.live) a.capture.pace = typed.pace.value_or(1);
  // What is read as fast as it can be waits for the detector: else nearly all would be dropped.
  const bool waits = !a.capture.live && a.capture.pace == 0;
  a.capture.drop = typed.drop.empty() ? (waits ? pipeline::DropPolicy::none : pipeline::DropPolicy::oldest)
                                      : pipeline::parse_drop_policy(typed.drop);
}

void complete_outputs(LiveArguments& a, const Typed& typed) {
  a.format = typed.format.empty() ? guess_result_format(a.detections).value_or(ResultFormat::jsonl)
                                  : parse_result_format(typed.format);
  a.recording.rotation = parse_rotation(typed.rotate, "--rotate");
  if (a.recording.path.empty() && (a.recording.rotation.is_set() || a.recording.keep > 0))
    throw Error(ExitCode::usage, "--rotate and --keep are for recordings", "name one with --record");
  for (const std::string* file : {&a.detections, &a.trace}) refuse_input(a.input, *file);
  refuse_same_outputs({a.detections, a.trace});
  require_writable(a.trace);
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

int run(LiveArguments a, const Typed& typed, int verbosity) {
  complete_input(a, typed);
  complete_outputs(a, typed);
#if SIGHTLINE_DISPLAY
  if (a.headless) {
    run_headless(a, verbosity);
  } else {
    run_in_window(a, verbosity);
  }
#else
  if (!a.headless) throw Error(ExitCode::usage, "Sightline is built without windows", "add --headless");
  run_headless(a, verbosity);
#endif
  return stop_exit_code();
}

}  // namespace

void add_live(CLI::App& app, Common& common) {
  CLI::App* command = app.add_subcommand(
      "live", "Find objects in what a camera, a screen or a stream shows now, in a window");
  auto a = std::make_shared<LiveArguments>();
  auto typed = std::make_shared<Typed>();
  command->add_option("input", a->input,
                      "Camera (/dev/video0), RTSP, HTTP or UDP URL, screen: (or screen::0.0+100,200), or a "
                      "file; the first camera unless given");
  const std::string input = "Input";
  command->add_option("--size", typed->size, "Of a camera's pictures, or a part of the screen: 1280x720")
      ->group(input);
  command->add_option("--fps", a->reading.capture.frame_rate, "Frames a second of a camera or screen")
      ->check(positive())
      ->group(input);
  command
      ->add_option("--pixel-format", a->reading.capture.pixel_format,
                   "Of a camera, as `sightline devices --cameras` lists them: mjpeg, yuyv422, ...")
      ->group(input);
  command
      ->add_option("--pace", typed->pace,
                   "How fast a file is played: 1 its own pace (the default), 2 twice as fast, 0 as fast as "
                   "it can be read")
      ->check(CLI::Range(0.0, 1000.0))
      ->group(input);
  command->add_option("--loop", typed->loop, "Play a file so many more times; -1: for ever")
      ->check(CLI::Range(-1, 1'000'000))
      ->group(input);
  command->add_option("--start", a->reading.start, "Skip so many seconds of a file")
      ->check(not_negative())
      ->group(input);
  command
      ->add_option("--give-up-after", a->capture.give_up_after,
                   "End when a lost source has not come back within so many seconds (default: wait for it "
                   "for ever); the source may also be missing at the start for so long")
      ->check(CLI::Range(0.0, 1e6))
      ->group(input);
  add_limit_options(*command, a->reading, input);
  command->add_option("--duration", a->duration, "End after so many seconds")
      ->check(positive())
      ->group(input);
  const std::string latency = "Latency";
  command
      ->add_option("--drop", typed->drop,
                   "What gives way when frames come faster than they can be searched: oldest (the default: "
                   "the newest are searched), newest, none (capture waits)")
      ->group(latency);
  command->add_option("--queue", a->capture.queue, "Frames that may wait to be searched")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(latency);
  command->add_option("--every", a->capture.every, "Search every n-th frame")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->group(latency);
  command
      ->add_flag("--display-all", a->display_all,
                 "Show every frame at once, with the boxes known last, rather than those that were searched")
      ->group(latency);
  const std::string window = "Window";
  command->add_flag("--headless", a->headless, "No window; all else as ever")->group(window);
  command->add_flag("--full-screen", a->full_screen, "Fill the screen from the start")->group(window);
  command->add_option("--hud", a->hud, "Numbers over the picture at the start: full, compact, off")
      ->check(CLI::IsMember({"full", "compact", "off"}))
      ->capture_default_str()
      ->group(window);
  command->add_flag("--software", a->software, "Draw on the CPU, whatever graphics card there is")
      ->group(window);
  command->add_flag("--vsync", a->vsync, "No tearing, for up to a refresh more latency")->group(window);
  const std::string outputs = "Output";
  command
      ->add_option("--record", a->recording.path,
                   "Annotated video: a file, a folder, or a pattern such as cam-%Y%m%d-%H%M%S.mp4; no "
                   "existing file is replaced")
      ->group(outputs);
  command
      ->add_option("--rotate", typed->rotate,
                   "Begin a new recording after so long or so much: 10m, 1h, 500M, 2G, or 10m,500M")
      ->group(outputs);
  command->add_option("--keep", a->recording.keep, "Keep the last so many recordings of this run only")
      ->check(CLI::Range(1, 1'000'000))
      ->group(outputs);
  add_encoder_options(*command, a->recording.writing, outputs);
  command
      ->add_option("-d,--detections", a->detections,
                   "What was found, frame by frame, as it happens: a file, a pipe, or - for standard output")
      ->group(outputs);
  command->add_option("-f,--format", typed->format, "Of the detections: jsonl, json, csv, mot, coco")
      ->group(outputs);
  command->add_option("--trace", a->trace, "What ran where and when, as Chrome trace JSON")->group(outputs);
  command
      ->add_option("--status", a->status_every, "Say how the run is doing every so many seconds, a line each")
      ->check(positive())
      ->group(outputs);
  a->tracking.add_to(*command);
  a->detector.add_to(*command);
  command->callback([a, typed, &common] {
    common.run = [a, typed, &common] { return run(*a, *typed, common.verbosity); };
  });
}

}  // namespace sightline::apps
