#include "pipeline/measurement/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/memory_use.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/measurement/measure_stages.hpp"
#include "pipeline/measurement/same_results.hpp"
#include "pipeline/planning/plan_trial.hpp"
#include "pipeline/planning/trace_statistics.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kFramesOfDecoding = 60;  // that show what decoding costs

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

class Measurer {
 public:
  Measurer(const FrameProcessor& processor, const Devices& devices, const std::vector<Frame>& frames,
           const SourceMaker& make_source, bool decode, const MeasureOptions& options)
      : processor_(processor),
        devices_(devices),
        frames_(frames),
        make_source_(make_source),
        options_(options),
        energy_(options.meters),
        pipeline_(processor, devices, named_schedule("cpu", processor, nullptr, 1), {options.threads}) {
    result_.decoding = decode;
    result_.frame_size = frames.front().size();
    result_.model = processor.info().model;
    result_.meter = energy_.name();
    result_.meter_note = energy_.note();
  }

  Measurement run() {
    for (const std::string& name : options_.schedules) {  // a wrong name is told before anything is measured
      if (name != "auto") schedule_of(name);
    }
    say("measuring isolated stages");
    costs_ = calibrate(pipeline_, processor_, devices_, frames_, options_.stop);
    if (pipeline_.device_lost()) throw Error(ExitCode::failed, "a device failed during the calibration");
    if (result_.decoding) {
      const auto source = make_source_(kFramesOfDecoding);
      source->read();  // opening and the first frame are not the rate
      const DecoderCost decoder = measure_decoder(*source, kFramesOfDecoding, options_.seconds);
      for (FrameCosts& costs : costs_) costs.decode = {decoder};
    }
    for (const std::string& name : options_.schedules) add_schedule(name);
    for (Subject& subject : subjects_) measure_alone(subject);
    for (int repeat = 1; repeat <= options_.repeats; ++repeat) {
      for (Subject& subject : subjects_) {
        say(fmt::format("{}, run {} of {}", subject.schedule.name, repeat, options_.repeats));
        measure_once(subject);
      }
    }
    for (Subject& subject : subjects_) result_.schedules.push_back(finish(subject));
    if (options_.run_decoding) result_.with_decoding = compare_decoding();
    return std::move(result_);
  }

 private:
  struct Subject {
    Schedule schedule;
    std::int64_t frames = 0;
    DeviceCosts costs;  // of its stages, alone under this mapping
    std::vector<double> alone;
    ScheduleResult result;
    std::vector<double> latencies;
    std::vector<std::vector<double>> rows;  // mean seconds, a repeat
    std::vector<std::vector<double>> utilisations;
    std::vector<double> overlap_factors;
    double joules = 0;
  };

  void say(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  // Of a name, or of a mapping in letters: "gggcc".
  Schedule schedule_of(const std::string& name) const {
    return schedule_or_mapping(name, processor_, devices_, pipeline_.threads());
  }

  void add_schedule(const std::string& name) {
    Subject subject;
    if (name == "auto") {
      say("auto: trying the most promising mappings");
      PlanOptions plan = options_.plan;
      plan.in_flight = options_.in_flight;
      plan.batch = options_.batch;
      plan.stop = options_.stop;
      count_energy(plan, processor_, devices_, pipeline_.threads());
      const Planned planned = plan_schedule(pipeline_, processor_, devices_, frames_, plan);
      subject.schedule = planned.schedule;
      subject.schedule.name = "auto";
    } else {
      subject.schedule = schedule_of(name);
      if (subject.schedule.split > 0) {
        const Schedule even = even_split(costs_, devices_.all());
        subject.schedule.split = options_.split > 0 ? options_.split : even.split;
        if (devices_.size() > 1) subject.schedule.shares = even.shares;
      }
      if (options_.batch > 1 && name != "specialized") {
        subject.schedule.batch = usable_batch(options_.batch, subject.schedule, devices_);
        subject.schedule.in_flight =
            default_in_flight(subject.schedule, pipeline_.threads(), devices_.size());
      }
      if (options_.in_flight > 0 && name != "specialized") subject.schedule.in_flight = options_.in_flight;
    }
    subjects_.push_back(std::move(subject));
  }

  TraceStatistics run_schedule(const Schedule& schedule, std::int64_t count, std::size_t trim) {
    pipeline_.set_schedule(schedule);
    pipeline_.wait_until_ready();
    results_.restart();
    const std::unique_ptr<FrameSource> source = make_source_(count);
    TraceStatistics statistics;
    RunOptions run_options;
    run_options.traces = {&statistics};
    run_options.stop = options_.stop;
    const RunReport report = pipeline_.run({source.get(), "", {&results_}, {}}, run_options);
    if (report.stopped) throw Error(ExitCode::failed, "stopped on request");
    if (report.failed > 0) throw Error(ExitCode::failed, report.first_failure);
    if (report.retried > 0 || pipeline_.device_lost())
      throw Error(ExitCode::failed, "a device failed during the measurement");
    if (all_exact(processor_.stages()) && !results_.different().empty()) {
      throw Error(ExitCode::failed,
                  fmt::format("schedule {} finds other objects than earlier schedules: {}", schedule.name,
                              results_.different()),
                  "report this defect of a driver or of Sightline");
    }
    statistics.trim(trim);
    return statistics;
  }

  // One frame at a time; of one of so many `runs` whose mean is wanted.
  TraceStatistics run_alone(const Schedule& schedule, Subject& subject, double runs) {
    TraceStatistics statistics = run_schedule(schedule, 12, 3);
    const std::vector<double> seconds = statistics.row_seconds();
    subject.alone.resize(seconds.size());
    for (std::size_t row = 0; row < seconds.size(); ++row) subject.alone[row] += seconds[row] / runs;
    return statistics;
  }

  void measure_alone(Subject& subject) {
    say(subject.schedule.name + ", one frame at a time");
    Schedule schedule = subject.schedule;
    schedule.in_flight = 1;
    subject.costs = costs_;
    const DeviceSet dealt = schedule.split > 0 ? DeviceSet() : dealt_devices(schedule, devices_.size());
    if (dealt.none()) {
      const TraceStatistics statistics = run_alone(schedule, subject, 1);
      if (!schedule.uses_device()) {
        for (FrameCosts& costs : subject.costs) statistics.add_to(costs);
      }
    }
    // Frames that are dealt out: each device by itself.
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      if (!dealt[device]) continue;
      schedule.devices = DeviceSet(1UL << device);
      run_alone(schedule, subject, static_cast<double>(dealt.count())).add_to(subject.costs[device]);
    }
    const double fps = predicted_fps(subject.costs, subject.schedule);
    subject.frames = options_.frames > 0
                         ? options_.frames
                         : std::clamp<std::int64_t>(static_cast<std::int64_t>(options_.seconds * fps),
                                                    std::max(40, 8 * subject.schedule.batch), 20'000);
  }

  void measure_once(Subject& subject) {
    const auto warm_up = static_cast<std::size_t>(std::max(4, 2 * subject.schedule.in_flight));
    reset_peak_resident_bytes();
    energy_.start();
    const TraceStatistics statistics =
        run_schedule(subject.schedule, subject.frames + 2 * static_cast<std::int64_t>(warm_up), warm_up);
    energy_.stop();
    ScheduleResult& result = subject.result;
    const EnergyReading energy = energy_.reading();
    subject.joules += energy.joules / static_cast<double>(results_.frames());
    result.megahertz = energy.megahertz;

    result.peak_memory_bytes = std::max(result.peak_memory_bytes, peak_resident_bytes());
    result.frames += static_cast<std::int64_t>(statistics.frames().size());
    result.fps.push_back(subject.schedule.batch > 1 ? statistics.fps_of_bursts() : statistics.fps());
    const std::vector<double> latencies = statistics.latencies();
    subject.latencies.insert(subject.latencies.end(), latencies.begin(), latencies.end());
    subject.rows.push_back(statistics.row_seconds());
    subject.overlap_factors.push_back(statistics.overlap_factor());
    std::vector<double> utilisation;
    for (std::size_t p = 0; p < statistics.info().processors.size(); ++p)
      utilisation.push_back(statistics.utilisation(p, pipeline_.threads()));
    subject.utilisations.push_back(utilisation);
    result.overlap = statistics.overlap();
    result_.trace_info = statistics.info();
    row_names_ = statistics.row_names();
    result.timeline.clear();
    for (const TraceStatistics::Frame& frame : statistics.frames()) {
      if (static_cast<int>(result.timeline.size()) >= options_.timeline_frames) break;
      const std::span<const Span> spans = statistics.spans(frame);
      result.timeline.push_back({frame.number, frame.slot, {spans.begin(), spans.end()}});
    }
  }

  DecodingResult compare_decoding() {
    const auto& all = result_.schedules;
    const auto best = std::ranges::max_element(all, {}, &ScheduleResult::fps_median);
    const Schedule& schedule = subjects_[static_cast<std::size_t>(best - all.begin())].schedule;
    say(fmt::format("{}, with decoding", schedule.name));
    DecodingResult result;
    result.schedule = schedule.name;
    result.decoders = options_.decoding.measure(kFramesOfDecoding, options_.seconds, nullptr);
    const auto enough = static_cast<std::int64_t>(options_.seconds * best->fps_median);
    const std::int64_t count = options_.frames > 0 ? options_.frames : std::max<std::int64_t>(enough, 40);
    const int warm_up = std::max(4, 2 * schedule.in_flight);
    const auto in_memory = measure_rate([&] {
      const std::int64_t all_frames = count + 2 * warm_up;
      const TraceStatistics statistics =
          run_for(pipeline_, schedule, frames_, all_frames, static_cast<std::size_t>(warm_up), options_.stop);
      return Rate{schedule.batch > 1 ? statistics.fps_of_bursts() : statistics.fps(), all_frames};
    });
    const auto decoded = measure_rate([&] {
      const RunReport report = options_.run_decoding(pipeline_, count);
      if (report.failed > 0) throw Error(ExitCode::failed, report.first_failure);
      return Rate{static_cast<double>(report.frames) / std::max(report.seconds, 1e-9), report.frames};
    });
    std::tie(result.fps_in_memory, result.joules_in_memory) = in_memory;
    std::tie(result.fps, result.joules) = decoded;
    return result;
  }

  struct Rate {
    double fps = 0;
    std::int64_t frames = 0;
  };
  // Median rate and mean joules per frame.
  std::pair<double, std::optional<double>> measure_rate(const std::function<Rate()>& run) {
    std::vector<double> rates;
    double joules = 0;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      energy_.start();
      const Rate rate = run();
      energy_.stop();
      if (is_set(options_.stop)) throw Error(ExitCode::failed, "stopped on request");
      rates.push_back(rate.fps);
      if (!energy_.empty())
        joules += energy_.joules() / static_cast<double>(std::max<std::int64_t>(rate.frames, 1));
    }
    return {median(rates), energy_.empty() ? std::nullopt : std::optional(joules / options_.repeats)};
  }

  // Names of devices, joined.
  std::string names_of(const DeviceSet& some) const {
    std::string names;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (some[i]) names += (names.empty() ? "" : " and ") + devices_.name(i);
    }
    return names;
  }

  std::string processor_of(std::size_t row, const Schedule& schedule) const {
    const std::size_t stages = processor_.stages().size();
    if (row == stages + 1 || row == stages + 2)
      return names_of(schedule.uses_device() ? devices_of(schedule, devices_.size()) : devices_.all());
    if (row == 0 || row > stages) return "CPU";
    const std::size_t stage = row - 1;
    const DeviceSet dealt = dealt_devices(schedule, devices_.size());
    if (schedule.split > 0 && stage < processor_.partitionable_stages())
      return (schedule.split < 1 ? "CPU and " : "") + names_of(dealt);
    if (!schedule.on_device[stage]) return "CPU";
    return names_of(schedule.pinned[stage] > 0 ? DeviceSet(1UL << (schedule.pinned[stage] - 1)) : dealt);
  }

  ScheduleResult finish(Subject& subject) const {
    ScheduleResult& result = subject.result;
    const Schedule& schedule = subject.schedule;
    result.schedule = schedule.name;
    result.mapping = describe(schedule, processor_);
    result.in_flight = schedule.in_flight;
    result.batch = schedule.batch;
    result.split = schedule.split;
    std::vector<double> sorted = result.fps;
    std::sort(sorted.begin(), sorted.end());
    result.fps_lowest = sorted.front();
    result.fps_highest = sorted.back();
    result.fps_median = median(result.fps);
    std::sort(subject.latencies.begin(), subject.latencies.end());
    result.latency_p50 = percentile(subject.latencies, 0.50);
    result.latency_p95 = percentile(subject.latencies, 0.95);
    result.latency_p99 = percentile(subject.latencies, 0.99);
    if (devices_.empty()) {  // nothing is copied
      const auto copies = static_cast<std::ptrdiff_t>(processor_.stages().size() + 1);
      result.overlap.erase(result.overlap.begin() + copies, result.overlap.begin() + copies + 2);
      for (std::vector<double>& row : result.overlap)
        row.erase(row.begin() + copies, row.begin() + copies + 2);
    }
    for (std::size_t row = 0; row < row_names_.size(); ++row) {
      const bool copy = row_names_[row] == "upload" || row_names_[row] == "download";
      if (copy && devices_.empty()) continue;
      StageResult stage{row_names_[row], processor_of(row, schedule), 0, subject.alone[row]};
      for (const std::vector<double>& rows : subject.rows)
        stage.seconds += rows[row] / static_cast<double>(subject.rows.size());
      result.stages.push_back(std::move(stage));
    }
    const std::vector<Load> loads = loads_of(subject.costs, schedule);
    for (std::size_t p = 0; p < result_.trace_info.processors.size(); ++p) {
      ProcessorResult processor;
      processor.name = result_.trace_info.processors[p];
      for (const std::vector<double>& run : subject.utilisations)
        processor.utilisation += run[p] / static_cast<double>(subject.utilisations.size());
      const bool takes_part = p == 0 || devices_of(schedule, devices_.size())[p - 1];
      for (const Load& load : loads) {
        if (takes_part && load.processor == (p == 0 ? "CPU" : "device"))
          processor.bound_fps = 1 / load.seconds;
      }
      result.processors.push_back(std::move(processor));
    }
    result.overlap_factor = mean(subject.overlap_factors);
    const Bound bound = bound_of(subject.costs, schedule);
    result.bound_fps = bound.fps;
    result.bound_by = bound.processor;
    result.bound_share = bound.fps > 0 ? result.fps_median / bound.fps : 0;
    if (!energy_.empty()) result.joules_per_frame = subject.joules / options_.repeats;
    return std::move(result);
  }

  const FrameProcessor& processor_;
  Devices devices_;
  const std::vector<Frame>& frames_;
  const SourceMaker& make_source_;
  const MeasureOptions& options_;
  Energy energy_;
  Pipeline pipeline_;
  DeviceCosts costs_;
  std::vector<Subject> subjects_;
  std::vector<std::string> row_names_;
  SameResults results_;
  Measurement result_;
};

}  // namespace

Measurement measure(const FrameProcessor& processor, const Devices& devices, const std::vector<Frame>& frames,
                    const SourceMaker& make_source, bool decode, const MeasureOptions& options) {
  return Measurer(processor, devices, frames, make_source, decode, options).run();
}

}  // namespace sightline::pipeline
