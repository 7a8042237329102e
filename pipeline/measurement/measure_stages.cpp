#include "pipeline/measurement/measure_stages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "pipeline/measurement/energy_windows.hpp"
#include "pipeline/measurement/same_results.hpp"
#include "pipeline/measurement/stage_alone.hpp"
#include "pipeline/planning/trace_statistics.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::pipeline {
namespace {

constexpr double kLongestWithoutMeter = 1;  // seconds: a clock is quicker than any meter

// Rows of one frame processor.
class RowMeasurer {
 public:
  RowMeasurer(const FrameProcessor& processor, const Devices& devices, const Frame& frame, int threads,
              const EnergyWindows& windows, Energy& energy, StageMeasurement& result)
      : processor_(processor),
        devices_(devices),
        frame_(frame),
        threads_(threads > 0 ? threads : hardware_threads()),
        windows_(windows),
        result_(result) {
    result_.frame_size = frame.size();
    result_.model = processor.info().model;
    result_.meter = energy.name();
    result_.meter_note = energy.note();
    result_.meter_names = energy.meter_names();
    result_.part_names = energy.part_names();
    for (const StageInfo& stage : processor.stages()) result_.stages.emplace_back(stage.name);
    result_.processors.push_back(fmt::format("CPU, {} thread{}", threads_, threads_ == 1 ? "" : "s"));
    result_.seen.push_back(energy.sees_cpu());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      result_.processors.push_back(devices.name(i));
      result_.seen.push_back(energy.sees_device(devices[i].device().info()));
    }
  }

  void run(const std::function<void(const std::string&)>& say) {
    if (!result_.meter.empty()) {
      say("idle power, before");
      result_.idle_before = power_of(windows_.of_nothing());
    }
    for (std::size_t at = 0; at < result_.processors.size(); ++at) {
      if (at > 0) add_copy(at, Copy::upload, say);
      for (std::size_t stage = 0; stage < result_.stages.size(); ++stage) add_stage(at, stage, say);
      if (at > 0) add_copy(at, Copy::download, say);
    }
    if (result_.meter.empty()) return;
    say("idle power, after");
    result_.idle_after = power_of(windows_.of_nothing());
    take_off_idle();
  }

 private:
  struct Measured {
    std::vector<EnergyWindow> windows;  // of a row
    std::vector<EnergyWindow> ready;    // of what was done before each turn
  };

  void add_stage(std::size_t at, std::size_t stage, const auto& say) {
    if (at > 0 && !devices_[at - 1].supported()[stage]) return;
    const std::string what = fmt::format("{} on {}", result_.stages[stage], result_.processors[at]);
    say(what);
    const auto alone = at == 0 ? stage_on_cpu(processor_, frame_.view(), stage, threads_)
                               : stage_on_device(processor_, devices_[at - 1], frame_.view(), stage);
    AloneRow row;
    row.name = result_.stages[stage];
    row.stage = stage;
    add(std::move(row), at, alone.get(), what);
  }

  void add_copy(std::size_t at, Copy copy, const auto& say) {
    AloneRow row;
    row.kind = copy == Copy::upload ? AloneRow::Kind::upload : AloneRow::Kind::download;
    row.name = copy == Copy::upload ? "upload" : "download";
    const std::string what = fmt::format("{}, {}", row.name, result_.processors[at]);
    say(what);
    const auto alone = copy_alone(processor_, devices_[at - 1], frame_.view(), copy);
    add(std::move(row), at, alone.get(), what);
  }

  void add(AloneRow row, std::size_t at, StageAlone* alone, const std::string& what) {
    if (!alone) {
      if (at == 0) throw Error(ExitCode::input, "the frame is too small to find anything");
      result_.left_out.push_back(what + ": it cannot be isolated");
      return;
    }
    Measured measured;
    measured.windows = windows_.of([&](std::int64_t turns) { return alone->run(turns); });
    if (alone->needs_making_ready())
      measured.ready = windows_.of([&](std::int64_t turns) { return alone->make_ready(turns); });
    row.processor = at;
    row.made_ready = alone->needs_making_ready();
    const auto mean_of = [&](const auto& value) {
      const double ready = measured.ready.empty() ? 0 : range_of(measured.ready, value).mean;
      return range_of(measured.windows, value).mean - ready;
    };
    row.seconds = std::max(mean_of([](const EnergyWindow& w) { return w.seconds_a_turn(); }), 1e-9);
    const double busy = mean_of([](const EnergyWindow& w) { return w.busy_a_turn(); });
    row.utilisation = std::clamp(busy / row.seconds / (at == 0 ? threads_ : 1), 0.0, 1.0);
    if (!row.made_ready) row.power = power_of(measured.windows);
    result_.rows.push_back(std::move(row));
    measured_.push_back(std::move(measured));
  }

  // Once idle power is known from both ends.
  void take_off_idle() {
    result_.idle_watts = (result_.idle_before->watts + result_.idle_after->watts) / 2;
    std::vector<double>& idle_parts = result_.idle_parts;
    idle_parts = result_.idle_before->parts;
    for (std::size_t i = 0; i < idle_parts.size(); ++i)
      idle_parts[i] = (idle_parts[i] + result_.idle_after->parts[i]) / 2;
    for (std::size_t i = 0; i < result_.rows.size(); ++i) {
      AloneRow& row = result_.rows[i];
      if (!result_.seen[row.processor]) continue;
      row.joules = joules_of(measured_[i].windows, result_.idle_watts, idle_parts);
      if (measured_[i].ready.empty()) continue;
      const FrameJoules ready = joules_of(measured_[i].ready, result_.idle_watts, idle_parts);
      row.joules->whole -= ready.whole;
      row.joules->above_idle -= ready.above_idle;
      row.joules->spread += ready.spread;
      for (std::size_t part = 0; part < idle_parts.size(); ++part)
        row.joules->parts[part] -= ready.parts[part];
    }
  }

  const FrameProcessor& processor_;
  const Devices& devices_;
  const Frame& frame_;
  const int threads_;
  const EnergyWindows& windows_;
  StageMeasurement& result_;
  std::vector<Measured> measured_;  // by row
};

// Whole schedules on the same frame.
class WholeMeasurer {
 public:
  WholeMeasurer(const FrameProcessor& processor, const Devices& devices, const Frame& frame,
                const MeasureStagesOptions& options, Energy& energy, StageMeasurement& result)
      : processor_(processor),
        devices_(devices),
        frames_{frame},
        options_(options),
        energy_(energy),
        pipeline_(processor, devices, named_schedule("cpu", processor, nullptr, 1), {options.threads}),
        result_(result),
        energies_(energies_of(result)) {}

  void calibrate_costs() {
    costs_ = calibrate(pipeline_, processor_, devices_, frames_, options_.stop);
    check_run();
  }

  WholeRow measure(const Schedule& schedule, const std::string& name, double seconds) {
    const EnergyWindows windows(energy_, seconds, options_.repeats, options_.stop);
    pipeline_.set_schedule(schedule);
    pipeline_.wait_until_ready();
    WholeRow row;
    row.name = name;
    row.mapping = describe(schedule, processor_);
    row.schedule = schedule;
    row.predicted_fps = predicted_fps(costs_, schedule);
    double fps = run(8 + 4 * schedule.in_flight, schedule.in_flight, nullptr);
    std::vector<EnergyWindow> all;
    std::vector<double> rates;
    for (int i = 0; i < windows.repeats(); ++i) {
      all.push_back(windows.once([&](double wanted) {
        const auto count =
            std::max<std::int64_t>(static_cast<std::int64_t>(wanted * fps), 4 * schedule.in_flight + 8);
        fps = run(count, schedule.in_flight, &row);
        return count;
      }));
      rates.push_back(fps);
    }
    const auto [lowest, highest] = std::ranges::minmax(rates);
    row.fps_lowest = lowest;
    row.fps_highest = highest;
    for (const double rate : rates) row.fps += rate / static_cast<double>(rates.size());
    add_energy(row, all);
    return row;
  }

  const DeviceCosts& costs() const { return costs_; }
  const Pipeline& pipeline() const { return pipeline_; }

 private:
  void check_run() const {
    if (options_.stop && *options_.stop) throw Error(ExitCode::failed, "stopped on request");
    if (pipeline_.device_lost()) throw Error(ExitCode::failed, "a device failed during the measurement");
  }

  // Returns frames/s.
  double run(std::int64_t count, int in_flight, WholeRow* row) {
    MemorySource source(frames_, count);
    TraceStatistics statistics;
    RunOptions run_options;
    run_options.traces = {&statistics};
    run_options.stop = options_.stop;
    const RunReport report = pipeline_.run({&source, "", {&results_}, {}}, run_options);
    if (report.failed > 0) throw Error(ExitCode::failed, report.first_failure);
    check_run();
    if (all_exact(processor_.stages()) && !results_.different().empty()) {
      throw Error(ExitCode::failed,
                  "a schedule finds other objects than earlier ones: " + results_.different(),
                  "report this defect of a driver or of Sightline");
    }
    statistics.trim(static_cast<std::size_t>(std::min<std::int64_t>(2 * in_flight, count / 4)));
    if (row) {
      row->overlap_factor = statistics.overlap_factor();
      row->utilisations.clear();
      for (std::size_t p = 0; p < statistics.info().processors.size(); ++p)
        row->utilisations.push_back(statistics.utilisation(p, pipeline_.threads()));
    }
    return statistics.fps();
  }

  void add_energy(WholeRow& row, const std::vector<EnergyWindow>& windows) const {
    row.power = power_of(windows);
    if (!row.power) return;
    row.joules = joules_of(windows, result_.idle_watts, result_.idle_parts);
    row.stages_joules = joules_above_idle(energies_, costs_, row.schedule);
    row.predicted_joules =
        predicted_joules(energies_, costs_, row.schedule, 1 / std::max(row.predicted_fps, 1e-9));
  }

  const FrameProcessor& processor_;
  const Devices& devices_;
  const std::vector<Frame> frames_;
  const MeasureStagesOptions& options_;
  Energy& energy_;
  Pipeline pipeline_;
  StageMeasurement& result_;
  const StageEnergies energies_;
  DeviceCosts costs_;
  SameResults results_{1};
};

// "ggccc", and how frames are divided or dealt where that says more.
std::string letters_of(const Schedule& schedule, std::size_t stages) {
  std::string text;
  for (std::size_t i = 0; i < stages; ++i) text += schedule.on_device[i] ? 'g' : 'c';
  if (schedule.split > 0) return fmt::format("split {:.2f}", schedule.split);
  if (schedule.devices.none()) return text;
  std::string on;
  for (std::size_t i = 0; i < kMostDevices; ++i) {
    if (schedule.devices[i]) on += (on.empty() ? "" : "+") + std::to_string(i);
  }
  return text + " on " + on;
}

}  // namespace

StageMeasurement measure_stages(const FrameProcessor& processor, const Devices& devices, const Frame& frame,
                                const MeasureStagesOptions& options) {
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  std::vector<Schedule> schedules;  // a wrong name is told before anything is measured
  for (const std::string& name : options.schedules)
    schedules.push_back(schedule_or_mapping(name, processor, devices, threads));
  Energy energy(options.meters, true);
  StageMeasurement result;
  const auto timed = [&](double seconds) {
    return energy.empty() ? std::min(seconds, kLongestWithoutMeter) : seconds;
  };
  result.seconds = timed(options.seconds);
  result.repeats = std::max(options.repeats, 1);
  const auto say = [&](const std::string& what) {
    if (options.progress) options.progress(what);
  };
  const EnergyWindows windows(energy, result.seconds, result.repeats, options.stop);
  RowMeasurer(processor, devices, frame, options.threads, windows, energy, result).run(say);
  if (schedules.empty() && !options.exhaustive) return result;

  WholeMeasurer whole(processor, devices, frame, options, energy, result);
  say("stage times, one frame at a time");
  whole.calibrate_costs();
  for (const Schedule& schedule : schedules) {
    say("schedule " + schedule.name);
    result.schedules.push_back(whole.measure(schedule, schedule.name, result.seconds));
  }
  if (!options.exhaustive) return result;
  const double seconds = timed(options.mapping_seconds > 0 ? options.mapping_seconds : options.seconds);
  for (const Alternative& a : weigh(whole.costs(), processor, devices, {})) {
    if (a.schedule.split > 0) continue;  // no mapping of stages
    const std::string name = letters_of(a.schedule, result.stages.size());
    say("mapping " + name);
    result.mappings.push_back(whole.measure(a.schedule, name, seconds));
  }
  std::ranges::stable_sort(result.mappings, [](const WholeRow& a, const WholeRow& b) {
    if (a.joules && b.joules) return a.joules->whole < b.joules->whole;
    return a.fps > b.fps;
  });
  return result;
}

void count_energy(PlanOptions& options, const FrameProcessor& processor, const Devices& devices, int threads,
                  const MeterOptions& meters) {
  if (options.goal != Goal::energy) return;
  const auto energy = std::make_shared<Energy>(meters);
  options.energy = energy;
  options.measure_energies = [&processor, devices, threads, energy, stop = options.stop](const Frame& frame,
                                                                                         double seconds) {
    StageMeasurement result;
    const EnergyWindows windows(*energy, seconds, 1, stop);
    RowMeasurer(processor, devices, frame, threads, windows, *energy, result).run([](const std::string&) {});
    return energies_of(result);
  };
}

}  // namespace sightline::pipeline
