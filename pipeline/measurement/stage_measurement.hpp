#pragma once
/// Results of `sightline measure --stages`: time and energy of each stage on each processor, in isolation
/// and in whole schedules.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "image/view.hpp"
#include "pipeline/planning/energy_model.hpp"
#include "pipeline/session/schedule.hpp"

namespace sightline::pipeline {

/// Mean power over a time that was measured in several windows.
struct Power {
  double watts = 0;                ///< of all meters that may be added up
  double lowest = 0, highest = 0;  ///< of the windows
  std::vector<double> meters;      ///< watts of each
  std::vector<double> parts;       ///< of the parts of meters, which are within these
  std::vector<double> megahertz;   ///< clock of what each meter sees, mean of the windows; 0: not known
};

/// Joules of one frame.
struct FrameJoules {
  double whole = 0;           ///< all that the meters counted while it was worked on
  double above_idle = 0;      ///< less the idle power over that time
  double spread = 0;          ///< half the range of the windows
  std::vector<double> parts;  ///< of `above_idle`, by part of a meter
};

/// A stage, or a copy, on one processor by itself.
struct AloneRow {
  enum class Kind { stage, upload, download };
  Kind kind = Kind::stage;
  std::string name;
  std::size_t stage = 0;      ///< of the processor's; of a copy: 0
  std::size_t processor = 0;  ///< 0 is the CPU, others are devices
  double seconds = 0;         ///< a frame
  double utilisation = 0;     ///< share of the time that the processor was busy; of a CPU: of all its threads
  bool made_ready = false;    ///< earlier stages were repeated each time, measured separately and subtracted
  std::optional<Power> power;         ///< none where there is no meter, or `made_ready`
  std::optional<FrameJoules> joules;  ///< none where no meter sees the processor
  double fps() const { return seconds > 0 ? 1 / seconds : 0; }
  /// Less than a microsecond: there was nothing to do, and its rate says nothing.
  bool does_nothing() const { return seconds < 1e-6; }
};

/// A whole schedule on the same frame.
struct WholeRow {
  std::string name;
  std::string mapping;  ///< for people
  Schedule schedule;
  double fps = 0, fps_lowest = 0, fps_highest = 0;
  double overlap_factor = 0;               ///< sum of the busy times of stages and copies over the time
  std::vector<double> utilisations;        ///< by processor
  std::optional<Power> power;              ///< none where there is no meter
  std::optional<FrameJoules> joules;       ///< as far as meters see
  std::optional<double> stages_joules;     ///< isolated stages and copies, above idle
  double predicted_fps = 0;                ///< from stage times measured one frame at a time
  std::optional<double> predicted_joules;  ///< of `predicted_fps` and the stages' energy
};

struct StageMeasurement {
  std::string input;
  Size frame_size;
  std::string model;
  std::string variant;  ///< which of the model's sizes ("25 filters"); empty where there is one
  std::string program;
  std::string machine;
  double seconds = 0;  ///< that each row was measured for
  int repeats = 1;     ///< windows of each
  std::vector<std::string> stages;
  std::vector<std::string> processors;  ///< "CPU, 2 threads", devices
  std::vector<bool> seen;               ///< by processor: whether a meter sees it
  std::string meter;                    ///< empty: there is none
  std::string meter_note;               ///< coverage of the meters, or the reason for none
  std::vector<std::string> meter_names;
  std::vector<std::string> part_names;
  std::optional<Power> idle_before, idle_after;
  double idle_watts = 0;           ///< the mean of the two
  std::vector<double> idle_parts;  ///< the same by part of a meter
  std::vector<AloneRow> rows;
  std::vector<std::string> left_out;  ///< parts that could not be measured, with reasons
  std::vector<WholeRow> schedules;    ///< the named ones
  std::vector<WholeRow> mappings;     ///< all of them, where these were asked for: the most frugal first
};

/// By how many watts the idle power that is taken off may be wrong: it changed by twice as much, or scattered
/// so, while all was measured. 0 where there is no meter.
double idle_error(const StageMeasurement& measurement);

/// Breakdown of a schedule's joules per frame.
struct JoulesExplained {
  double idle = 0;    ///< the idle power over the time of a frame
  double stages = 0;  ///< its stages and copies, measured alone
  double rest = 0;    ///< hand-overs and waiting threads; below 0: what running side by side saves
};
/// None where something of it is not known.
std::optional<JoulesExplained> explained(const WholeRow& row);

/// Energies for the planner.
StageEnergies energies_of(const StageMeasurement& measurement);

/// Index of the row with the fewest joules per frame, the first of equals; none where no row has joules.
std::optional<std::size_t> most_frugal(const std::vector<WholeRow>& rows);

}  // namespace sightline::pipeline
