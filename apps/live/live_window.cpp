#include "apps/live/live_window.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <filesystem>

#include "apps/cli/stop.hpp"
#include "apps/live/live_report.hpp"
#include "base/error.hpp"
#include "display/window.hpp"
#include "pipeline/runtime/now.hpp"

namespace sightline::apps {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLaneWindow = 500'000'000;  // nanoseconds of the stages' bars
constexpr auto kRefresh = 100ms;                   // of the numbers, where no frame comes

display::HudMode parse_hud(const std::string& text) {
  return text == "off"       ? display::HudMode::off
         : text == "compact" ? display::HudMode::compact
                             : display::HudMode::full;
}

// A file's without its folders: there is little room.
std::string short_name(const std::string& input) {
  std::error_code error;
  return std::filesystem::is_regular_file(input, error) ? std::filesystem::path(input).filename().string()
                                                        : input;
}

class LiveWindow {
 public:
  LiveWindow(const LiveArguments& arguments, int verbosity)
      : session_(arguments,
                 [this] {
                   if (display::Window* const window = awake_) window->wake();
                 }),
        report_(session_, arguments.status_every, arguments.duration, verbosity) {
    // No output is touched before there is a screen.
    const pipeline::CaptureStatus source = session_.source().status();
    display::WindowOptions options;
    options.software = arguments.software;
    options.full_screen = arguments.full_screen;
    options.vsync = arguments.vsync;
    if (source.opened) options.sample_aspect = source.info.sample_aspect;
    window_ = std::make_unique<display::Window>("Sightline: " + arguments.input,
                                                source.opened ? source.info.size : Size{1280, 720}, options);
    awake_ = window_.get();
    session_.begin();
    overlay_.hud = parse_hud(arguments.hud);
    overlay_.labels = session_.detector().info().labels;
    overlay_.source = short_name(arguments.input);
    overlay_.processors = session_.processors();
    overlay_.lane_window = kLaneWindow;
  }

  void run() {
    // A screen that is lost ends the run as closing the window does, and is told when all is written.
    std::exception_ptr problem;
    try {
      follow();
    } catch (const Error&) {
      problem = std::current_exception();
    }
    session_.finish();
    report_.summarise();
    if (problem) std::rethrow_exception(problem);
  }

 private:
  void follow() {
    bool quits = false;
    while (!quits && !stop_requested() && !session_.has_ended() && !report_.is_over()) {
      if (const auto command = window_->wait(kRefresh)) quits = !obey(*command);
      if (const auto saved = session_.saved_picture()) say(*saved);
      show();
      report_.tell();
    }
  }

  // False: quit.
  bool obey(display::Command command) {
    using enum display::Command;
    refresh_ = {};  // what a key did is to be seen at once
    if (const auto index = display::schedule_index(command)) {
      say(session_.choose_schedule(static_cast<std::size_t>(*index)));
      return true;
    }
    switch (command) {
      case pause:
        session_.pause();
        break;
      case step:
        session_.step();
        break;
      case drop_policy:
        say(session_.next_drop_policy());
        break;
      case overlay:
        overlay_.hud = display::next(overlay_.hud);
        break;
      case help:
        overlay_.help = !overlay_.help;
        break;
      case save_picture:
        say(session_.save_picture(shown_));
        break;
      case record:
        say(session_.switch_recording());
        break;
      case more_accurate:
        say(session_.change_operating_point(-1));
        break;
      case faster:
        say(session_.change_operating_point(1));
        break;
      case follow_policy:
        say(session_.follow_objective());
        break;
      case quit:
        return false;
      default:
        break;
    }
    return true;
  }

  void say(const std::string& message) {
    overlay_.message = message;
    message_until_ = Clock::now() + display::kMessageTime;
  }

  // The newest picture; where there is none, now and then the one before with what has become of the run.
  void show() {
    auto fresh = session_.mailbox().fetch();
    if (!fresh && Clock::now() < refresh_) return;
    refresh_ = Clock::now() + kRefresh;
    if (fresh) {
      shown_ = std::move(*fresh);
      overlay_.objects = shown_.objects;
      overlay_.stale = !shown_.is_own();
    }
    update_overlay();
    window_->present(shown_.frame, overlay_);
    if (fresh && shown_.counts) {
      session_.statistics().shown(shown_.frame.number(), shown_.frame.times().captured, pipeline::now_ns(),
                                  shown_.is_own());
    }
  }

  void update_overlay() {
    if (Clock::now() > message_until_) overlay_.message.clear();
    overlay_.paused = session_.source().paused();
    overlay_.state.clear();
    const pipeline::CaptureStatus capture = session_.source().status();
    switch (capture.state) {
      case pipeline::CaptureState::stalled:
        overlay_.state = fmt::format("stalled: no frame for {:.1f} s", capture.since_frame);
        overlay_.state_kind = display::StateKind::waiting;
        break;
      case pipeline::CaptureState::opening:
      case pipeline::CaptureState::reopening:
        overlay_.state = fmt::format(
            "{}{}{}", to_string(capture.state),
            capture.next_attempt > 0.05 ? fmt::format(" in {:.1f} s", capture.next_attempt) : std::string(),
            capture.reason.empty() ? "" : ": " + capture.reason);
        overlay_.state_kind = display::StateKind::waiting;
        break;
      case pipeline::CaptureState::failed:
        overlay_.state = capture.reason;
        overlay_.state_kind = display::StateKind::bad;
        break;
      default:
        if (session_.is_planning()) {
          overlay_.state = "schedule auto: measuring the stages";
          overlay_.state_kind = display::StateKind::good;
        }
        break;
    }
    if (overlay_.hud == display::HudMode::off) return;

    const std::int64_t now = pipeline::now_ns();
    const auto snapshot = session_.statistics().snapshot(now, kLaneWindow);
    overlay_.rates = {capture.frame_rate, snapshot.detected_rate, snapshot.shown_rate};
    overlay_.latency = {};
    if (snapshot.recent.frames > 0) {
      overlay_.latency = {1e3 * snapshot.latest, 1e3 * snapshot.recent.median, 1e3 * snapshot.recent.p95,
                          1e3 * snapshot.recent.own};
    }
    const pipeline::CaptureCounts counts = session_.source().counts();
    overlay_.drops.clear();
    for (const pipeline::DropCause cause : pipeline::kDropCauses) {
      if (counts.dropped(cause) > 0)
        overlay_.drops.push_back({std::string(to_string(cause)), counts.dropped(cause)});
    }
    const pipeline::Schedule schedule = session_.schedule();
    overlay_.schedule = session_.schedule_name();
    overlay_.mapping = schedule.uses_device() ? describe(schedule, session_.detector()) : "";
    overlay_.setting = session_.setting();
    overlay_.setting_by = session_.setting_chosen_by();
    overlay_.drop_policy = to_string(session_.source().drop());
    overlay_.recording.reset();
    if (const auto recording = session_.recording()) {
      if (recording->recording) overlay_.recording = {recording->file, recording->seconds};
      const std::int64_t lost = recording->busy + recording->failed;
      if (lost > 0) overlay_.drops.push_back({media::kRecorderBusy, lost});
    }
    overlay_.lanes.clear();
    for (const pipeline::StageActivity& stage : snapshot.stages) {
      display::Lane lane{stage.name, static_cast<int>(stage.processor), {}};
      for (const auto& interval : stage.intervals) {
        lane.intervals.push_back(
            {interval.begin - (now - kLaneWindow), interval.end - (now - kLaneWindow), interval.frame});
      }
      overlay_.lanes.push_back(std::move(lane));
    }
  }

  std::unique_ptr<display::Window> window_;  // before the session, whose threads wake it
  std::atomic<display::Window*> awake_{nullptr};
  LiveSession session_;
  LiveReport report_;
  display::Overlay overlay_;
  pipeline::Showable shown_;
  Clock::time_point message_until_{};
  Clock::time_point refresh_{};
};

}  // namespace

void run_in_window(const LiveArguments& arguments, int verbosity) {
  LiveWindow(arguments, verbosity).run();
}

}  // namespace sightline::apps
