#pragma once
/// Planner of the schedule `auto`: measures the cost of each stage on each processor, and selects the mapping
/// and the number of frames in flight for a goal.

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
#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

enum class Goal { throughput, latency, energy };
/// Parses a goal's name; empty: throughput. Throws Error (usage) for other text.
Goal parse_goal(const std::string& text);
/// Throws Error (usage) if the goal is energy and no meter is fast enough for it (EnergyCounter::is_quick).
/// @param energy  may be null
void check_goal(Goal goal, const EnergyCounter* energy);

/// A candidate schedule, with its predicted and measured figures.
struct Alternative {
  Schedule schedule;
  double predicted_fps = 0;
  /// predicted_fps with frames in memory; none unless the run decodes its frames.
  std::optional<double> predicted_in_memory;
  double predicted_latency = 0;            ///< seconds
  std::string bound_by;                    ///< the slowest processor
  std::optional<double> predicted_joules;  ///< per frame; none if stage energies are unknown
  double achieved_fps = 0;                 ///< with frames in memory; 0: not tried
  double achieved_latency = 0;             ///< seconds, median, with frames in memory
  std::optional<double> with_decoding;     ///< achieved_fps with decoding (fps_with_decoding); none: as above
  std::optional<double> joules;            ///< per frame, mean of the trials; none without a meter
  std::optional<double> joules_error;      ///< half width of the mean's 95% confidence interval
  bool chosen = false;
};

/// Objective by which planner and controller compare schedules.
struct ScheduleObjective {
  Goal goal = Goal::throughput;
  int in_flight = 0;                           ///< requested frames in flight; 0: chosen by the planner
  std::optional<StageEnergies> energies = {};  ///< for the goal energy; none: faster is assumed to need less
  double frame_seconds = 0;  ///< for the goal energy: minimum time per frame, of a slow source
  int batch = 0;             ///< Schedule::batch of schedules with whole frames on devices; 0: 1

  bool uses_energy() const { return goal == Goal::energy; }
  /// Candidate with its predicted figures. Frames in flight of 0 are replaced by the default. Predictions do
  /// not know what a device gains from batches.
  Alternative predict(Schedule schedule, const DeviceCosts& costs, std::size_t devices) const;
  /// Seconds or joules per frame; measured if the schedule was tried, else predicted. Lower is better.
  double cost(const Alternative& a) const;
};

/// Factor by which a run may be longer than the run whose length limited a plan. Longer runs are planned
/// again.
inline constexpr std::int64_t kLongerRun = 2;

/// Decision of `auto`, with its reasons.
struct Planned {
  Schedule schedule;
  DeviceCosts costs;
  std::vector<Alternative> alternatives;  ///< best first
  bool remembered = false;                ///< taken from the stored plans
  /// Frames of the run that it was made for, if that limited the measurements or trials.
  std::optional<std::int64_t> limited_to;
  ScheduleObjective objective;  ///< with the stage energies used for the goal energy
};

/// Decoding as a stage of plans.
struct InputDecoding {
  std::string key;  ///< tells inputs and decoders of different costs apart; part of the key of stored plans
  /// Measures each decoder (FrameCosts::decode) with at most `frames` frames and for at most `seconds`.
  /// `energy` measures the joules; null: they stay unknown. Empty: frames in memory, or a live source.
  std::function<std::vector<DecoderCost>(std::int64_t frames, double seconds, EnergyCounter* energy)> measure;
};

struct PlanOptions {
  Goal goal = Goal::throughput;
  int in_flight = 0;           ///< 0: selected by the planner
  int batch = 0;               ///< as ScheduleObjective; 0: selected by the planner
  std::filesystem::path file;  ///< file of stored plans; empty: none
  double trial_seconds = 0.3;  ///< seconds per trial
  int trials = 5;              ///< number of schedules tried
  /// Frames of the run to come. Without a stored plan, measurements and trials stop once planning has taken a
  /// tenth of the run's expected time. None: unknown, no limit. Ignored for the goal energy.
  std::optional<std::int64_t> frames_to_come;
  double energy_trial_seconds = 2;  ///< seconds per trial for the goal energy: meters are slow
  /// For the goal energy, schedules are compared by successive elimination (successive_elimination.hpp).
  /// `energy_trials` limits the trials of all mappings together, `energy_further_trials` those of the tunable
  /// and, separately, of the frames in flight.
  int energy_trials = 40;
  int energy_further_trials = 16;
  std::shared_ptr<EnergyCounter> energy;  ///< meters for the goal energy; may be null
  /// Returns the copy times by device; called only when measuring. If it is empty, or returns fewer devices,
  /// copies are measured at every stage instead.
  std::function<std::vector<TransferModel>()> transfers;
  std::filesystem::path energy_file;  ///< file of stored stage energies; empty: none
  /// Measures the energy of each stage on each processor with a frame, for the given seconds each; used for
  /// the goal energy if no stored energies exist. If empty, faster schedules are assumed to need less energy
  /// until they are tried.
  std::function<StageEnergies(const Frame& frame, double seconds)> measure_energies;
  double energy_seconds = 1;                ///< seconds for measure_energies
  const std::atomic<bool>* stop = nullptr;  ///< stops planning early with the best known plan; may be null
  InputDecoding decoding;                   ///< of the run's input
};

/// Plan file in the user's cache folder; empty if there is none.
std::filesystem::path default_plan_file();

/// Key of stored measurements, by all that decides the costs of stages: version, CPU, threads, devices with
/// buffer mode and kernel values, processor (ProcessorInfo::plan_key), size and format of the pixels.
std::string plan_key(const FrameProcessor& processor, const Devices& devices, const Frame& frame,
                     int threads);

/// Limit of the calibration time for short runs.
struct CalibrationLimit {
  std::int64_t frames_to_come = 0;  ///< calibration may take a tenth of their time on the CPU
  bool is_reached = false;          ///< set if it ended early: some copies between stages stay unknown
};

/// Measures every stage on each processor, and the copies between them, with one frame in flight and device
/// by device. The pipeline must not be running; its schedule is changed. Some costs stay unknown if `stop` is
/// set or a device is lost.
/// @param transfers  copy times by device; may have fewer devices
/// @param limit      time limit; null: none
DeviceCosts calibrate(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<Frame>& frames, const std::atomic<bool>* stop = nullptr,
                      const std::vector<TransferModel>& transfers = {}, CalibrationLimit* limit = nullptr);

/// Measures one decoder, which is open, with at most `frames` frames and for at most `seconds`. Nothing else
/// should run. `energy` measures the joules; null: they stay unknown.
DecoderCost measure_decoder(FrameSource& source, std::int64_t frames, double seconds,
                            EnergyCounter* energy = nullptr);

/// Costs of decoding PlanOptions::decoding. Empty where there is nothing to decode, and where it cannot be
/// measured: then the run reports the error.
/// @param energies  none: joules stay unknown
std::vector<DecoderCost> measure_decoders(const PlanOptions& options,
                                          const std::optional<StageEnergies>& energies = {});

/// Candidate schedules, best predicted first: all mappings of stages to the CPU and one device,
/// for each device and for all devices together (each frame on one of them); likewise all splits. Mappings
/// with a stage of unknown cost on a device are left out.
std::vector<Alternative> weigh(const DeviceCosts& costs, const FrameProcessor& processor,
                               const Devices& devices, const ScheduleObjective& objective);

/// Plans a schedule and sets it on the pipeline: uses a stored plan, or calibrates, ranks all candidates,
/// tries the best ones, and then tries values of the tunable, of the batch (not for the goal latency) and of
/// the frames in flight.
///
/// A plan is stored unless it was stopped or lost a device. One that a short run limited applies to runs of
/// up to kLongerRun times as many frames. For the goal energy, stage energies (stored by `sightline measure
/// --stages`, or measured here) select the schedules to try. The meters' readings decide, even if the meters
/// do not cover the whole machine; if they do not differ significantly, the prediction decides. Throws as
/// check_goal.
/// @param frames  sample frames of the source, all of one size; at least one
Planned plan_schedule(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<Frame>& frames, const PlanOptions& options);

/// Returns the stored plan for such a run and sets it on the pipeline; none if there is none. Measures
/// nothing.
std::optional<Planned> recall_schedule(Pipeline& pipeline, const FrameProcessor& processor,
                                       const Devices& devices, const Frame& frame,
                                       const PlanOptions& options);

/// The flow graph that a schedule builds, for people: [nodes], and (stages) of async nodes that wait for
/// devices.
std::string draw_graph(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices);

/// A table to print: the best `rows` schedules, and the stage `decode` if the run has one.
std::string explain(const Planned& planned, const FrameProcessor& processor, std::size_t rows = 12);
/// A table to print of the stage `decode`; empty without decoders.
std::string explain(const std::vector<DecoderCost>& decoders);
/// Whether the CPU decodes, and it or its decoders limit the chosen schedule: a device's decoder may help.
bool is_limited_by_software_decoding(const Planned& planned);
/// Line for people on the meters used for the goal energy, and the parts whose energy they do not cover;
/// empty for other goals.
std::string energy_remark(const Planned& planned);

}  // namespace sightline::pipeline
