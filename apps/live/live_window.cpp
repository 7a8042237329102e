#include "apps/live/live_window.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "apps/cli/stop.hpp"
#include "apps/live/live_report.hpp"
#include "base/error.hpp"
#include "display/window.hpp"
#include "pipeline/session/now.hpp"

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

constexpr auto kTilesRefresh = 16ms;  // of several inputs at most, however fast they are together

std::string title_of(const LiveArguments& arguments) {
  std::string title = "Sightline: " + arguments.inputs.front().name;
  if (arguments.has_several_inputs()) title += fmt::format(" and {} more", arguments.inputs.size() - 1);
  return title;
}

class LiveWindow {
 public:
  LiveWindow(const LiveArguments& arguments, int verbosity)
      : session_(arguments,
                 [this] {
                   if (display::Window* const window = awake_) window->wake();
                 }),
        report_(session_, arguments.status_every, arguments.duration, verbosity),
        title_(title_of(arguments)),
        tiles_(session_.streams().size()),
        hud_(parse_hud(arguments.hud)) {
    // No output is touched before there is a screen.
    const pipeline::CaptureStatus source = stream().source().status();
    display::WindowOptions options;
    options.software = arguments.software;
    options.full_screen = arguments.full_screen;
    options.vsync = arguments.vsync;
    if (source.opened && tiles_.size() == 1) options.sample_aspect = source.info.sample_aspect;
    window_ = std::make_unique<display::Window>(title_, source.opened ? source.info.size : Size{1280, 720},
                                                options, tiles_.size());
    awake_ = window_.get();
    session_.begin();
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      display::Overlay& overlay = tiles_[i].overlay;
      overlay.labels = session_.detector().info().labels;
      overlay.source = session_.streams()[i]->short_name();
      overlay.processors = session_.processors();
      overlay.lane_window = kLaneWindow;
    }
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
  // An input, as the window shows it.
  struct ShownInput {
    pipeline::Showable shown;
    display::Overlay overlay;
  };

  LiveStream& stream() { return *session_.streams()[chosen_]; }

  void follow() {
    bool quits = false;
    while (!quits && !stop_requested() && !session_.has_ended() && !report_.is_over()) {
      if (const auto command = window_->wait(time_to_wait())) quits = !obey(*command);
      for (const auto& one : session_.streams())
        if (const auto saved = one->saved_picture()) say(*saved);
      show();
      report_.tell();
    }
  }

  std::chrono::milliseconds time_to_wait() const {
    if (!has_fresh_) return kRefresh;
    return std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(next_drawing_ - Clock::now()));
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
        stream().pause();
        break;
      case step:
        stream().step();
        break;
      case drop_policy:
        say(stream().next_drop_policy());
        break;
      case next_tile:
        chosen_ = (chosen_ + 1) % tiles_.size();
        set_title();
        break;
      case choose_tile:
        chosen_ = window_->clicked_tile();
        break;
      case enlarge_tile:
        is_alone_ = tiles_.size() > 1 && !is_alone_;
        set_title();
        break;
      case overlay:
        hud_ = display::next(hud_);
        break;
      case help:
        has_help_ = !has_help_;
        break;
      case save_picture:
        say(stream().save_picture(tiles_[chosen_].shown));
        break;
      case record:
        say(stream().switch_recording());
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

  // An input that is shown alone has no tile with its name.
  void set_title() { window_->set_title(is_alone_ ? "Sightline: " + stream().name() : title_); }

  void say(const std::string& message) {
    message_ = message;
    message_until_ = Clock::now() + display::kMessageTime;
  }

  // The newest pictures; where there are none, now and then those before with what has become of the run.
  void show() {
    for (std::size_t i = 0; i < tiles_.size(); ++i) fetch(i);
    const auto now = Clock::now();
    if (has_fresh_ ? now < next_drawing_ : now < refresh_) return;
    refresh_ = now + kRefresh;
    next_drawing_ = tiles_.size() > 1 ? now + kTilesRefresh : now;
    has_fresh_ = false;
    if (now > message_until_) message_.clear();
    std::vector<display::Tile> drawn;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      if (is_alone_ && i != chosen_) continue;
      update_overlay(i);
      drawn.push_back({tiles_[i].shown.frame, tiles_[i].overlay});
    }
    window_->present(std::move(drawn), is_alone_ ? 0 : chosen_);
    count_shown();
  }

  void fetch(std::size_t i) {
    auto fresh = session_.streams()[i]->mailbox().fetch();
    if (!fresh) return;
    ShownInput& tile = tiles_[i];
    tile.shown = std::move(*fresh);
    tile.overlay.objects = tile.shown.objects;
    tile.overlay.stale = !tile.shown.is_own();
    fresh_.push_back(i);
    has_fresh_ = has_fresh_ || !is_alone_ || i == chosen_;
  }

  void count_shown() {
    for (const std::size_t i : fresh_) {
      const pipeline::Showable& shown = tiles_[i].shown;
      if (!shown.counts || (is_alone_ && i != chosen_)) continue;
      session_.streams()[i]->statistics().shown(shown.frame.number(), shown.frame.times().captured,
                                                pipeline::now_ns(), shown.is_own());
    }
    fresh_.clear();
  }

  void update_overlay(std::size_t i) {
    LiveStream& of = *session_.streams()[i];
    display::Overlay& overlay = tiles_[i].overlay;
    overlay.hud = hud_;
    overlay.help = has_help_;
    overlay.message = message_;
    overlay.paused = of.source().paused();
    const pipeline::CaptureStatus capture = of.source().status();
    set_state(capture, overlay);
    const auto recording = of.recording();
    overlay.recording.reset();
    if (recording && recording->recording) overlay.recording = {recording->file, recording->seconds};
    if (hud_ == display::HudMode::off) return;

    const bool has_lanes = hud_ == display::HudMode::full && i == chosen_;
    const std::int64_t now = pipeline::now_ns();
    const auto snapshot = of.statistics().snapshot(now, has_lanes ? kLaneWindow : 0);
    overlay.rates = {capture.frame_rate, snapshot.detected_rate, snapshot.shown_rate};
    overlay.latency = {};
    if (snapshot.recent.frames > 0) {
      overlay.latency = {1e3 * snapshot.latest, 1e3 * snapshot.recent.median, 1e3 * snapshot.recent.p95,
                         1e3 * snapshot.recent.own};
    }
    const pipeline::CaptureCounts counts = of.source().counts();
    overlay.drops.clear();
    for (const pipeline::DropCause cause : pipeline::kDropCauses) {
      if (counts.dropped(cause) > 0)
        overlay.drops.push_back({std::string(to_string(cause)), counts.dropped(cause)});
    }
    if (recording) {
      const std::int64_t lost = recording->busy + recording->failed;
      if (lost > 0) overlay.drops.push_back({media::kRecorderBusy, lost});
    }
    const pipeline::Schedule schedule = session_.schedule();
    overlay.schedule = session_.schedule_name();
    overlay.mapping = schedule.uses_device() ? describe(schedule, session_.detector()) : "";
    overlay.setting = session_.setting();
    overlay.setting_by = session_.setting_chosen_by();
    overlay.drop_policy = to_string(of.source().drop());
    overlay.lanes.clear();
    for (const pipeline::StageActivity& stage : snapshot.stages) {
      display::Lane lane{stage.name, static_cast<int>(stage.processor), {}};
      for (const auto& interval : stage.intervals) {
        lane.intervals.push_back(
            {interval.begin - (now - kLaneWindow), interval.end - (now - kLaneWindow), interval.frame});
      }
      overlay.lanes.push_back(std::move(lane));
    }
  }

  void set_state(const pipeline::CaptureStatus& capture, display::Overlay& overlay) const {
    overlay.state.clear();
    switch (capture.state) {
      case pipeline::CaptureState::stalled:
        overlay.state = fmt::format("stalled: no frame for {:.1f} s", capture.since_frame);
        overlay.state_kind = display::StateKind::waiting;
        break;
      case pipeline::CaptureState::opening:
      case pipeline::CaptureState::reopening:
        overlay.state = fmt::format(
            "{}{}{}", to_string(capture.state),
            capture.next_attempt > 0.05 ? fmt::format(" in {:.1f} s", capture.next_attempt) : std::string(),
            capture.reason.empty() ? "" : ": " + capture.reason);
        overlay.state_kind = display::StateKind::waiting;
        break;
      case pipeline::CaptureState::failed:
        overlay.state = capture.reason;
        overlay.state_kind = display::StateKind::bad;
        break;
      case pipeline::CaptureState::ended:
        if (tiles_.size() == 1) break;  // ends the run
        overlay.state = to_string(capture.state);
        overlay.state_kind = display::StateKind::waiting;
        break;
      default:
        if (session_.is_planning()) {
          overlay.state = "schedule auto: measuring the stages";
          overlay.state_kind = display::StateKind::good;
        }
        break;
    }
  }

  std::unique_ptr<display::Window> window_;  // before the session, whose threads wake it
  std::atomic<display::Window*> awake_{nullptr};
  LiveSession session_;
  LiveReport report_;
  const std::string title_;
  std::vector<ShownInput> tiles_;   // by input
  std::vector<std::size_t> fresh_;  // inputs with pictures that have not been drawn
  bool has_fresh_ = false;          // one of them is to be seen
  std::size_t chosen_ = 0;          // the input that the keys are for
  bool is_alone_ = false;           // it alone is shown
  display::HudMode hud_;
  bool has_help_ = false;
  std::string message_;
  Clock::time_point message_until_{};
  Clock::time_point refresh_{}, next_drawing_{};
};

}  // namespace

void run_in_window(const LiveArguments& arguments, int verbosity) {
  LiveWindow(arguments, verbosity).run();
}

}  // namespace sightline::apps
