#include "apps/live/live_session.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/quality_options.hpp"
#include "apps/common/run_text.hpp"
#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "base/memory_use.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "pipeline/session/now.hpp"
#include "pipeline/session/sinks.hpp"

namespace sightline::apps {
namespace {

// Frames that wait in the pipeline are latency: no more than it takes to keep a device busy, or one of each
// input.
void hold_few_frames(pipeline::Schedule& schedule, const DetectorEngine& engine, std::size_t inputs) {
  if (engine.schedule.in_flight > 0) return;
  const auto devices = pipeline::devices_of(schedule, engine.device_stages.size()).count();
  const int busy = 2 * schedule.batch * static_cast<int>(devices);
  schedule.in_flight = std::clamp(std::max(busy, static_cast<int>(inputs)), 1, pipeline::kMostInFlight);
}

pipeline::Schedule live_schedule(const DetectorEngine& engine, std::size_t inputs) {
  pipeline::Schedule schedule = engine.resolve();
  hold_few_frames(schedule, engine, inputs);
  return schedule;
}

}  // namespace

LiveSession::LiveSession(LiveArguments arguments, std::function<void()> wake)
    : a_(std::move(arguments)),
      wake_(std::move(wake)),
      engine_(a_.detector.make()),
      answer_(engine_.detector().info(), true),
      pipeline_(make_pipeline(engine_, engine_.quality, live_schedule(engine_, a_.inputs.size()), [this] {
        double rate = 0;
        for (const auto& stream : streams_) rate += stream->rate();
        return rate;
      })) {
  static_cast<void>(a_.tracking.make(engine_.detector()));  // refused before an output is opened
  plan_wanted_ = engine_.is_auto();  // before a goal is set, which alone would make it so
  // What is seen is to be what happens now: throughput beyond the source's rate is worth nothing.
  if (engine_.schedule.goal.empty()) engine_.schedule.goal = "latency";
  if (engine_.threads > 0) a_.reading.threads = engine_.threads;
  a_.reading.keep_colour = reads_colour(engine_.detector());
  describe_engine(engine_, pipeline_.pipeline());
  for (std::size_t i = 0; i < a_.inputs.size(); ++i)
    streams_.push_back(std::make_unique<LiveStream>(a_, i, engine_.detector(), wake_));
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

void LiveSession::open_outputs() {
  const std::vector<std::string>& labels = engine_.detector().info().labels;
  if (!a_.report.empty()) finds_.emplace(labels, !a_.has_several_inputs());
  if (!a_.detections.empty())
    results_ =
        ResultWriter::open(a_.detections, a_.format, labels, !engine_.detector().operating_points().empty());
  if (!a_.trace.empty()) trace_ = pipeline::open_trace_file(a_.trace);
  for (std::size_t i = 0; i < streams_.size(); ++i) streams_[i]->begin(shared_sinks(i + 1), engine_.tiles);
}

std::vector<std::unique_ptr<pipeline::Sink>> LiveSession::shared_sinks(std::size_t input) {
  std::vector<std::unique_ptr<pipeline::Sink>> sinks;
  sinks.push_back(std::make_unique<AnswerSink>(answer_, input, false));
  if (finds_) sinks.push_back(std::make_unique<RunFindsSink>(*finds_, input, false));
  if (results_) sinks.push_back(std::make_unique<pipeline::ResultSink>(*results_));
  if (a_.has_several_inputs()) {
    for (std::unique_ptr<pipeline::Sink>& sink : sinks)
      sink = std::make_unique<pipeline::LockedSink>(std::move(sink), sinks_mutex_);
  }
  return sinks;
}

void LiveSession::search() {
  std::vector<pipeline::TraceSink*> traces;
  if (trace_) traces.push_back(trace_.get());
  if (!a_.report.empty()) traces.push_back(&history_);
  try {
    while (!stops_) {
      ends_ = false;
      if (stops_) break;
      if (plan_wanted_.exchange(false)) plan();
      if (!run_once(traces)) break;
    }
  } catch (...) {
    error_ = std::current_exception();
  }
  ended_ = true;
  wake_();
}

// Whether somebody ended it; otherwise the sources have ended.
bool LiveSession::run_once(const std::vector<pipeline::TraceSink*>& traces) {
  pipeline::RunOptions options;
  options.stop = &ends_;
  options.traces = traces;
  std::vector<pipeline::Stream> running;
  std::vector<LiveStream*> owners;
  for (const auto& stream : streams_) {
    if (stream->report().error) continue;
    running.push_back(stream->stream());
    owners.push_back(stream.get());
  }
  const std::vector<pipeline::RunReport> reports = pipeline_.run(running, options);
  for (std::size_t i = 0; i < reports.size(); ++i) owners[i]->add(reports[i]);
  return ends_;
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
  while (!plan_ends_ && !all_are_over()) {
    frames = frames_to_plan();
    if (!frames.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::optional<pipeline::Planned> planned;
  if (!frames.empty()) planned = pipeline_.plan(frames, plan_ends_);

  const std::lock_guard lock(schedule_mutex_);
  planning_ = false;
  if (chosen_) {
    pipeline_.pipeline().set_schedule(*chosen_);
  } else if (planned) {
    pipeline_.controller().follow_plan(std::move(planned));
  }
}

// Of the first input that has some.
std::vector<Frame> LiveSession::frames_to_plan() const {
  for (const auto& stream : streams_)
    if (std::vector<Frame> frames = stream->recent(); !frames.empty()) return frames;
  return {};
}

bool LiveSession::all_are_over() const {
  return std::ranges::all_of(streams_, [](const auto& stream) { return stream->is_over(); });
}

void LiveSession::finish() {
  if (finished_) return;
  finished_ = true;
  stops_ = true;  // first: a run or a plan that begins looks for it
  ends_ = plan_ends_ = true;
  for (const auto& stream : streams_) stream->stop();
  if (search_.joinable()) search_.join();
  begin_to_finish();
  for (const auto& stream : streams_) stream->finish();
  if (error_) std::rethrow_exception(error_);
  if (results_) results_->finish();
  if (trace_) trace_->finish();
  if (results_ && a_.detections != "-") spdlog::info("wrote {}", a_.detections);
  if (trace_) spdlog::info("wrote {}", a_.trace);
  write_if_named(a_.report, [&] {
    return run_page(inputs_text(), engine_, pipeline_.controller(), total_report(), history_,
                    finds_ ? &*finds_ : nullptr);
  });
  for (const auto& stream : streams_)
    if (stream->report().error) std::rethrow_exception(stream->report().error);
  for (const auto& stream : streams_) {
    const auto recording = stream->recording();
    if (!recording || recording->error.empty()) continue;
    throw Error(ExitCode::failed, "the recording of '" + stream->name() + "' failed: " + recording->error,
                recording->file.empty() ? "" : "'" + recording->file + "' can be played up to the failure");
  }
}

std::string LiveSession::choose_schedule(std::size_t index) {
  const auto names = pipeline::schedule_names();
  if (index >= names.size()) {
    plan_wanted_ = true;
    ends_ = true;  // planning needs the processors for itself
    return "schedule auto: measuring the stages";
  }
  try {
    pipeline::Schedule schedule = pipeline::named_schedule(names[index], engine_.detector(),
                                                           engine_.devices(), pipeline_.pipeline().threads());
    hold_few_frames(schedule, engine_, streams_.size());
    const std::lock_guard lock(schedule_mutex_);
    pipeline_.controller().follow_plan({});
    if (planning_) {
      chosen_ = schedule;
      plan_ends_ = true;
    } else {
      pipeline_.pipeline().set_schedule(schedule);
    }
    return fmt::format("schedule {}: {}", names[index], describe(schedule, engine_.detector()));
  } catch (const Error& e) {
    return e.what();
  }
}

std::string LiveSession::change_operating_point(int by) {
  // What is measured is measured with the setting that the detector is configured with.
  if (planning_) return "schedule auto is measuring; try again later";
  return pipeline_.controller().change_operating_point(by);
}

std::string LiveSession::follow_objective() {
  return pipeline_.controller().follow_objective();
}

std::string LiveSession::schedule_name() const {
  const std::string name = pipeline_.pipeline().schedule().name;
  return pipeline_.controller().follows_plan() ? "auto: " + name : name;
}

std::vector<std::string> LiveSession::processors() const {
  std::vector<std::string> names{"CPU"};
  const pipeline::Devices devices = engine_.devices();
  for (std::size_t i = 0; i < devices.size(); ++i) names.push_back(devices.name(i));
  return names;
}

double LiveSession::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string LiveSession::end_of_status() const {
  std::string text;
  if (!setting().empty()) text += fmt::format("; {} ({})", setting(), setting_chosen_by());
  return text + fmt::format("; {:.0f} MiB", static_cast<double>(resident_bytes()) / (1 << 20));
}

std::string LiveSession::status_line() {
  std::string line = duration_text(seconds()) + "  ";
  if (streams_.size() == 1) return line + streams_.front()->status_text() + end_of_status();
  std::map<pipeline::CaptureState, int> states;
  double in = 0, detected = 0;
  for (const auto& stream : streams_) {
    const pipeline::CaptureStatus capture = stream->source().status();
    ++states[capture.state];
    in += capture.frame_rate;
    detected += stream->statistics().snapshot(pipeline::now_ns(), 0).detected_rate;
  }
  std::string text;
  for (const auto& [state, count] : states)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(state));
  return line + fmt::format("{}: in {:.1f}, detected {:.1f} frames/s", text, in, detected) + end_of_status();
}

std::vector<std::string> LiveSession::status_lines() {
  std::vector<std::string> lines{status_line()};
  if (streams_.size() == 1) return lines;
  for (const auto& stream : streams_)
    lines.push_back("  " + stream->short_name() + ": " + stream->status_text());
  return lines;
}

pipeline::RunReport LiveSession::total_report() const {
  pipeline::RunReport total;
  double seconds = 0;
  for (const auto& stream : streams_) {
    total.add(stream->report());
    seconds = std::max(seconds, stream->report().seconds);
  }
  total.seconds = seconds;  // they ran side by side
  return total;
}

std::string LiveSession::inputs_text() const {
  return streams_.size() == 1
             ? streams_.front()->name()
             : fmt::format("{} and {} more", streams_.front()->short_name(), streams_.size() - 1);
}

void LiveSession::summarise(bool is_verbose) const {
  const pipeline::RunReport total = total_report();
  std::string text = total.frames > total.skipped + total.failed ? answer_.text() : "";
  for (const auto& stream : streams_) {
    if (streams_.size() > 1) text += stream->short_name() + ": ";
    text += stream->summary(seconds(), is_verbose);
  }
  text += settings_text(total);
  text += pipeline_.controller().summary();
  std::fputs(printable(text + problems_text(total), kLineEndsAndTabs).c_str(), stderr);
}

}  // namespace sightline::apps
