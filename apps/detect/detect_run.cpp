// `sightline detect`: the run itself.
#include "apps/detect/detect_run.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <filesystem>
#include <iterator>
#include <limits>
#include <list>
#include <mutex>
#include <optional>

#include "apps/cli/progress.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "apps/common/picture_output.hpp"
#include "apps/common/quality_options.hpp"
#include "apps/common/run_text.hpp"
#include "apps/detect/answer.hpp"
#include "apps/detect/count_sink.hpp"
#include "apps/detect/frame_files.hpp"
#include "apps/detect/held_results.hpp"
#include "apps/detect/result_sinks.hpp"
#include "apps/detect/run_page.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "detectors/families.hpp"
#include "pipeline/report/trace_file.hpp"
#include "pipeline/runs/input_decoding.hpp"
#include "pipeline/runs/media_sinks.hpp"
#include "pipeline/runs/parted_run.hpp"
#include "pipeline/runs/reader_source.hpp"
#include "pipeline/session/sinks.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

// Short files are opened and decoded beside others. Long ones are read in parts.
constexpr std::size_t kBeside = 4;
constexpr std::int64_t kShort = 480;  // frames

// What was found; how fast, for those who ask.
void summarise(const Answer& answer, const pipeline::RunReport& report, const DetectorInfo& detector,
               const pipeline::Controller& controller, const std::string& limit, bool is_verbose,
               bool only_pictures) {
  const char* const unit = only_pictures ? "picture" : "frame";
  std::string text;
  if (report.frames > report.skipped + report.failed) text += answer.text();
  if (is_verbose && report.frames > 0 && report.seconds > 0) {
    text += fmt::format("{} in {:.2f} s", counted(report.frames, unit), report.seconds);
    if (!only_pictures)
      text += fmt::format(": {:.1f} frames/s", static_cast<double>(report.frames) / report.seconds);
    text += '\n' + stage_times_text(report, unit);
  }
  text += limit;
  text += settings_text(report);
  text += controller.summary();
  if (report.objects == 0 && report.frames > report.skipped + report.failed) {
    if (detector.family.empty()) {  // several, whose options are their own
      text += "use one detector (--config) with a smaller --min-size to find smaller objects\n";
    } else {
      const FamilyInfo& family = family_named(detector.family).info();
      text += fmt::format("use {}a lower {} to find more\n",
                          family.reads("min_size") ? "a smaller --min-size to find smaller objects, " : "",
                          family.option_for_more);
    }
  }
  std::fputs(printable(text + problems_text(report, unit), kLineEndsAndTabs).c_str(), stderr);
}

// One input with what becomes of it.
struct Input {
  Input(const DetectArguments& a, const std::string& name, bool peek)
      : reader(name, a.reading), frames(reader), source(frames, peek ? pipeline::kPlanFrames : 0) {
    stream.source = &source;
    stream.name = name;
  }

  media::Reader reader;
  pipeline::ReaderSource frames;
  pipeline::PeekedSource source;
  Target target;
  std::unique_ptr<media::Writer> video;
  std::unique_ptr<Answer> answer;  // where several inputs are named
  CountSink* counter = nullptr;    // null: nothing is counted
  CropSink* crops = nullptr;       // null: no pictures of objects
  pipeline::RunDigest digest;
  ResultNotes notes;  // of the frame that the sinks are at
  std::vector<std::unique_ptr<pipeline::Sink>> sinks;
  pipeline::Stream stream;
  std::size_t number = 0;  // among all inputs, from 1
};

// Results of pictures, which have no time; a number only where the format needs one.
class PictureResults : public pipeline::Sink {
 public:
  PictureResults(std::unique_ptr<pipeline::Sink> results, bool keeps_number)
      : results_(std::move(results)), keeps_number_(keeps_number) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    FrameResult timeless = result;
    timeless.time = kNoTime;
    if (!keeps_number_) timeless.frame = 0;
    results_->accept(frame, timeless);
  }

 private:
  std::unique_ptr<pipeline::Sink> results_;
  const bool keeps_number_;
};

class DetectRun {
 public:
  DetectRun(DetectArguments arguments, ResultFormat format, int verbosity)
      : a_(std::move(arguments)),
        format_(format),
        verbosity_(verbosity),
        stop_(stop_requested()),
        engine_(a_.detector.make()),
        tracking_(a_.tracking.make(engine_.detector())),
        pipeline_(make_pipeline(engine_, engine_.quality)),
        answer_(engine_.detector().info()) {
    if (!a_.crops.empty()) require_boxes(engine_.detector().info(), "crops");
    if (!a_.labels.empty()) require_boxes(engine_.detector().info(), "format yolo");
    a_.reading.stop = &stop_;
    a_.reading.deliver_damaged = true;
    a_.reading.keep_going = a_.keep_going;
    a_.reading.keep_colour = reads_colour(engine_.detector());
    a_.reading.keep_audio = !a_.output.empty() && !a_.no_audio;
    if (engine_.threads > 0) a_.reading.threads = a_.writing.threads = engine_.threads;
    if (!a_.expected.empty()) comparison_.emplace(a_.expected, "this run");
    if (a_.counted) counts_.emplace(*a_.counted, engine_.detector().info().labels);
    if (!a_.crops.empty()) crops_.emplace(a_.crops, "--crops", a_.inputs, a_.overwrite);
    if (!a_.labels.empty()) {
      labels_.emplace(a_.labels, "--detections", a_.inputs, a_.overwrite);
      write_classes(*labels_, engine_.detector().info().labels);
    }
    if (!a_.trace.empty()) trace_ = pipeline::open_trace_file(a_.trace);
  }

  int run() {
    describe_engine(engine_, pipeline_.pipeline());
    std::exception_ptr ended;  // what was found before is not lost
    try {
      run_all();
    } catch (const Error& error) {
      if (!keeps_outputs(error)) throw;
      ended = std::current_exception();
    }
    begin_to_finish();
    finish_outputs();
    if (verbosity_ >= 0 && (!ended || total_.frames > 0))
      summarise(answer_, total_, engine_.detector().info(), pipeline_.controller(),
                verbosity_ > 0 || engine_.explain ? limit() : "", verbosity_ > 0, only_pictures_);
    if (counts_ && verbosity_ >= 0 && concluded_ > 0)
      std::fputs(counts_->text(has_all_inputs()).c_str(), stderr);
    if (ended) std::rethrow_exception(ended);
    if (stop_) {
      spdlog::warn("stopped on request; outputs are complete up to the last frame");
      return stop_exit_code();
    }
    const bool is_as_expected = compare_results();
    if (!damaged_.empty() && !a_.keep_going) throw Error(ExitCode::input, damaged_);
    if (!is_as_expected) return kResultsDiffer;
    if (!damaged_.empty()) {
      spdlog::error("{}", damaged_);
      return static_cast<int>(ExitCode::failed);
    }
    return total_.failed > 0 && total_.failed == total_.frames ? static_cast<int>(ExitCode::failed) : 0;
  }

 private:
  // Whether the outputs of the frames before an error are finished: if an input failed, or the reader of
  // standard output has gone away.
  static bool keeps_outputs(const Error& error) {
    return error.code() == ExitCode::input || error.code() == ExitCode::done;
  }

  void run_all() {
    std::list<Input> inputs;
    for (const std::string& name : a_.inputs) {
      if (!a_.together && !media::is_regular_file(name)) run_inputs(inputs);  // to open it may take time
      open(inputs, name);
      if (!a_.together && !inputs.empty() && !is_short(inputs.back())) {
        std::list<Input> last;
        last.splice(last.end(), inputs, std::prev(inputs.end()));
        run_inputs(inputs);
        inputs.splice(inputs.end(), last);
        run_inputs(inputs);
      } else if (!a_.together && inputs.size() == kBeside) {
        run_inputs(inputs);
      }
      if (stop_) break;
    }
    run_inputs(inputs);
  }

  // Whether the input may be searched beside others: its results are held until theirs are written.
  bool is_short(const Input& input) const {
    const std::optional<std::int64_t> frames = input.reader.info().frames;
    return threads() >= pipeline::kThreadsForSeveralDecoders && !has_other_outputs() && frames &&
           *frames * a_.reading.every < kShort &&
           pipeline::may_have_several_decoders(input.stream.name, a_.reading);
  }

  // Opens an input. One that cannot be read ends the run, or is named in log and results.
  void open(std::list<Input>& inputs, const std::string& name) {
    const std::size_t number = ++opened_;
    try {
      inputs.emplace_back(a_, name, engine_.is_auto()).number = number;
    } catch (const Error& error) {
      if (!a_.together) run_inputs(inputs);  // their results come first
      if (error.code() != ExitCode::input || !a_.keep_going || stop_) throw;
      spdlog::error("{}", error.what());
      note_damage(name, 1);
      FrameResult failed;
      failed.source = name;
      failed.time = kNoTime;
      failed.status = FrameStatus::failed;
      failed.message = error.what();
      if (!a_.detections.empty()) results().write(failed);
      if (comparison_) comparison_->compare(json_line(failed, {}));
      return;
    }
    const StreamInfo& info = inputs.back().reader.info();
    only_pictures_ = only_pictures_ && info.is_pictures;
    if (info.is_pictures) refuse_time_options(name, a_.reading, a_.tracking.is_asked_for());
    spdlog::info("{}", describe_stream(name, info));
  }

  // For the last line of the run. A live source loses frames by nature.
  void note_damage(const std::string& name, std::int64_t errors) {
    if (errors == 0 || media::is_live(name)) return;
    if (++damaged_inputs_ > 1) {
      damaged_ = fmt::format("{} could not be read whole", counted(damaged_inputs_, "input"));
    } else {
      damaged_ = fmt::format("'{}' could not be read whole", name);
    }
  }

  // All at once; leaves none.
  void run_inputs(std::list<Input>& inputs) {
    if (inputs.empty()) return;
    for (Input& input : inputs) add_sinks(input);
    std::deque<HeldResults> held;
    for (Input& input : inputs) {
      if (a_.together || &input == &inputs.front()) continue;
      held.emplace_back(std::exchange(input.stream.sinks, {}));
      input.stream.sinks = {&held.back()};
    }
    std::vector<pipeline::RunReport> reports;
    try {
      reports = search(inputs);
    } catch (const Error& error) {
      if (keeps_outputs(error)) {
        for (Input& input : inputs) conclude(input, false);
      }
      throw;
    }
    if (stop_) begin_to_finish();
    std::size_t whole = 0;  // inputs whose results are all passed on; none behind them may be
    for (; whole < reports.size(); ++whole) {
      if (whole > 0 && !a_.together) {
        if (stop_) break;
        held.at(whole - 1).release();
      }
      if (reports[whole].error) break;
    }
    const std::exception_ptr error = whole < reports.size() && !stop_ ? reports[whole].error : nullptr;
    reports.resize(whole);
    std::list<Input> rest;
    rest.splice(rest.end(), inputs, std::next(inputs.begin(), static_cast<std::ptrdiff_t>(whole)),
                inputs.end());
    finish(inputs, reports);
    if (error) conclude(rest.front(), false);
    inputs.clear();
    add(reports);
    if (error) std::rethrow_exception(error);
  }

  void add(const std::vector<pipeline::RunReport>& reports) {
    const double before = total_.seconds;
    double longest = 0;
    for (const pipeline::RunReport& report : reports) {
      total_.add(report);
      longest = std::max(longest, report.seconds);
    }
    total_.seconds = before + longest;
  }

  std::vector<pipeline::RunReport> search(std::list<Input>& inputs) {
    pipeline::RunOptions options;
    options.stop = &stop_;
    if (trace_) options.traces.push_back(trace_.get());
    if (!a_.report.empty()) options.traces.push_back(&history_);
    // Pictures share the first one's schedule: to measure a picture takes longer than to search it.
    if (!only_pictures_ || !std::exchange(has_plan_, true)) {
      pipeline_.set_decoding(decoding_of(inputs));
      pipeline_.plan_if_worthwhile(inputs.front().source, pipeline::kFramesWorthPlanning, stop_);
    }
    ProgressDisplay display(verbosity_ >= 0);
    if (only_pictures_) display.count_pictures();
    std::vector<pipeline::Progress> progress(inputs.size());
    std::vector<pipeline::Stream> streams;
    for (Input& input : inputs) {
      input.stream.on_progress = [&, index = streams.size()](const pipeline::Progress& one) {
        const std::lock_guard lock(mutex_);
        progress[index] = one;
        display.show(sum_of(progress));
      };
      streams.push_back(input.stream);
      streams.back().fails_alone = inputs.size() > 1 && !a_.together;
    }
    const std::clock_t before_run = std::clock();
    std::vector<pipeline::RunReport> reports =
        may_be_parted(inputs) ? std::vector{run_in_parts(inputs.front(), streams.front(), options)}
                              : pipeline_.run(streams, options);
    load_.cpu_seconds += static_cast<double>(std::clock() - before_run) / CLOCKS_PER_SEC;
    total_.sources = std::max(total_.sources, streams.size());
    display.end();
    return reports;
  }

  // Adds what was computed of an input to the outputs: pictures of tracks that have not ended, counts,
  // digest.
  void conclude(Input& input, bool is_whole) {
    if (input.crops) input.crops->finish();
    if (input.counter) counts_->add(input.counter->counter());
    if (a_.digest)
      digests_.push_back({input.stream.name, pipeline::digits_of(input.digest.digest()), is_whole});
    ++concluded_;
    if (is_whole) ++whole_;
  }

  // Whether all frames were searched. A live source loses frames by nature.
  static bool is_whole(const Input& input, const pipeline::RunReport& report) {
    return !report.stopped && (media::is_live(input.stream.name) || input.reader.decode_errors() == 0);
  }

  // Ends the outputs of each input, and reports its damage and what was found.
  void finish(std::list<Input>& inputs, const std::vector<pipeline::RunReport>& reports) {
    auto report = reports.begin();
    for (Input& input : inputs) {
      conclude(input, is_whole(input, *report++));
      if (input.video) input.video->finish();
      const bool nothing = input.video && input.video->frames() == 0;
      if (!a_.output.empty() && !nothing) spdlog::info("wrote {}", input.target.path);
    }
    for (const Input& input : inputs) {
      const std::int64_t errors = input.reader.decode_errors();
      note_damage(input.stream.name, errors);
      if (errors > 0 && !input.reader.info().is_pictures) {
        spdlog::warn("{}: {}; the last one: {}", input.stream.name, counted(errors, "decode error"),
                     input.reader.last_decode_error());
      }
    }
    for (const Input& input : inputs) {
      if (input.answer && verbosity_ >= 0)
        spdlog::info("{}: {}", input.stream.name, input.answer->one_line());
    }
  }

  int threads() const { return engine_.threads > 0 ? engine_.threads : hardware_threads(); }

  std::string limit() const {
    RunLoad load = load_;
    load.threads = threads();
    load.decodes_video = !only_pictures_ && a_.reading.decoder == "software";
    return limit_text(total_, load);
  }

  // Other outputs need pixels or times of frames in order.
  bool may_be_parted(const std::list<Input>& inputs) const {
    return inputs.size() == 1 && !has_other_outputs() &&
           pipeline::may_have_several_decoders(inputs.front().stream.name, a_.reading);
  }

  // A live source decodes whatever the schedule is.
  pipeline::InputDecoding decoding_of(const std::list<Input>& inputs) const {
    const Input& input = inputs.front();
    if (input.reader.info().is_pictures || !media::is_regular_file(input.stream.name)) return {};
    return pipeline::decoding_of({.name = input.stream.name,
                                  .reading = a_.reading,
                                  .info = input.reader.info(),
                                  .threads = threads(),
                                  .in_flight = engine_.schedule.in_flight,
                                  .beside = may_be_parted(inputs) ? 0 : inputs.size()});
  }

  pipeline::RunReport run_in_parts(Input& input, const pipeline::Stream& stream,
                                   const pipeline::RunOptions& options) {
    return pipeline::run_in_parts(pipeline_.pipeline(), stream,
                                  {a_.reading, input.reader, engine_.schedule.in_flight},
                                  pipeline_.watched(options), decoders_)
        .run;
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
    input.stream.tiles = engine_.tiles;
    const std::vector<std::string>& labels = engine_.detector().info().labels;
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
      add(std::make_unique<PictureSink>(name, input.target.path, input.reader.info(), a_.writing, labels,
                                        a_.reading.recursive));
    } else if (!a_.output.empty()) {
      input.video = std::make_unique<media::Writer>(input.target.path, input.reader.info(), a_.writing);
      add(std::make_unique<pipeline::VideoSink>(*input.video, labels));
    }
    const auto add_results = [&](std::unique_ptr<pipeline::Sink> sink, bool keeps_number = false) {
      if (input.reader.info().is_pictures)
        sink = std::make_unique<PictureResults>(std::move(sink), keeps_number);
      add_shared(std::move(sink));
    };
    if (counts_) {
      auto sink = std::make_unique<CountSink>(counts_->rules(), input.notes, labels);
      input.counter = sink.get();
      add(std::move(sink));
    }
    if (crops_) {
      auto sink = std::make_unique<CropSink>(*crops_, name, input.reader.info());
      input.crops = sink.get();
      add_shared(std::move(sink));
    }
    if (labels_) add_shared(std::make_unique<LabelSink>(*labels_, name, input.reader.info().is_pictures));
    if (a_.digest || (comparison_ && comparison_->has_digests()))
      add(std::make_unique<DigestSink>(input.digest, input.notes, labels));
    if (!a_.detections.empty()) {
      const bool goes_on = has_other_outputs() || a_.digest || comparison_ || counts_;
      add_results(std::make_unique<NotedResultSink>(results(), input.notes, goes_on),
                  format_ == ResultFormat::mot);
    }
    if (comparison_) add_results(std::make_unique<ComparisonSink>(*comparison_, input.notes, labels));
    if (!a_.contact_sheet.empty()) {
      if (!sheet_) sheet_ = std::make_unique<media::ContactSheet>();
      add_shared(std::make_unique<pipeline::ContactSheetSink>(*sheet_, labels));
    }
    if (!a_.report.empty()) {
      if (!finds_) finds_.emplace(labels, a_.inputs.size() == 1);
      add_shared(std::make_unique<RunFindsSink>(*finds_, input.number, input.reader.info().is_pictures));
    }
    add_shared(std::make_unique<AnswerSink>(answer_, input.number, input.reader.info().is_pictures));
    if (a_.several) {
      input.answer = std::make_unique<Answer>(engine_.detector().info());
      add(std::make_unique<AnswerSink>(*input.answer, 1, input.reader.info().is_pictures));
    }
    if (tracking_) {
      auto sink = std::make_unique<pipeline::TrackingSink>(*tracking_, std::move(input.stream.sinks));
      input.stream.sinks = {sink.get()};
      input.sinks.push_back(std::move(sink));
    }
  }

  // Opened only when there is something to write: a bad input must not empty an existing file.
  ResultWriter& results() {
    if (!results_) {
      results_ = ResultWriter::open(a_.detections, format_, engine_.detector().info().labels,
                                    !engine_.detector().operating_points().empty());
    }
    return *results_;
  }

  bool has_other_outputs() const {
    return !a_.output.empty() || !a_.contact_sheet.empty() || !a_.trace.empty() || !a_.report.empty() ||
           crops_ || labels_;
  }

  std::string inputs_text() const {
    std::string text = fs::path(a_.inputs.front()).filename().string();
    if (a_.inputs.size() > 1) text += " and " + std::to_string(a_.inputs.size() - 1) + " more";
    return text;
  }

  void finish_outputs() {
    try {
      if (results_) results_->finish();
    } catch (const Error& error) {
      if (error.code() != ExitCode::done) throw;
    }
    if (trace_) {
      trace_->finish();
      spdlog::info("wrote {}", a_.trace);
    }
    if (sheet_ && sheet_->offered() > 0) {
      sheet_->write(a_.contact_sheet, inputs_text());
      spdlog::info("wrote {}", a_.contact_sheet);
    }
    write_if_named(a_.report, [&] {
      return run_page(inputs_text(), engine_, pipeline_.controller(), total_, history_,
                      finds_ ? &*finds_ : nullptr, more_sections(), limit());
    });
    if (results_ && a_.detections != "-") spdlog::info("wrote {}", a_.detections);
    if (crops_) spdlog::info("wrote {} to {}", counted(crops_->files(), "picture"), a_.crops);
    if (labels_) spdlog::info("wrote {} to {}", counted(labels_->files() - 1, "label file"), a_.labels);
    print_digests();
  }

  std::vector<report::Section> more_sections() const {
    std::vector<report::Section> sections;
    if (counts_) sections.push_back(counts_->section(has_all_inputs()));
    if (!digests_.empty()) sections.push_back(digests_section(digests_));
    return sections;
  }

  // As sha256sum does. Not between results.
  void print_digests() const {
    std::FILE* const out = a_.detections == "-" ? stderr : stdout;
    for (const InputDigest& one : digests_)
      std::fputs(fmt::format("{}  {}\n", one.text(), printable(one.input)).c_str(), out);
  }

  // Whether the counts are those of all inputs, from begin to end.
  bool has_all_inputs() const { return whole_ == a_.inputs.size(); }

  // Whether all results are as expected.
  bool compare_results() {
    if (!comparison_) return true;
    comparison_->finish();
    if (verbosity_ >= 0) std::fputs(comparison_->text().c_str(), stderr);
    return comparison_->is_same();
  }

  DetectArguments a_;
  ResultFormat format_;
  int verbosity_;
  const std::atomic<bool>& stop_;
  DetectorEngine engine_;
  const std::optional<TrackerOptions> tracking_;
  pipeline::EnginePipeline pipeline_;
  pipeline::RunHistory history_;
  std::optional<RunFinds> finds_;  ///< for the page
  std::mutex mutex_;               ///< of what several inputs share
  std::unique_ptr<ResultWriter> results_;
  std::optional<ResultComparison> comparison_;
  std::optional<Counts> counts_;
  std::optional<FrameFolder> crops_;
  std::optional<FrameFolder> labels_;  ///< of YOLO
  std::vector<InputDigest> digests_;
  std::unique_ptr<media::ContactSheet> sheet_;
  std::unique_ptr<pipeline::TraceFile> trace_;
  pipeline::RunReport total_;
  std::size_t decoders_ = pipeline::kFirstDecoders;  // of the video before
  RunLoad load_;
  Answer answer_;
  std::size_t opened_ = 0;           ///< inputs
  std::size_t concluded_ = 0;        ///< inputs that were searched, to the end or in part
  std::size_t whole_ = 0;            ///< those that were searched to the end
  bool has_plan_ = false;            ///< made for an earlier picture
  bool only_pictures_ = true;        ///< among them
  std::int64_t damaged_inputs_ = 0;  ///< that could not be read whole
  std::string damaged_;              ///< says so; empty where there are none
};

}  // namespace

int run_detect(DetectArguments arguments, ResultFormat format, int verbosity) {
  return DetectRun(std::move(arguments), format, verbosity).run();
}

}  // namespace sightline::apps
