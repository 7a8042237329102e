#pragma once
/// Schedule `auto`: measures what stages cost where, and picks the mapping and the frames in flight for a
/// goal.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/planning/costs.hpp"
#include "pipeline/planning/energy_counter.hpp"
#include "pipeline/planning/energy_model.hpp"
#include "pipeline/planning/transfers.hpp"
#include "pipeline/runtime/pipeline.hpp"

namespace sightline::pipeline {

enum class Goal { throughput, latency, energy };
/// Throws Error (usage). Empty: throughput.
Goal parse_goal(const std::string& text);
/// Throws Error (usage) where the goal is energy and there is no meter that is quick enough for it
/// (EnergyCounter::is_quick).
/// @param energy  may be null
void check_goal(Goal goal, const EnergyCounter* energy);

/// A schedule that was weighed.
struct Alternative {
  Schedule schedule;
  double predicted_fps = 0;
  double predicted_latency = 0;            ///< seconds
  std::string bound_by;                    ///< the slowest processor
  std::optional<double> predicted_joules;  ///< a frame, where the stages' energy is known
  double achieved_fps = 0;                 ///< 0: not tried
  double achieved_latency = 0;             ///< seconds, median
  std::optional<double> joules;            ///< a frame, where it was tried with a meter: mean of the trials
  std::optional<double> joules_error;  ///< half of the interval that the true mean is in, 19 times out of 20
  bool chosen = false;
};

/// A plan that a short run limited is made anew for runs that are longer by this factor.
inline constexpr std::int64_t kLongerRun = 2;

/// Decision of `auto`, with its reasons.
struct Planned {
  Schedule schedule;
  DeviceCosts costs;
  std::vector<Alternative> alternatives;  ///< best first
  bool remembered = false;                ///< from an earlier run's calibration
  /// Frames of the run that it was made for, where that limited what was measured or tried.
  std::optional<std::int64_t> limited_to;
  std::optional<StageEnergies> energies;  ///< that the goal energy was weighed with
};

struct PlanOptions {
  Goal goal = Goal::throughput;
  int in_flight = 0;           ///< 0: chosen too
  std::filesystem::path file;  ///< file of stored plans; empty: none
  double trial_seconds = 0.3;  ///< of each of the most promising schedules
  int trials = 5;              ///< how many of them are tried
  /// Frames of the run to come: unless a plan is remembered, measuring and trials end when planning has taken
  /// a tenth of what these are expected to take. None: not known, no limit. Does not count for the goal
  /// energy.
  std::optional<std::int64_t> frames_to_come;
  double energy_trial_seconds = 2;  ///< of a trial for the goal energy: meters are slow
  /// For the goal energy, schedules are tried by turns until they can be told apart (trials_by_turns.hpp),
  /// with at most so many trials of the mappings together, and of what is tuned, and of frames in flight.
  int energy_trials = 40;
  int energy_further_trials = 16;
  std::shared_ptr<EnergyCounter> energy;  ///< for the goal energy
  /// Says, where something has to be measured, how long copies take by device. Empty, or of fewer devices:
  /// they are measured at every stage instead.
  std::function<std::vector<TransferModel>()> transfers;
  std::filesystem::path energy_file;  ///< file of stored stage energies; empty: none
  /// Measures the energy of the stages on a frame, for the goal energy, where none is stored: each stage on
  /// each processor for so many seconds. Empty: it is not measured, and until they are tried, faster
  /// schedules are taken to need less.
  std::function<StageEnergies(const media::Frame& frame, double seconds)> measure_energies;
  double energy_seconds = 1;                ///< for measure_energies
  const std::atomic<bool>* stop = nullptr;  ///< ends it early, with what is known by then; may be null
};

/// In the user's cache folder; empty where there is none.
std::filesystem::path default_plan_file();

/// Names machine, devices with how their buffers and kernels are used, processor, frame size and threads:
/// what decides what stages cost.
std::string machine_key(const FrameProcessor& processor, const Devices& devices, Size size, int threads);

/// Ends measuring early, before a run that is not worth more.
struct CalibrationLimit {
  std::int64_t frames_to_come = 0;  ///< measuring may take a tenth of what these take on the CPU
  bool is_reached = false;          ///< then, of mappings that share a frame, some copies stay unknown
};

/// Measures every stage alone on each processor, with the copies between them: one frame at a time through
/// the mappings that show them, device by device. The pipeline must not be running; its schedule is changed.
/// Where `stop` is set or a device is lost, some costs stay unknown.
/// @param transfers  how long copies take, by device; may be fewer
/// @param limit      null: measures all
DeviceCosts calibrate(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<media::Frame>& frames, const std::atomic<bool>* stop = nullptr,
                      const std::vector<TransferModel>& transfers = {}, CalibrationLimit* limit = nullptr);

/// All mappings of stages to the CPU and one device, for each device and for all of them with frames dealt
/// out, the same for splits, with the frames in flight that suit them, by falling predicted merit for the
/// goal. Those on a device with a stage of unknown cost are left out.
/// @param energies  of the stages, for the goal energy; null: faster is taken to be better
std::vector<Alternative> weigh(const DeviceCosts& costs, const FrameProcessor& processor,
                               const Devices& devices, Goal goal, int in_flight = 0,
                               const StageEnergies* energies = nullptr);

/// Calibrates (or remembers), weighs, tries the most promising ones, then what the processor lets a schedule
/// tune, and returns the best. A plan that was stopped, or lost a device, is not remembered; one that a short
/// run limited is, for runs of up to kLongerRun times as many frames. For the goal energy, stages' energies
/// that are stored (`sightline measure --stages` does) or are measured here say what to try; what counts is
/// what the meters see, whether or not that is all, and where they cannot tell schedules apart, what was
/// predicted of these. Throws as check_goal does.
/// @param frames  some of the source, all of one size
Planned plan_schedule(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<media::Frame>& frames, const PlanOptions& options);

/// The plan that is remembered for such a run, which is set; none where there is none. Measures nothing.
std::optional<Planned> recall_schedule(Pipeline& pipeline, const FrameProcessor& processor,
                                       const Devices& devices, const media::Frame& frame,
                                       const PlanOptions& options);

/// The table of alternatives for people: the best `rows` of them.
std::string explain(const Planned& planned, const FrameProcessor& processor, std::size_t rows = 12);
/// For people: which meters the goal energy was weighed by, and whose energy they do not see. A line; empty
/// for other goals.
std::string energy_remark(const Planned& planned);

}  // namespace sightline::pipeline
