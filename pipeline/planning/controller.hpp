#pragma once
/// Controller of a run: keeps the plan of schedule `auto` and the objective for the quality.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "pipeline/planning/battery_reader.hpp"
#include "pipeline/planning/drift_detector.hpp"
#include "pipeline/planning/energy_sensor.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/planning/quality_controller.hpp"
#include "pipeline/planning/quality_objective.hpp"
#include "pipeline/planning/run_window.hpp"

namespace sightline::pipeline {

/// Another schedule, with predicted costs (ScheduleObjective::cost).
struct BetterSchedule {
  Schedule schedule;
  double cost = 0;
  double running_cost = 0;
};

/// Schedule with the lowest predicted cost; none if it is not at least 10% below that of the running one, or
/// if the energy of the running one is unknown. For the goal energy, power that stages and idle do not
/// explain (of other programs, say) is assumed under every schedule, and a frame takes at least the time in
/// which the source delivers one.
/// @param costs  present costs
std::optional<BetterSchedule> better_schedule(const ScheduleObjective& planned, const DeviceCosts& costs,
                                              const Schedule& running, const RunWindow& window,
                                              const FrameProcessor& processor, const Devices& devices);

struct ControllerOptions {
  QualityObjective quality;
  std::shared_ptr<EnergyCounter> quality_energy;    ///< meters for an energy budget; may be null
  std::shared_ptr<EnergyCounter> plan_energy;       ///< meters for plans with the goal energy; may be null
  BatteryReader battery;                            ///< for the objective battery
  std::chrono::milliseconds energy_interval{2000};  ///< sensors are slow
  /// Frames per second that the source delivers; more need not be held. Empty, or 0: unlimited.
  std::function<double()> source_rate;
};

/// Sets the schedule and the setting of a running pipeline.
///
/// **Schedule.** It compares windows of the run with the plan (DriftDetector). If processors, or for the goal
/// energy a frame's joules, differ (another program uses the GPU, the content changes), it weighs the
/// schedules with the present costs and switches if another one is 10% better. Frames in flight finish as
/// they began.
///
/// **Setting.** It keeps the quality objective with the most accurate setting possible (QualityController,
/// BatteryController). A rate is held in terms of what the processors could do: a source or sinks that are
/// slower need not be held. If they leave the processors idle for more than 25% of the time, the rate to hold
/// is at most the present one, and the log says so once. A budget counts all meters that may be added up
/// (EnergyCounter), idle power included.
///
/// A TraceSink of the pipeline's runs, which it must outlive; clocked by the traces. The log tells each
/// change and its reason. Thread-safety: the other functions from any thread.
class Controller : public TraceSink {
 public:
  /// Throws Error (usage) for a budget without a meter, and Error (device) for the objective battery without
  /// a battery.
  Controller(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
             ControllerOptions options = {});

  /// Keeps a plan that was just set from now on; none: any schedule is left as it is.
  void follow_plan(std::optional<Planned> planned);
  bool follows_plan() const;
  /// Whether it needs the traces of a run.
  bool is_active() const;

  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  /// Changes the operating point by a number of steps, negative to more accurate ones; suspends the
  /// objective. Returns a description of the change.
  std::string change_operating_point(int by);
  /// Resumes the objective from the present operating point. Returns its description.
  std::string follow_objective();

  /// Setting of the frames that enter now, and its origin: "25 filters, step 1.1", "by hand"; empty if there
  /// is only one.
  std::string operating_point_text() const;
  std::string chosen_by() const;
  /// Line on the success of the objective; empty without an objective, or before its first check.
  std::string summary() const;
  /// Number of changes of the schedule, trials of a given-up plan included.
  int switches() const;

 private:
  struct KeptPlan {
    explicit KeptPlan(Planned plan);
    Planned planned;
    Schedule running;
    DriftDetector drift;
    WindowMeter window;
    bool is_watched = true;
    double joules = 0;          ///< counted at the start of the window
    std::int64_t switched = 0;  ///< frames admitted before do not count
    int setting = -1;           ///< of the counted frames; below 0: none yet
  };

  void control_schedule(const FrameTrace& trace);
  void judge_plan(std::int64_t now, const RunWindow& window);
  void weigh_again(std::int64_t now, const RunWindow& window);
  void switch_to(const Schedule& schedule, std::int64_t now);

  void control_quality(const FrameTrace& trace);
  void judge_rate(std::int64_t now, const RunWindow& window);
  void judge_energy(std::int64_t now);
  void judge_battery(std::int64_t now);
  void judge(std::int64_t now, double load, const std::string& seen);
  void change_to(std::size_t setting, const std::string& why);
  void restart_quality();
  std::size_t settings() const { return std::max<std::size_t>(processor_.operating_points().size(), 1); }
  const std::string& name(std::size_t setting) const { return processor_.operating_points()[setting].name; }

  Pipeline& pipeline_;
  const FrameProcessor& processor_;
  const Devices devices_;
  const ControllerOptions options_;

  mutable std::mutex mutex_;
  std::unique_ptr<KeptPlan> plan_;  ///< null: any schedule is left as it is
  int switches_ = 0;

  QualityController quality_;
  BatteryController battery_;
  WindowMeter window_;
  std::unique_ptr<EnergySensor> sensor_;
  int in_flight_ = 1;
  bool by_hand_ = false;
  bool failed_ = false;            ///< the sensor failed; the objective has ended
  bool told_too_slow_ = false;     ///< the log says that the fastest setting misses the limit
  bool told_idle_ = false;         ///< the log says that source or sinks limit the rate
  int idle_checks_ = 0;            ///< checks in which source or sinks limited the rate
  std::string limited_by_;         ///< text on the last of these
  std::int64_t next_battery_ = 0;  ///< time of the battery's next check
  int checks_ = 0;
  int kept_ = 0;  ///< checks that found the limit kept within 5%
  int changes_ = 0;
  std::string last_seen_;
};

}  // namespace sightline::pipeline
