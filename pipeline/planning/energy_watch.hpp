#pragma once
/// Keeps schedule `auto` with the goal energy right while it runs.

#include <memory>
#include <optional>
#include <string>

#include "pipeline/planning/drift_detector.hpp"
#include "pipeline/planning/energy_counter.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/runtime/busy_seconds.hpp"
#include "pipeline/runtime/trace.hpp"

namespace sightline::pipeline {

/// A window of a run: means of a frame.
struct EnergySeen {
  double joules = 0;   ///< that the meters counted
  double seconds = 0;  ///< from one frame's end to the next one's
  double cpu = 0;      ///< seconds that all threads of the CPU were busy
  double device = 0;   ///< seconds that devices were
};

/// Schedule with the fewest joules per frame at present costs; none where that is not known, or not 10% less
/// than the running schedule. Power that the plan's stages and idle do not
/// explain (another program's work, say) is taken to be there under every schedule. A frame takes no less
/// time than it takes the source to bring one.
/// @param costs   as they are now
/// @param joules  out: a frame of what runs, and of the schedule, as predicted
std::optional<Schedule> more_frugal(const EnergySeen& seen, const DeviceCosts& costs, const Planned& planned,
                                    const Schedule& running, const FrameProcessor& processor,
                                    const Devices& devices, int in_flight, double* running_joules,
                                    double* joules);

/// Reads the meters over windows of at least two seconds. Where a frame's joules are no longer what they were
/// when the plan was new, it weighs the schedules anew and switches where that promises a tenth less, with
/// the pauses and trials of DriftDetector. The log says what was done and why.
///
/// A TraceSink of the pipeline's run; must outlive it. Clocked by the traces: no thread of its own. Does
/// nothing where the plan has no stages' energies, or a meter fails, which the log says once.
class EnergyWatch : public TraceSink {
 public:
  EnergyWatch(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
              const Planned& planned, std::shared_ptr<EnergyCounter> energy, int in_flight = 0);

  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  int switches() const { return switches_; }

 private:
  struct Window {
    std::int64_t from = 0;
    double joules = 0;  ///< that the meters had counted then
    int frames = 0;
    BusySeconds sums;
  };
  void close_window(std::int64_t now);
  void replan(std::int64_t now, const EnergySeen& seen);
  void go_home(std::int64_t now);
  void switch_to(const Schedule& schedule, std::int64_t now);

  Pipeline& pipeline_;
  const FrameProcessor& processor_;
  Devices devices_;
  const Planned planned_;
  int in_flight_;
  const std::shared_ptr<EnergyCounter> energy_;
  Schedule current_;
  DriftDetector watch_;
  Window window_;
  bool works_ = false;         ///< the meters count
  std::int64_t switched_ = 0;  ///< frames admitted before do not count
  int setting_ = -1;           ///< of the frames that count; below 0: there were none yet
  int switches_ = 0;
};

}  // namespace sightline::pipeline
