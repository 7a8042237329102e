// The progressive scan by phases and by shares, for `measure --sweep`.
#include <fmt/format.h>

#include "base/error.hpp"
#include "detectors/waldboost/opencl/stages.hpp"

namespace sightline::waldboost {
namespace {

constexpr int kMostPhase = 40;  // weak classifiers, as in M. Hruby's sweep

class Sweeper {
 public:
  Sweeper(const WaldboostDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
          std::span<const PictureView> frames, const SweepOptions& options)
      : detector_(detector),
        model_(detector.model()),
        context_(context),
        cache_(cache),
        options_(options),
        frames_(static_cast<double>(frames.size())),
        timer_(detector, frames),
        own_steps_(detector.steps()) {
    for (const ProgressiveStep& step : own_steps_) own_shares_.push_back(step.divisor);
    own_phases_ = phases_of(own_steps_);
  }

  std::vector<KernelSweep> run() {
    time_others();
    return {phases(), shares()};
  }

 private:
  void time_others() {
    for (const char* variant : kKernelVariants) {
      if (std::string_view(variant) == "progressive") continue;
      others_.push_back(time(std::string(variant) + " kernels", variant_tuning(variant, context_.device())));
    }
  }

  KernelSweep phases() {
    KernelSweep sweep = begin(
        "phases", "weak classifiers that the first step looks up before it counts which windows are left",
        "how many more each further step looks up");
    sweep.columns = sweep_values(1, std::min(kMostPhase, model_.size()), options_.values);
    sweep.rows = sweep_values(0, kMostPhase, options_.values);
    const auto further = static_cast<double>(own_phases_.size() - 1);
    sweep.own_place =
        nearest(sweep.rows, (own_phases_.back() - own_phases_.front()) / further) * sweep.columns.size() +
        nearest(sweep.columns, own_phases_.front());
    fill(
        sweep, own_phases_,
        [&](int first, int more) {
          std::vector<int> ends;
          for (std::size_t i = 0; i < own_shares_.size(); ++i)
            ends.push_back(first + static_cast<int>(i) * more);
          return progressive_steps(own_shares_, ends);
        },
        phases_of);
    return sweep;
  }

  KernelSweep shares() {
    KernelSweep sweep = begin("shares", "the first step hands on one window in so many",
                              "the further ones, until one in 512 is left");
    sweep.columns = {2, 4, 8, 16, 32};
    sweep.rows = {2, 4, 8, 16};
    sweep.own_place =
        nearest(sweep.rows, own_shares_[1]) * sweep.columns.size() + nearest(sweep.columns, own_shares_[0]);
    fill(
        sweep, own_shares_,
        [&](int first, int further) { return progressive_steps(model_, shares_of(first, further)); },
        [](const std::vector<ProgressiveStep>& steps) {
          std::vector<int> divisors;
          for (const ProgressiveStep& step : steps) divisors.push_back(step.divisor);
          return divisors;
        });
    return sweep;
  }

  KernelSweep begin(const char* name, const char* across, const char* down) const {
    KernelSweep sweep;
    sweep.name = name;
    sweep.timed = "scan and finish";
    sweep.across = across;
    sweep.down = down;
    sweep.excess = "windows beyond a share";
    sweep.others = others_;
    sweep.note = fmt::format("codes, which all of them need, take {:.3f} ms a frame besides", 1e3 * codes_);
    return sweep;
  }

  // Times the detector's own steps and all places of the grid.
  // @param steps_of  the steps of a place
  // @param words_of  their numbers as a value of the option
  void fill(KernelSweep& sweep, const std::vector<int>& own, const auto& steps_of, const auto& words_of) {
    sweep.own = time_steps(own, own_steps_);
    for (const int& row : sweep.rows) {
      if (options_.progress) {
        options_.progress(
            fmt::format("{}: row {} of {}", sweep.name, &row - sweep.rows.data() + 1, sweep.rows.size()));
      }
      for (const int column : sweep.columns) {
        const std::vector<ProgressiveStep> steps = steps_of(column, row);
        sweep.points.push_back(time_steps(words_of(steps), steps));
      }
    }
  }

  SweepPoint time_steps(const std::vector<int>& words, const std::vector<ProgressiveStep>& steps) {
    KernelTuning tuning = variant_tuning("progressive", context_.device());
    tuning.steps = steps;
    return time(fmt::format("{}", fmt::join(words, ",")), tuning);
  }

  SweepPoint time(const std::string& setting, const KernelTuning& tuning) {
    if (options_.stop && *options_.stop) throw Error(ExitCode::failed, "stopped on request");
    const OpenClStages stages(detector_, context_, cache_, tuning);
    SweepPoint point{setting, 0, {}};
    const VariantTimer::Parts parts = timer_.time(stages, setting, true, [&](const DeviceSlot& slot) {
      if (tuning.scan != "progressive") return;
      const std::vector<cl_int> excess = stages.read_excess(static_cast<const OpenClSlot&>(slot));
      point.excess.resize(excess.size() - 1);  // the last kernel has no share
      for (std::size_t i = 0; i < point.excess.size(); ++i) point.excess[i] += excess[i] / frames_;
    });
    for (const auto& [part, seconds] : parts) {
      if (part == "scan" || part == "finish") point.seconds += seconds;
    }
    codes_ = parts.at("codes");
    return point;
  }

  const WaldboostDetector& detector_;
  const Model& model_;
  const opencl::Context& context_;
  opencl::ProgramCache* cache_;
  const SweepOptions& options_;
  double frames_;
  VariantTimer timer_;
  std::vector<ProgressiveStep> own_steps_;
  std::vector<int> own_shares_, own_phases_;
  std::vector<SweepPoint> others_;
  double codes_ = 0;  // seconds a frame
};

}  // namespace

std::vector<KernelSweep> sweep(const FrameProcessor& processor, const ComputeDevice& device,
                               std::span<const PictureView> frames, const SweepOptions& options) {
  const opencl::OpenedDevice& opened = opencl::opened_from(device);
  return Sweeper(static_cast<const WaldboostDetector&>(processor), opened, &opened.cache, frames, options)
      .run();
}

}  // namespace sightline::waldboost
