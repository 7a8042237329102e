// `sightline detect`: the run itself.
#include "detect_run.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <mutex>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "picture_output.hpp"
#include "pipeline/adaptive.hpp"
#include "pipeline/chrome_trace.hpp"
#include "pipeline/sinks.hpp"
#include "pipeline/sources.hpp"
#include "progress.hpp"
#include "stop.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

constexpr int kPlanFrames = 4;               // of the source, that schedule `auto` measures with
constexpr std::int64_t kWorthPlanning = 50;  // frames: to search fewer is quicker than to measure

void describe(const Engine& engine, const pipeline::Pipeline& pipeline) {
  const BuildInfo build = build_info();
  const Detector& detector = *engine.detector;
  const pipeline::Schedule schedule = pipeline.schedule();
  spdlog::info("sightline {} ({} build), {}, {} thread(s)", build.version, build.build_type,
               instruction_set(), pipeline.threads());
  if (!build.optimised) spdlog::warn("this is not an optimised build: expect a tenth of the speed");
  if (!engine.is_auto()) {
    spdlog::info("schedule {}: {}, {} frame(s) in flight", schedule.name,
                 pipeline::describe(schedule, detector), schedule.in_flight);
  }
  spdlog::info("model: {}; smallest object {:.0f} px high; scores from {:.3g}", detector.info().model,
               detector.info().smallest_object, detector.info().threshold);
}

void describe(const std::string& input, const media::StreamInfo& info) {
  std::string text =
      fmt::format("{}: {} {}x{} {}", input, info.codec, info.size.width, info.size.height, info.pixel_format);
  if (info.frame_rate.value() > 0) text += fmt::format(", {:.4g} frames/s", info.frame_rate.value());
  if (info.frames) text += fmt::format(", about {} frame(s)", *info.frames);
  spdlog::info("{}", text);
}

void summarise(const pipeline::RunReport& report) {
  const double frames = static_cast<double>(std::max<std::int64_t>(report.frames, 1));
  std::string stages;
  for (const pipeline::StageTime& stage : report.stages) {
    const bool elsewhere = !stage.processor.empty() && stage.processor != "CPU";
    stages += fmt::format("{}{} {:.2f}{}", stages.empty() ? "" : ", ", stage.name,
                          1000 * stage.seconds / frames, elsewhere ? " (" + stage.processor + ")" : "");
  }
  std::fprintf(stderr, "%s\n",
               fmt::format("{} frame(s) in {:.2f} s: {:.1f} frames/s, {} object(s)", report.frames,
                           report.seconds, frames / std::max(report.seconds, 1e-9), report.objects)
                   .c_str());
  std::fprintf(stderr, "ms a frame: %s\n", stages.c_str());
  if (report.objects == 0 && report.frames > report.skipped + report.failed) {
    std::fprintf(stderr,
                 "nothing was found; --min-size finds smaller objects, a lower --threshold more of them\n");
  }
  if (report.skipped > 0)
    std::fprintf(stderr, "%lld frame(s) too small to be searched\n", static_cast<long long>(report.skipped));
  if (report.failed > 0) {
    std::fprintf(stderr, "%lld frame(s) failed, the first because: %s\n",
                 static_cast<long long>(report.failed), report.first_failure.c_str());
  }
  if (report.redone > 0)
    std::fprintf(stderr, "%lld frame(s) searched again on the CPU, because the device failed\n",
                 static_cast<long long>(report.redone));
  if (report.decode_errors > 0)
    std::fprintf(stderr, "%lld decode error(s)\n", static_cast<long long>(report.decode_errors));
}

// One input with what becomes of it.
struct Input {
  Input(const DetectArguments& a, const std::string& name, bool peek)
      : reader(name, a.reading), frames(reader), source(frames, peek ? kPlanFrames : 0) {
    stream.source = &source;
    stream.name = name;
  }

  media::Reader reader;
  pipeline::ReaderSource frames;
  pipeline::PeekedSource source;
  Target target;
  std::unique_ptr<media::Writer> video;
  std::vector<std::unique_ptr<pipeline::Sink>> sinks;
  pipeline::Stream stream;
};

class DetectRun {
 public:
  DetectRun(DetectArguments arguments, ResultFormat format, int verbosity)
      : a_(std::move(arguments)),
        format_(format),
        verbosity_(verbosity),
        stop_(stop_requested()),
        engine_(a_.detector.make()),
        pipeline_(*engine_.detector, engine_.device.get(), engine_.resolve(), {engine_.threads}) {
    a_.reading.stop = &stop_;
    a_.reading.keep_audio = !a_.output.empty() && !a_.no_audio;
    if (engine_.threads > 0) a_.reading.threads = a_.writing.threads = engine_.threads;
    if (!a_.trace.empty()) trace_ = std::make_unique<pipeline::ChromeTraceWriter>(a_.trace);
  }

  int run() {
    describe(engine_, pipeline_);
    if (a_.together) {
      run_inputs(a_.inputs);
    } else {
      for (const std::string& input : a_.inputs) {
        run_inputs({input});
        if (stop_) break;
      }
    }
    finish_outputs();
    if (verbosity_ >= 0) summarise(total_);
    if (stop_) {
      spdlog::warn("stopped on request; what is written is complete up to the last frame above");
      return stop_exit_code();
    }
    return total_.failed > 0 && total_.failed == total_.frames ? static_cast<int>(ExitCode::failed) : 0;
  }

 private:
  // All at once.
  void run_inputs(const std::vector<std::string>& names) {
    std::deque<Input> inputs;
    for (const std::string& name : names) {
      describe(name, inputs.emplace_back(a_, name, engine_.is_auto()).reader.info());
    }
    for (Input& input : inputs) add_sinks(input);

    pipeline::RunOptions options;
    options.stop = &stop_;
    if (trace_) options.traces.push_back(trace_.get());
    std::optional<pipeline::Adaptive> adaptive;
    const std::optional<std::int64_t> frames = inputs.front().source.frames();
    const bool asked = engine_.explain || engine_.schedule.name == "auto" || !engine_.schedule.goal.empty();
    const bool worthwhile = asked || !frames || *frames >= kWorthPlanning;
    if (engine_.is_auto() && !worthwhile) {
      pipeline_.set_schedule(pipeline::named_schedule(engine_.device ? "gpu" : "cpu", *engine_.detector,
                                                      engine_.device.get(), pipeline_.threads()));
    } else if (const auto peeked = inputs.front().source.peeked(); engine_.is_auto() && !peeked.empty()) {
      const pipeline::Planned planned = engine_.plan(pipeline_, peeked);
      const pipeline::Goal goal = pipeline::parse_goal(engine_.schedule.goal);
      if (goal != pipeline::Goal::energy) {  // traces do not tell what a frame's energy is
        adaptive.emplace(pipeline_, *engine_.detector, engine_.device.get(), planned, goal,
                         engine_.schedule.in_flight);
        options.traces.push_back(&*adaptive);
      }
    }
    ProgressDisplay display(verbosity_ >= 0);
    std::vector<pipeline::Progress> progress(inputs.size());
    std::vector<pipeline::Stream> streams;
    for (Input& input : inputs) {
      input.stream.on_progress = [&, index = streams.size()](const pipeline::Progress& one) {
        const std::lock_guard lock(mutex_);
        progress[index] = one;
        display.show(sum_of(progress));
      };
      streams.push_back(input.stream);
    }
    const std::vector<pipeline::RunReport> reports = pipeline_.run(streams, options);
    display.end();
    for (Input& input : inputs) {
      if (input.video) input.video->finish();
      if (!a_.output.empty()) spdlog::info("wrote {}", input.target.path);
    }
    const double before = total_.seconds;
    double longest = 0;
    for (const pipeline::RunReport& report : reports) {
      total_.add(report);
      longest = std::max(longest, report.seconds);
    }
    total_.seconds = before + longest;
  }

  static pipeline::Progress sum_of(const std::vector<pipeline::Progress>& parts) {
    pipeline::Progress sum{0, 0, 0};
    for (const pipeline::Progress& part : parts) {
      sum.frames += part.frames;
      sum.seconds = std::max(sum.seconds, part.seconds);
      if (sum.total && part.total) {
        *sum.total += *part.total;
      } else {
        sum.total.reset();
      }
    }
    return sum;
  }

  void add_sinks(Input& input) {
    const std::vector<std::string>& labels = engine_.detector->info().labels;
    const std::string& name = input.stream.name;
    const auto add = [&](std::unique_ptr<pipeline::Sink> sink) {
      input.stream.sinks.push_back(sink.get());
      input.sinks.push_back(std::move(sink));
    };
    // Sinks that several inputs share take one frame at a time.
    const auto add_shared = [&](std::unique_ptr<pipeline::Sink> sink) {
      if (a_.together) sink = std::make_unique<pipeline::LockedSink>(std::move(sink), mutex_);
      add(std::move(sink));
    };
    input.target = target_for(a_, name);
    a_.writing.input = name;
    a_.writing.audio = input.reader.audio();
    if (!a_.output.empty() && input.target.pictures) {
      add(std::make_unique<PictureSink>(name, input.target.path, input.reader.info(), a_.writing, labels));
    } else if (!a_.output.empty()) {
      input.video = std::make_unique<media::Writer>(input.target.path, input.reader.info(), a_.writing);
      add(std::make_unique<pipeline::VideoSink>(*input.video, labels));
    }
    if (!a_.detections.empty()) {
      // Only now: a bad input must not empty an existing file.
      if (!results_) results_ = ResultWriter::open(a_.detections, format_, labels);
      add_shared(std::make_unique<pipeline::ResultSink>(*results_));
    }
    if (!a_.contact_sheet.empty()) {
      if (!sheet_) sheet_ = std::make_unique<media::ContactSheet>();
      add_shared(std::make_unique<pipeline::ContactSheetSink>(*sheet_, labels));
    }
    if (const auto tracking = a_.tracking.make(engine_.detector->info())) {
      auto sink = std::make_unique<pipeline::TrackingSink>(*tracking, std::move(input.stream.sinks));
      input.stream.sinks = {sink.get()};
      input.sinks.push_back(std::move(sink));
    }
  }

  void finish_outputs() {
    if (results_) results_->finish();
    if (trace_) {
      trace_->finish();
      spdlog::info("wrote {}", a_.trace);
    }
    if (sheet_ && sheet_->offered() > 0) {
      std::string title = fs::path(a_.inputs.front()).filename().string();
      if (a_.inputs.size() > 1) title += " and " + std::to_string(a_.inputs.size() - 1) + " more";
      sheet_->write(a_.contact_sheet, title);
      spdlog::info("wrote {}", a_.contact_sheet);
    }
    if (a_.detections != "-" && !a_.detections.empty()) spdlog::info("wrote {}", a_.detections);
  }

  DetectArguments a_;
  ResultFormat format_;
  int verbosity_;
  const std::atomic<bool>& stop_;
  Engine engine_;
  pipeline::Pipeline pipeline_;
  std::mutex mutex_;  ///< of what several inputs share
  std::unique_ptr<ResultWriter> results_;
  std::unique_ptr<media::ContactSheet> sheet_;
  std::unique_ptr<pipeline::ChromeTraceWriter> trace_;
  pipeline::RunReport total_;
};

}  // namespace

int run_detect(DetectArguments arguments, ResultFormat format, int verbosity) {
  return DetectRun(std::move(arguments), format, verbosity).run();
}

}  // namespace sightline::apps
