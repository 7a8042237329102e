// `sightline detect`: the run itself.
#include "detect_run.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <mutex>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/utf8.hpp"
#include "detector_families.hpp"
#include "knob_options.hpp"
#include "picture_output.hpp"
#include "pipeline/chrome_trace.hpp"
#include "pipeline/sinks.hpp"
#include "pipeline/sources.hpp"
#include "progress.hpp"
#include "run_page.hpp"
#include "run_text.hpp"
#include "stop.hpp"
#include "writable.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

constexpr int kPlanFrames = 4;               // of the source, that schedule `auto` measures with
constexpr std::int64_t kWorthPlanning = 50;  // frames: to search fewer is quicker than to measure

void summarise(const pipeline::RunReport& report, const DetectorInfo& detector, const pipeline::Knob* knob) {
  const double frames = static_cast<double>(std::max<std::int64_t>(report.frames, 1));
  std::string text = fmt::format("{} frame(s) in {:.2f} s: {:.1f} frames/s, {} object(s)\n", report.frames,
                                 report.seconds, frames / std::max(report.seconds, 1e-9), report.objects);
  text += stage_times_text(report) + settings_text(report);
  if (knob) text += knob->summary();
  if (report.objects == 0 && report.frames > report.skipped + report.failed) {
    if (detector.family.empty()) {  // several, whose options are their own
      text += "nothing was found; one detector at a time (--config) takes a smaller --min-size\n";
    } else {
      text += "nothing was found; a smaller --min-size finds smaller objects, a lower ";
      text += family_named(detector.family).info().option_for_more;
      text += " more of them\n";
    }
  }
  std::fputs(printable(text + problems_text(report), kLineEndsAndTabs).c_str(), stderr);
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
        pipeline_(*engine_.detector, engine_.devices(), engine_.resolve(), {engine_.threads}),
        knob_(make_knob(engine_, pipeline_)) {
    a_.reading.stop = &stop_;
    a_.reading.keep_audio = !a_.output.empty() && !a_.no_audio;
    if (engine_.threads > 0) a_.reading.threads = a_.writing.threads = engine_.threads;
    if (!a_.trace.empty()) trace_ = std::make_unique<pipeline::ChromeTraceWriter>(a_.trace);
  }

  int run() {
    engine_.check_goal();
    describe_engine(engine_, pipeline_);
    if (a_.together) {
      run_inputs(a_.inputs);
    } else {
      for (const std::string& input : a_.inputs) {
        run_inputs({input});
        if (stop_) break;
      }
    }
    finish_outputs();
    if (verbosity_ >= 0) summarise(total_, engine_.detector->info(), knob_.get());
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
      const Input& input = inputs.emplace_back(a_, name, engine_.is_auto());
      spdlog::info("{}", describe_stream(name, input.reader.info()));
    }
    for (Input& input : inputs) add_sinks(input);

    pipeline::RunOptions options;
    options.stop = &stop_;
    if (trace_) options.traces.push_back(trace_.get());
    if (knob_) options.traces.push_back(knob_.get());
    if (!a_.report.empty()) options.traces.push_back(&history_);
    std::unique_ptr<pipeline::TraceSink> keeper;
    if (const auto planned =
            engine_.plan_if_worthwhile(pipeline_, inputs.front().source, kWorthPlanning, stop_))
      keeper = engine_.keep_right(pipeline_, *planned);
    if (keeper) options.traces.push_back(keeper.get());
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
      const bool nothing = input.video && input.video->frames() == 0;
      if (!a_.output.empty() && !nothing) spdlog::info("wrote {}", input.target.path);
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
      if (!results_)
        results_ =
            ResultWriter::open(a_.detections, format_, labels, !engine_.detector->run_settings().empty());
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

  std::string inputs_text() const {
    std::string text = fs::path(a_.inputs.front()).filename().string();
    if (a_.inputs.size() > 1) text += " and " + std::to_string(a_.inputs.size() - 1) + " more";
    return text;
  }

  void finish_outputs() {
    if (results_) results_->finish();
    if (trace_) {
      trace_->finish();
      spdlog::info("wrote {}", a_.trace);
    }
    if (sheet_ && sheet_->offered() > 0) {
      sheet_->write(a_.contact_sheet, inputs_text());
      spdlog::info("wrote {}", a_.contact_sheet);
    }
    write_if_named(a_.report,
                   [&] { return run_page(page_of(inputs_text(), engine_, knob_.get(), total_, history_)); });
    if (a_.detections != "-" && !a_.detections.empty()) spdlog::info("wrote {}", a_.detections);
  }

  DetectArguments a_;
  ResultFormat format_;
  int verbosity_;
  const std::atomic<bool>& stop_;
  Engine engine_;
  pipeline::Pipeline pipeline_;
  std::unique_ptr<pipeline::Knob> knob_;
  pipeline::RunHistory history_;
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
