// What stages and copies cost, one frame at a time.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/median.hpp"
#include "pipeline/planning/plan_trial.hpp"
#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kCalibrationFrames = 7;

// When measuring has taken long enough.
class Deadline {
 public:
  // Once the CPU's costs are known: these frames would take so long there, one after the other.
  void set(const FrameCosts& costs, std::int64_t frames_to_come) {
    double frame = 0;
    for (const StageCost& stage : costs.stages) frame += std::max(stage.cpu, 0.0);
    seconds_ = 0.1 * frame * static_cast<double>(frames_to_come);
  }
  bool is_over() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return spent.count() > seconds_;
  }
  bool is_set() const { return std::isfinite(seconds_); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_ = std::numeric_limits<double>::infinity();
};

// What one device shows; the CPU's costs are known.
// @param transfers  how long copies take: half as many mappings show the rest. Empty: not known
// Returns whether it was over in time.
bool calibrate_device(std::size_t device, FrameCosts& costs, Pipeline& pipeline,
                      const FrameProcessor& processor, const Devices& devices,
                      const std::vector<Frame>& frames, const TransferModel& transfers,
                      const std::atomic<bool>* stop, const Deadline& deadline) {
  const std::size_t count = processor.stages().size();
  const DeviceInfo& info = devices[device].device().info();
  if (info.type == DeviceType::cpu && pipeline.threads() + info.compute_units > costs.cores)
    costs.shared_cores = info.compute_units;

  // All on the device; then the device first and the CPU after, and the other way round, at every stage: each
  // shows another copy. What the CPU hands to the device at a stage is as large as what it gets there.
  const StageSet supported = devices[device].supported();
  std::vector<StageSet> mappings{supported};
  for (std::size_t cut = 1; cut < count; ++cut) {
    StageSet head;
    for (std::size_t i = 0; i < cut; ++i) head[i] = supported[i];
    mappings.push_back(head);
    if (transfers.empty()) mappings.push_back(supported & ~head);
  }
  Schedule schedule{"calibration", {}, 1, 0};
  schedule.devices.set(device);
  // With little time, first what is needed to tell whether the device is worth anything.
  if (deadline.is_set()) mappings.push_back(supported);
  for (std::size_t i = mappings.size(); i-- > 0;) {
    if (i + 1 < mappings.size() && deadline.is_over()) return false;
    schedule.on_device = mappings[i];
    if (schedule.on_device.none()) continue;
    try {
      check_schedule(schedule, processor, devices);
    } catch (const Error&) {
      continue;  // a combination that this processor does not have
    }
    const TraceStatistics run = run_for(pipeline, schedule, frames, kCalibrationFrames, 2, stop);
    if (pipeline.device_lost() || is_set(stop)) return true;
    run.add_to(costs);
    if (mappings[i] != supported) continue;
    const std::vector<double> rows = run.row_seconds();
    costs.turnaround =
        std::max(0.0, median(run.latencies()) - std::accumulate(rows.begin(), rows.end(), 0.0));
  }
  for (std::size_t i = 1; i < count && !transfers.empty(); ++i) {
    if (supported[i - 1] && costs.stages[i - 1].download > 0)
      costs.stages[i].upload = transfers.upload_of_download(costs.stages[i - 1].download);
  }
  return true;
}

}  // namespace

DecoderCost measure_decoder(FrameSource& source, std::int64_t frames, double seconds, EnergyCounter* energy) {
  if (energy) energy->start();
  const std::clock_t work = std::clock();
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> spent{};
  std::int64_t count = 0;
  while (count < frames && spent.count() < seconds && source.read()) {
    ++count;
    spent = std::chrono::steady_clock::now() - start;
  }
  DecoderCost cost;
  cost.processor = "CPU";
  const auto many = static_cast<double>(std::max<std::int64_t>(count, 1));
  cost.seconds = spent.count() / many;
  cost.work = static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC / many;
  if (energy) {
    energy->stop();
    cost.joules = energy->joules() / many;
  }
  return cost;
}

DeviceCosts calibrate(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<Frame>& frames, const std::atomic<bool>* stop,
                      const std::vector<TransferModel>& transfers, CalibrationLimit* limit) {
  Deadline deadline;
  FrameCosts costs;
  costs.stages.resize(processor.stages().size());
  costs.partitionable = processor.partitionable_stages();
  costs.threads = pipeline.threads();
  costs.cores = hardware_threads();
  run_for(pipeline, {"calibration", {}, 1, 0}, frames, kCalibrationFrames, 2, stop).add_to(costs);
  if (limit) deadline.set(costs, limit->frames_to_come);
  DeviceCosts all(std::vector<FrameCosts>(std::max<std::size_t>(devices.size(), 1), costs));
  for (std::size_t device = 0; device < devices.size(); ++device) {
    const TransferModel known = device < transfers.size() ? transfers[device] : TransferModel();
    const bool in_time =
        calibrate_device(device, all[device], pipeline, processor, devices, frames, known, stop, deadline);
    if (!in_time) limit->is_reached = true;
  }
  return all;
}

}  // namespace sightline::pipeline
