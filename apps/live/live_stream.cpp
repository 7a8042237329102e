#include "apps/live/live_stream.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "apps/cli/stop.hpp"
#include "apps/common/detector_engine.hpp"
#include "apps/common/run_text.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "media/picture_file.hpp"
#include "pipeline/runs/open_live.hpp"
#include "pipeline/session/now.hpp"
#include "pipeline/session/sinks.hpp"

namespace sightline::apps {
namespace {

bool has_ended(const pipeline::CaptureStatus& status) {
  return status.state == pipeline::CaptureState::ended || status.state == pipeline::CaptureState::failed;
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

// Never waits.
class LiveStream::RecordSink : public pipeline::Sink {
 public:
  explicit RecordSink(LiveStream& owner) : owner_(owner) {}
  void accept(const Frame& frame, const FrameResult& result) override { owner_.record(frame, result); }

 private:
  LiveStream& owner_;
};

LiveStream::LiveStream(const LiveArguments& arguments, std::size_t number, const Detector& detector,
                       std::function<void()> wake)
    : a_(arguments),
      number_(number),
      detector_(detector),
      statistics_(!a_.headless),
      mailbox_(a_.display_all, std::move(wake)) {
  pipeline::LiveOptions options = input().capture;
  options.on_frame = [this](const Frame& frame) {
    keep_recent(frame);
    if (!a_.headless) mailbox_.captured(frame);
  };
  options.stop = &stop_requested();
  source_ = pipeline::open_live(name(), a_.reading, options);
  source_->start();
  const pipeline::CaptureStatus status = source_->status();
  if (status.opened) spdlog::info("{}", describe_stream(name(), status.info));
}

void LiveStream::begin(std::vector<std::unique_ptr<pipeline::Sink>> shared,
                       const std::optional<TileOptions>& tiles) {
  std::vector<pipeline::Sink*> sinks;
  if (!a_.headless) sinks.push_back(&mailbox_);
  const auto add = [&](std::unique_ptr<pipeline::Sink> sink) {
    sinks.push_back(sink.get());
    sinks_.push_back(std::move(sink));
  };
  add(std::make_unique<RecordSink>(*this));
  for (std::unique_ptr<pipeline::Sink>& sink : shared) add(std::move(sink));
  if (const auto tracking = a_.tracking.make(detector_)) {
    auto tracker = std::make_unique<pipeline::TrackingSink>(*tracking, std::move(sinks));
    sinks = {tracker.get()};
    sinks_.push_back(std::move(tracker));
  }
  if (a_.records && source_->status().opened) start_recording();
  stream_.source = source_.get();
  stream_.name = name();
  stream_.sinks = std::move(sinks);
  stream_.tiles = tiles;
  stream_.traces = {&statistics_};
  stream_.fails_alone = a_.has_several_inputs();
}

void LiveStream::add(const pipeline::RunReport& report) {
  report_.add(report);
  if (report.error && !report_.error) report_.error = report.error;
}

bool LiveStream::is_over() const {
  return report_.error || has_ended(source_->status());
}

void LiveStream::finish() {
  if (recorder_) {
    recorder_->finish();
    if (!recorder_->status().file.empty()) spdlog::info("wrote {}", recorder_->status().file);
  }
  if (saving_.valid()) saving_.wait();
}

void LiveStream::keep_recent(const Frame& frame) {
  const std::lock_guard lock(recent_mutex_);
  if (!recent_.empty() && recent_.back().size() != frame.size()) recent_.clear();
  if (recent_.size() == pipeline::kPlanFrames) recent_.erase(recent_.begin());
  recent_.push_back(frame);
}

std::vector<Frame> LiveStream::recent() const {
  const std::lock_guard lock(recent_mutex_);
  return recent_;
}

void LiveStream::freeze(bool paused) {
  mailbox_.freeze(paused);
  source_->pause(paused);
}

void LiveStream::step() {
  mailbox_.freeze(true);
  source_->step();
}

std::string LiveStream::next_drop_policy() {
  using enum pipeline::DropPolicy;
  const pipeline::DropPolicy now = source_->drop();
  source_->set_drop(now == oldest ? newest : now == newest ? none : oldest);
  return fmt::format("drop policy: {}", to_string(source_->drop()));
}

double LiveStream::rate() const {
  const pipeline::CaptureStatus status = source_->status();
  if (source_->drop() != pipeline::DropPolicy::none) return status.frame_rate;
  return status.info.frame_rate.value() * (input().capture.live ? 1 : input().capture.pace);
}

// Called with the mutex held, or before there are other threads.
void LiveStream::start_recording() {
  if (!recorder_) {
    media::RecordOptions options = input().recording;
    options.writing.input = name();
    recorder_ = std::make_unique<media::Recorder>(source_->status().info, options);
  }
  recorder_->start();
}

std::string LiveStream::switch_recording() {
  const std::lock_guard lock(recorder_mutex_);
  try {
    if (recorder_ && recorder_->status().recording) {
      recorder_->stop();
      return "recorded " + recorder_->status().file;
    }
    const pipeline::CaptureStatus status = source_->status();
    if (has_ended(status)) return "the source has ended";
    if (!status.opened) return "nothing to record yet";
    start_recording();
    return "recording";
  } catch (const Error& e) {
    return e.what();
  }
}

void LiveStream::record(const Frame& frame, const FrameResult& result) {
  const std::lock_guard lock(recorder_mutex_);
  if (a_.records && !recorder_) start_recording();  // the source was opened late
  if (recorder_) recorder_->offer(frame, result.objects, detector_.info().labels);
}

std::optional<media::RecorderStatus> LiveStream::recording() const {
  const std::lock_guard lock(recorder_mutex_);
  if (!recorder_) return std::nullopt;
  return recorder_->status();
}

std::string LiveStream::save_picture(const pipeline::Showable& shown) {
  if (saving_.valid()) return "still saving the previous picture";
  if (shown.frame.empty()) return "there is no picture yet";
  saving_ = std::async(std::launch::async, [this, shown] {
    try {
      return "saved " +
             media::save_picture(media::kPicturePattern, shown.frame, shown.objects, detector_.info().labels);
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
  });
  return "";
}

std::optional<std::string> LiveStream::saved_picture() {
  if (!saving_.valid() || saving_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  return saving_.get();
}

std::optional<std::string> LiveStream::new_failure() {
  const pipeline::CaptureStatus capture = source_->status();
  if (capture.state != pipeline::CaptureState::failed || std::exchange(has_told_failure_, true))
    return std::nullopt;
  return capture.reason;
}

std::string LiveStream::status_text() {
  const pipeline::CaptureStatus capture = source_->status();
  const pipeline::CaptureCounts counts = source_->counts();
  const auto snapshot = statistics_.snapshot(pipeline::now_ns(), 0);
  const pipeline::LatencySummary latency = statistics_.take_interval();
  std::string line = fmt::format("{}: in {:.1f}, detected {:.1f}", to_string(capture.state),
                                 capture.frame_rate, snapshot.detected_rate);
  if (!a_.headless) line += fmt::format(", shown {:.1f}", snapshot.shown_rate);
  line += " frames/s";
  if (latency.frames > 0) {
    line += fmt::format("; latency {:.0f} ms ({:.0f} waiting), 95% below {:.0f} ms", 1e3 * latency.median,
                        1e3 * latency.added_median, 1e3 * latency.p95);
  }
  const std::string drops = drops_text(counts, told_);
  if (!drops.empty()) line += "; dropped: " + drops;
  told_ = counts;
  return line;
}

std::string LiveStream::summary(double seconds, bool is_verbose) const {
  const pipeline::CaptureCounts counts = source_->counts();
  const auto rate = [&](std::int64_t frames) {
    return static_cast<double>(frames) / std::max(seconds, 1e-9);
  };
  std::string text = fmt::format("{} captured in {} ({:.1f} per second), {} searched ({:.1f} per second)",
                                 counted(counts.captured, "frame"), duration_text(seconds),
                                 rate(counts.captured), report_.frames, rate(report_.frames));
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
  return text;
}

}  // namespace sightline::apps
