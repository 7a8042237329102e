#include "processing/opencl/opencl_tuner.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "opencl/error.hpp"
#include "processing/frame_runner.hpp"
#include "processing/opencl/grid_walk.hpp"

namespace sightline {
namespace {

using opencl::TuningTrial;
using opencl::TuningValues;
using opencl::TuningVariant;

// Gains below this are the clock's.
constexpr double kWorthAStep = 0.01;
// A sweep stops if its first variant takes this multiple of the best time so far.
constexpr double kHopeless = 2;

class Tuner {
 public:
  Tuner(const TuningProblem& problem, PictureView frame, const TuneOptions& options)
      : problem_(problem), options_(options), timer_(problem.processor, {&frame, 1}) {}

  // Tests whether the kernels work with values untested in this family.
  bool runs(const TuningValues& values) {
    try {
      timer_.time(*problem_.make_stages(values), "start values");
      return true;
    } catch (const opencl::DeviceError&) {
      return false;
    }
  }

  // Times a stage's variants, reports them, and returns the values of the best.
  TuningValues best_of(const opencl::TunedStage& stage, const TuningValues& start) {
    trials_.clear();
    best_.reset();
    if (options_.quick) {
      walk(stage, start);
    } else {
      for (const TuningVariant& variant : variants_of(stage, start, problem_.context.device()))
        try_out(stage, variant);
    }
    if (best_) trials_[*best_].trial.best = true;
    for (const Tried& one : trials_) {
      if (options_.report) options_.report(one.trial);
    }
    return best_ ? trials_[*best_].values : start;
  }

 private:
  struct Tried {
    TuningTrial trial;
    TuningValues values;
  };

  void walk(const opencl::TunedStage& stage, const TuningValues& start) {
    for (const opencl::TuningGrid& grid : grids_of(stage, problem_.context.device())) {
      if (!grid.exact) continue;  // never chosen
      std::vector<std::size_t> sizes;
      for (const auto& axis : grid.axes) sizes.push_back(axis.second.size());
      const auto cost = [&](const std::vector<std::size_t>& places) {
        return try_out(stage, grid.at(places, stage, start));
      };
      const double enough =
          best_ ? kHopeless * trials_[*best_].trial.seconds : std::numeric_limits<double>::infinity();
      walk_downhill(sizes, grid.nearest(start), cost, kWorthAStep, enough);
    }
  }

  // Seconds; infinity where it does not run.
  double try_out(const opencl::TunedStage& stage, const TuningVariant& variant) {
    for (const Tried& one : trials_) {
      if (one.values == variant.values && one.trial.variant == variant.text) return seconds_of(one.trial);
    }
    TuningTrial trial{stage.span, variant.text, 0, 0, "", variant.exact, false};
    if (const auto found = problem_.multiply_adds.find(stage.span); found != problem_.multiply_adds.end())
      trial.multiply_adds = found->second;
    try {
      trial.seconds = time(stage.span, variant);
      if (variant.exact && (!best_ || trial.seconds < trials_[*best_].trial.seconds)) best_ = trials_.size();
    } catch (const opencl::DeviceError& e) {  // a variant that this device does not take
      trial.failure = e.what();
    }
    trials_.push_back({std::move(trial), variant.values});
    return seconds_of(trials_.back().trial);
  }

  static double seconds_of(const TuningTrial& trial) {
    return trial.failure.empty() ? trial.seconds : std::numeric_limits<double>::infinity();
  }

  double time(const std::string& part, const TuningVariant& variant) {
    const VariantTimer::Parts parts =
        timer_.time(*problem_.make_stages(variant.values), variant.text, variant.exact);
    const auto found = parts.find(part);
    return found == parts.end() ? std::numeric_limits<double>::max() : found->second;
  }

  const TuningProblem& problem_;
  const TuneOptions& options_;
  VariantTimer timer_;
  std::vector<Tried> trials_;        // trials of the stage
  std::optional<std::size_t> best_;  // index in `trials_`
};

}  // namespace

VariantTimer::VariantTimer(const FrameProcessor& processor, std::span<const PictureView> frames)
    : processor_(processor), frames_(frames.begin(), frames.end()), expected_(frames.size()) {
  FrameRunner runner(processor);
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    expected_[i] = runner.process(frames_[i]);
    if (expected_[i].status == FrameStatus::skipped)
      throw Error(ExitCode::input, "the frame is too small to time kernels with");
  }
}

VariantTimer::Parts VariantTimer::time(const OpenClStageBase& stages, const std::string& variant,
                                       bool is_exact, const std::function<void(const DeviceSlot&)>& each) {
  constexpr int kRuns = 5;
  const std::string& device = stages.context().name();
  FrameRunner runner(processor_, &stages, stages.supported());
  Parts mean;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    Parts best;
    for (int run = 0; run <= kRuns; ++run) {  // the first one warms up
      const FrameResult found = runner.process(frames_[i]);
      if (is_exact && !difference(found, expected_[i]).empty()) {
        throw Error(
            ExitCode::failed, variant + " gives other results than the CPU on '" + device + "'",
            "this is a defect of the driver or of Sightline: use --device=none, and report it"_message);
      }
      if (run == 0) continue;
      for (const DeviceSpan& span : runner.slot().spans) {
        const double seconds = span.seconds(device);
        const auto [part, is_new] = best.emplace(span.name, seconds);
        if (!is_new) part->second = std::min(part->second, seconds);
      }
    }
    for (const auto& [part, seconds] : best) mean[part] += seconds / static_cast<double>(frames_.size());
    if (each) each(runner.slot());
  }
  return mean;
}

DeviceFrameTimes time_frame(const OpenClStageBase& stages, PictureView frame, int runs) {
  const std::string& device = stages.context().name();
  stages.context().forget_launches();
  FrameRunner runner(stages.processor(), &stages, stages.supported());
  DeviceFrameTimes best;
  for (int run = 0; run <= runs; ++run) {
    if (!runner.prepare(frame)) throw Error(ExitCode::input, "the frame is too small to be searched");
    const auto start = std::chrono::steady_clock::now();
    runner.run();
    const double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run == 0 || (run > 1 && host >= best.host)) continue;
    best = {};
    best.host = host;
    const std::vector<DeviceSpan>& spans = runner.slot().spans;
    for (const DeviceSpan& span : spans)
      best.stages.push_back({std::string(span.name), span.seconds(device)});
    best.device = seconds_between(spans.front().first, spans.back().end(), device);
  }
  return best;
}

TuningValues tune(const TuningProblem& problem, PictureView frame, const TuneOptions& options) {
  Tuner tuner(problem, frame, options);
  const TuningValues usual = default_values(problem.table, problem.context.device());
  TuningValues best = problem.start != usual && !tuner.runs(problem.start) ? usual : problem.start;
  for (const opencl::TunedStage& stage : problem.table.stages) best = tuner.best_of(stage, best);
  return best;
}

}  // namespace sightline
