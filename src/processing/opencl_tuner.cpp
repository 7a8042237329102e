#include "processing/opencl_tuner.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/error.hpp"
#include "opencl/error.hpp"

namespace sightline {
namespace {

using opencl::TuningTrial;
using opencl::TuningValues;
using opencl::TuningVariant;

class Tuner {
 public:
  Tuner(const TuningProblem& problem, PictureView frame)
      : problem_(problem), timer_(problem.processor, {&frame, 1}) {}

  // Times a stage's variants, reports them, and returns the values of the best.
  TuningValues best_of(const opencl::TunedStage& stage, const TuningValues& start,
                       const opencl::TuningReport& report) {
    const auto operations = problem_.multiply_adds.find(stage.span);
    const std::vector<TuningVariant> variants = variants_of(stage, start, problem_.context.device());
    std::vector<TuningTrial> trials;
    std::size_t best = variants.size();
    for (const TuningVariant& variant : variants) {
      TuningTrial trial{stage.span, variant.text, 0, 0, "", variant.exact, false};
      if (operations != problem_.multiply_adds.end()) trial.multiply_adds = operations->second;
      try {
        trial.seconds = time(stage.span, variant);
        if (variant.exact && (best == variants.size() || trial.seconds < trials[best].seconds))
          best = trials.size();
      } catch (const opencl::DeviceError& e) {  // a variant that this device does not take
        trial.failure = e.what();
      }
      trials.push_back(trial);
    }
    if (best < trials.size()) trials[best].best = true;
    for (const TuningTrial& trial : trials) report(trial);
    return best < variants.size() ? variants[best].values : start;
  }

 private:
  double time(const std::string& part, const TuningVariant& variant) {
    const VariantTimer::Parts parts =
        timer_.time(*problem_.make_stages(variant.values), variant.text, variant.exact);
    const auto found = parts.find(part);
    return found == parts.end() ? std::numeric_limits<double>::max() : found->second;
  }

  const TuningProblem& problem_;
  VariantTimer timer_;
};

}  // namespace

VariantTimer::VariantTimer(const FrameProcessor& processor, std::span<const PictureView> frames)
    : processor_(processor),
      frames_(frames.begin(), frames.end()),
      workspace_(processor.make_workspace()),
      expected_(frames.size()) {
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    if (!run_stages(processor, *workspace_, frames_[i]))
      throw Error(ExitCode::input, "the frame is too small to time kernels with");
    processor.take_result(*workspace_, expected_[i]);
  }
}

VariantTimer::Parts VariantTimer::time(const OpenClStageBase& stages, const std::string& variant,
                                       bool is_exact, const std::function<void(const DeviceSlot&)>& each) {
  constexpr int kRuns = 5;
  const std::string& device = stages.context().name();
  const std::unique_ptr<DeviceSlot> slot = stages.make_slot();
  Parts mean;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    Parts best;
    for (int run = 0; run <= kRuns; ++run) {  // the first one warms up
      processor_.prepare(*workspace_, frames_[i]);
      stages.run(*slot, *workspace_);
      FrameResult found;
      processor_.take_result(*workspace_, found);
      if (is_exact && !difference(found, expected_[i]).empty()) {
        throw Error(ExitCode::failed, variant + " gives other results than the CPU on '" + device + "'",
                    "this is a defect of the driver or of Sightline: use --device none, and report it");
      }
      if (run == 0) continue;
      for (const DeviceSpan& span : slot->spans) {
        const double seconds = span.seconds(device);
        const auto [part, is_new] = best.emplace(span.name, seconds);
        if (!is_new) part->second = std::min(part->second, seconds);
      }
    }
    for (const auto& [part, seconds] : best) mean[part] += seconds / static_cast<double>(frames_.size());
    if (each) each(*slot);
  }
  return mean;
}

FrameTimes time_frame(const OpenClStageBase& stages, PictureView frame, int runs) {
  const FrameProcessor& processor = stages.processor();
  const std::string& device = stages.context().name();
  const std::unique_ptr<Workspace> workspace = processor.make_workspace();
  if (!processor.prepare(*workspace, frame))
    throw Error(ExitCode::input, "the frame is too small to be searched");
  const std::unique_ptr<DeviceSlot> slot = stages.make_slot();
  FrameTimes best;
  for (int run = 0; run <= runs; ++run) {
    processor.prepare(*workspace, frame);
    const auto start = std::chrono::steady_clock::now();
    stages.run(*slot, *workspace);
    const double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (run == 0 || (run > 1 && host >= best.host)) continue;
    best = {};
    best.host = host;
    for (const DeviceSpan& span : slot->spans)
      best.stages.push_back({std::string(span.name), span.seconds(device)});
    best.device = seconds_between(slot->spans.front().first, slot->spans.back().end(), device);
  }
  return best;
}

TuningValues tune(const TuningProblem& problem, PictureView frame, const opencl::TuningReport& report) {
  Tuner tuner(problem, frame);
  TuningValues best = problem.start;
  for (const opencl::TunedStage& stage : problem.table.stages) best = tuner.best_of(stage, best, report);
  return best;
}

}  // namespace sightline
