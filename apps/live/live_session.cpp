#include "apps/live/live_session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/quality_options.hpp"
#include "apps/common/run_text.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/memory_use.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "media/picture_file.hpp"
#include "pipeline/runs/open_live.hpp"
#include "pipeline/runtime/now.hpp"
#include "pipeline/runtime/sinks.hpp"

namespace sightline::apps {
namespace {

constexpr const char* kRecordingPattern = "sightline-%Y%m%d-%H%M%S.mp4";

// Frames that wait in the pipeline are latency: no more than it takes to keep a device busy.
void hold_few_frames(pipeline::Schedule& schedule, const Engine& engine) {
  if (engine.schedule.in_flight > 0) return;
  const auto devices = pipeline::devices_of(schedule, engine.device_stages.size()).count();
  schedule.in_flight = std::clamp(2 * schedule.batch * static_cast<int>(devices), 1, pipeline::kMostInFlight);
}

pipeline::Schedule live_schedule(const Engine& engine) {
  pipeline::Schedule schedule = engine.resolve();
  hold_few_frames(schedule, engine);
  return schedule;
}

bool is_over(pipeline::CaptureState state) {
  return state == pipeline::CaptureState::ended || state == pipeline::CaptureState::failed;
}

std::string drops_text(const pipeline::CaptureCounts& now, const pipeline::CaptureCounts& before = {}) {
  std::string text;
  for (const pipeline::DropCause cause : pipeline::kDropCauses) {
    const std::int64_t count = now.dropped(cause) - before.dropped(cause);
    if (count > 0) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", count, to_string(cause));
  }
  return text;
}

}  // namespace

// Last of the sinks that a frame goes to while it is on its way: never waits.
class LiveSession::RecordSink : public pipeline::Sink {
 public:
  explicit RecordSink(LiveSession& session) : session_(session) {}
  void accept(const Frame& frame, const FrameResult& result) override { session_.record(frame, result); }

 private:
  LiveSession& session_;
};

LiveSession::LiveSession(LiveArguments arguments, std::function<void()> wake)
    : a_(std::move(arguments)),
      wake_(std::move(wake)),
      engine_(a_.detector.make()),
      answer_(engine_.detector->info().labels, true),
      pipeline_(*engine_.detector, engine_.devices(), live_schedule(engine_), {engine_.threads}),
      controller_(make_controller(engine_, pipeline_, [this] { return source_rate(); })),
      statistics_(!a_.headless),
      mailbox_(a_.display_all, wake_) {
  engine_.check_goal();
  plan_wanted_ = engine_.is_auto();  // before a goal is set, which alone would make it so
  // What is seen is to be what happens now: throughput beyond the source's rate is worth nothing.
  if (engine_.schedule.goal.empty()) engine_.schedule.goal = "latency";
  record_from_start_ = !a_.recording.path.empty();
  if (!record_from_start_) a_.recording.path = kRecordingPattern;
  describe_engine(engine_, pipeline_);
  open_source();
}

void LiveSession::begin() {
  open_outputs();
  search_ = std::thread([this] { search(); });
}

LiveSession::~LiveSession() {
  try {
    finish();
  } catch (const std::exception& e) {
    spdlog::error("{}", e.what());
  }
}

void LiveSession::open_source() {
  pipeline::LiveOptions options = a_.capture;
  options.on_frame = [this](const Frame& frame) {
    keep_recent(frame);
    if (!a_.headless) mailbox_.captured(frame);
  };
  options.stop = &stop_requested();
  if (engine_.threads > 0) a_.reading.threads = engine_.threads;
  a_.reading.keep_colour = reads_colour(*engine_.detector);
  source_ = pipeline::open_live(a_.input, a_.reading, options);
  source_->start();
  const pipeline::CaptureStatus status = source_->status();
  if (status.opened) spdlog::info("{}", describe_stream(a_.input, status.info));
}

void LiveSession::open_outputs() {
  const std::vector<std::string>& labels = engine_.detector->info().labels;
  std::vector<pipeline::Sink*> sinks;
  if (!a_.headless) sinks.push_back(&mailbox_);
  const auto add = [&](std::unique_ptr<pipeline::Sink> sink) {
    sinks.push_back(sink.get());
    sinks_.push_back(std::move(sink));
  };
  add(std::make_unique<AnswerSink>(answer_, 1, false));
  if (!a_.report.empty()) add(std::make_unique<RunFindsSink>(finds_.emplace(labels, true), 1, false));
  add(std::make_unique<RecordSink>(*this));
  if (!a_.detections.empty()) {
    results_ =
        ResultWriter::open(a_.detections, a_.format, labels, !engine_.detector->operating_points().empty());
    add(std::make_unique<pipeline::ResultSink>(*results_));
  }
  if (const auto tracking = a_.tracking.make(*engine_.detector)) {
    auto tracker = std::make_unique<pipeline::TrackingSink>(*tracking, std::move(sinks));
    sinks = {tracker.get()};
    sinks_.push_back(std::move(tracker));
  }
  if (!a_.trace.empty()) trace_ = std::make_unique<pipeline::ChromeTraceWriter>(a_.trace);
  if (record_from_start_ && source_->status().opened) start_recording();
  stream_.source = source_.get();
  stream_.name = a_.input;
  stream_.sinks = std::move(sinks);
}

void LiveSession::search() {
  pipeline::RunOptions options;
  options.stop = &ends_;
  options.traces = {&statistics_, controller_.get()};
  if (trace_) options.traces.push_back(trace_.get());
  if (!a_.report.empty()) options.traces.push_back(&history_);
  try {
    while (!stops_) {
      ends_ = false;
      if (stops_) break;
      if (plan_wanted_.exchange(false)) plan();
      report_.add(pipeline_.run(stream_, options));
      if (!ends_) break;  // nobody asked for it: the source has ended
    }
  } catch (...) {
    error_ = std::current_exception();
  }
  ended_ = true;
  wake_();
}

void LiveSession::plan() {
  {
    const std::lock_guard lock(schedule_mutex_);
    planning_ = true;
    plan_ends_ = stops_.load();
    chosen_.reset();
  }
  // Frames come in the source's own time.
  std::vector<Frame> frames;
  while (!plan_ends_ && !is_over(source_->status().state)) {
    {
      const std::lock_guard lock(recent_mutex_);
      frames = recent_;
    }
    if (!frames.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::optional<pipeline::Planned> planned;
  if (!frames.empty()) planned = engine_.plan(pipeline_, frames, std::nullopt, plan_ends_);

  const std::lock_guard lock(schedule_mutex_);
  planning_ = false;
  if (chosen_) {
    pipeline_.set_schedule(*chosen_);
  } else if (planned) {
    controller_->follow_plan(std::move(planned));
  }
}

void LiveSession::keep_recent(const Frame& frame) {
  const std::lock_guard lock(recent_mutex_);
  if (!recent_.empty() && recent_.back().size() != frame.size()) recent_.clear();
  if (recent_.size() == kPlanFrames) recent_.erase(recent_.begin());
  recent_.push_back(frame);
}

void LiveSession::finish() {
  if (finished_) return;
  finished_ = true;
  stops_ = true;  // first: a run or a plan that begins looks for it
  ends_ = plan_ends_ = true;
  if (source_) source_->stop();
  if (search_.joinable()) search_.join();
  begin_to_finish();
  if (recorder_) {
    recorder_->finish();
    if (!recorder_->status().file.empty()) spdlog::info("wrote {}", recorder_->status().file);
  }
  if (saving_.valid()) saving_.wait();
  if (error_) std::rethrow_exception(error_);
  if (results_) results_->finish();
  if (trace_) trace_->finish();
  if (results_ && a_.detections != "-") spdlog::info("wrote {}", a_.detections);
  if (trace_) spdlog::info("wrote {}", a_.trace);
  write_if_named(a_.report, [&] {
    return run_page(a_.input, engine_, *controller_, report_, history_, finds_ ? &*finds_ : nullptr);
  });
  if (recorder_ && !recorder_->status().error.empty()) {
    throw Error(ExitCode::failed, "the recording failed: " + recorder_->status().error,
                "the part that was recorded can be played");
  }
}

void LiveSession::freeze(bool paused) {
  mailbox_.freeze(paused);
  source_->pause(paused);
}

void LiveSession::step() {
  mailbox_.freeze(true);
  source_->step();
}

std::string LiveSession::next_drop_policy() {
  using enum pipeline::DropPolicy;
  const pipeline::DropPolicy now = source_->drop();
  source_->set_drop(now == oldest ? newest : now == newest ? none : oldest);
  return fmt::format("drop policy: {}", to_string(source_->drop()));
}

std::string LiveSession::choose_schedule(std::size_t index) {
  const auto names = pipeline::schedule_names();
  if (index >= names.size()) {
    plan_wanted_ = true;
    ends_ = true;  // planning needs the processors for itself
    return "schedule auto: measuring the stages";
  }
  try {
    pipeline::Schedule schedule =
        pipeline::named_schedule(names[index], *engine_.detector, engine_.devices(), pipeline_.threads());
    hold_few_frames(schedule, engine_);
    const std::lock_guard lock(schedule_mutex_);
    controller_->follow_plan({});
    if (planning_) {
      chosen_ = schedule;
      plan_ends_ = true;
    } else {
      pipeline_.set_schedule(schedule);
    }
    return fmt::format("schedule {}: {}", names[index], describe(schedule, *engine_.detector));
  } catch (const Error& e) {
    return e.what();
  }
}

std::string LiveSession::change_operating_point(int by) {
  // What is measured is measured with the setting that the detector is configured with.
  if (planning_) return "schedule auto is measuring; try again later";
  return controller_->change_operating_point(by);
}

std::string LiveSession::follow_objective() {
  return controller_->follow_objective();
}

// What waits for the detector comes as fast as that is: then its own rate counts.
double LiveSession::source_rate() const {
  const pipeline::CaptureStatus status = source_->status();
  if (source_->drop() != pipeline::DropPolicy::none) return status.frame_rate;
  return status.info.frame_rate.value() * (a_.capture.live ? 1 : a_.capture.pace);
}

std::string LiveSession::schedule_name() const {
  const std::string name = pipeline_.schedule().name;
  return controller_->follows_plan() ? "auto: " + name : name;
}

std::vector<std::string> LiveSession::processors() const {
  std::vector<std::string> names{"CPU"};
  const pipeline::Devices devices = engine_.devices();
  for (std::size_t i = 0; i < devices.size(); ++i) names.push_back(devices.name(i));
  return names;
}

// Called with the mutex held, or before there are other threads.
void LiveSession::start_recording() {
  if (!recorder_) {
    a_.recording.writing.input = a_.input;
    recorder_ = std::make_unique<media::Recorder>(source_->status().info, a_.recording);
  }
  recorder_->start();
}

std::string LiveSession::switch_recording() {
  const std::lock_guard lock(recorder_mutex_);
  try {
    if (recorder_ && recorder_->status().recording) {
      recorder_->stop();
      return "recorded " + recorder_->status().file;
    }
    if (!source_->status().opened) return "nothing to record yet";
    start_recording();
    return "recording";
  } catch (const Error& e) {
    return e.what();
  }
}

void LiveSession::record(const Frame& frame, const FrameResult& result) {
  const std::lock_guard lock(recorder_mutex_);
  if (record_from_start_ && !recorder_) start_recording();  // the source was opened late
  if (recorder_) recorder_->offer(frame, result.objects, engine_.detector->info().labels);
}

std::optional<media::RecorderStatus> LiveSession::recording() const {
  const std::lock_guard lock(recorder_mutex_);
  if (!recorder_) return std::nullopt;
  return recorder_->status();
}

std::string LiveSession::save_picture(const pipeline::Showable& shown) {
  if (saving_.valid()) return "still saving the previous picture";
  if (shown.frame.empty()) return "there is no picture yet";
  saving_ = std::async(std::launch::async, [this, shown] {
    try {
      return "saved " + media::save_picture(media::kPicturePattern, shown.frame, shown.objects,
                                            engine_.detector->info().labels);
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
  });
  return "";
}

std::optional<std::string> LiveSession::saved_picture() {
  if (!saving_.valid() || saving_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  return saving_.get();
}

double LiveSession::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string LiveSession::status_line() {
  const pipeline::CaptureStatus capture = source_->status();
  const pipeline::CaptureCounts counts = source_->counts();
  const auto snapshot = statistics_.snapshot(pipeline::now_ns(), 0);
  const pipeline::LatencySummary latency = statistics_.take_interval();
  std::string line = fmt::format("{}  {}: in {:.1f}, detected {:.1f}", duration_text(seconds()),
                                 to_string(capture.state), capture.frame_rate, snapshot.detected_rate);
  if (!a_.headless) line += fmt::format(", shown {:.1f}", snapshot.shown_rate);
  line += " frames/s";
  if (latency.frames > 0) {
    line += fmt::format("; latency {:.0f} ms ({:.0f} waiting), 95% below {:.0f} ms", 1e3 * latency.median,
                        1e3 * latency.added_median, 1e3 * latency.p95);
  }
  const std::string drops = drops_text(counts, told_);
  if (!drops.empty()) line += "; dropped: " + drops;
  told_ = counts;
  if (!setting().empty()) line += fmt::format("; {} ({})", setting(), setting_chosen_by());
  line += fmt::format("; {:.0f} MiB", static_cast<double>(resident_bytes()) / (1 << 20));
  return line;
}

void LiveSession::summarise(bool is_verbose) const {
  const pipeline::CaptureCounts counts = source_->counts();
  const double elapsed = std::max(seconds(), 1e-9);
  const auto rate = [&](std::int64_t frames) { return static_cast<double>(frames) / elapsed; };
  std::string text = report_.frames > report_.skipped + report_.failed ? answer_.text() : "";
  text += fmt::format("{} captured in {} ({:.1f} per second), {} searched ({:.1f} per second)",
                      counted(counts.captured, "frame"), duration_text(elapsed), rate(counts.captured),
                      report_.frames, rate(report_.frames));
  const std::string drops = drops_text(counts);
  text += ", dropped: " + (drops.empty() ? "0" : drops);
  if (counts.left_out > 0) text += fmt::format(", {} skipped by --every", counts.left_out);
  text += "\n";
  if (is_verbose && !a_.headless) {
    const std::int64_t shown = statistics_.snapshot(0, 0).shown;
    const std::int64_t replaced = mailbox_.replaced();
    text += fmt::format("{} shown, {} replaced by newer ones", counted(shown, "frame"), replaced);
    const std::int64_t left = (a_.display_all ? counts.captured : report_.frames) - shown - replaced;
    if (left > 0) text += fmt::format(", {} not shown yet at the end", left);
    text += "\n";
  }
  if (const pipeline::LatencySummary all = statistics_.whole(); all.frames > 0) {
    text += fmt::format("latency from capture to {}: median {:.1f} ms, 95% {:.1f} ms, 99% {:.1f} ms\n",
                        a_.headless ? "result" : "screen", 1e3 * all.median, 1e3 * all.p95, 1e3 * all.p99);
    if (is_verbose) {
      text += fmt::format(
          "maximum latency {:.1f} ms; median time in stages {:.1f} ms, waiting {:.1f} ms (95%: {:.1f} ms)\n",
          1e3 * all.largest, 1e3 * all.own, 1e3 * all.added_median, 1e3 * all.added_p95);
    }
  }
  const int reopened = source_->status().reopened;
  if (reopened > 0)
    text += fmt::format("the source was lost and opened again {}\n", counted(reopened, "time"));
  if (const auto recorded = recording(); recorded && recorded->offered > 0) {
    text += fmt::format("{} recorded in {}", counted(recorded->written, "frame"),
                        counted(recorded->files, "file"));
    if (recorded->busy > 0) text += fmt::format(", {} left out ({})", recorded->busy, media::kRecorderBusy);
    if (recorded->failed > 0)
      text += fmt::format(", {} left out ({})", recorded->failed, media::kRecorderFailed);
    text += "\n";
  }
  if (is_verbose) text += stage_times_text(report_);
  text += settings_text(report_);
  text += controller_->summary();
  std::fputs(printable(text + problems_text(report_), kLineEndsAndTabs).c_str(), stderr);
}

}  // namespace sightline::apps
