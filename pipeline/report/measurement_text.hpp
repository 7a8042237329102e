#pragma once
/// How the numbers of a measurement are put. Private to the outputs.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "pipeline/measurement/measurement.hpp"

namespace sightline::pipeline {

/// Width of a terminal.
inline constexpr std::size_t kColumns = 100;
/// Rows of equal length; the first column is flush left, the others right.
std::string aligned(const std::vector<std::vector<std::string>>& rows);
/// A field of a row of CSV, quoted where it must be.
inline std::string field(const std::string& text) {
  return csv_field(text);
}
/// The same of a number, in the shortest form that reads back as it; empty where it is not finite.
std::string field(double value);
/// Three figures or more: "0.123", "9.87", "148.2", "1482"; "-" where it is not finite.
std::string figures(double value);
/// Seconds as milliseconds, without the unit.
inline std::string milliseconds(double seconds) {
  return figures(seconds * 1e3);
}
/// "93%"; "-" where it is not finite.
std::string whole_percent(double share);
/// "512 MB"
std::string megabytes(std::int64_t bytes);
/// "no meter", or joules.
std::string energy(const Measurement& measurement, const ScheduleResult& schedule);
/// Half the range of the repeats, of the median: "1.2%"; empty where there was but one.
std::string spread(const ScheduleResult& schedule);
/// A rate that was not worked out is 0.
inline std::string rate(double fps) {
  return fps > 0 ? figures(fps) : "-";
}
/// The second best schedule; null where there are not two.
const ScheduleResult* runner_up(const Measurement& measurement);
/// False where the repeats of the two overlap.
bool clear_winner(const ScheduleResult& best, const ScheduleResult& next);
/// Why a schedule reached more than its bound: a sentence; empty where none did.
std::string bound_remark(const Measurement& measurement);
/// "people.avi, 768x576, 100 filters": what tells measurements apart.
std::string subject(const Measurement& measurement);

/// Names in the order in which they first appear.
class Names {
 public:
  std::size_t add(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// All processors of all schedules.
Names processors_of(const Measurement& measurement);

/// One row of a table of stages by schedule. A stage that a schedule splits has a row for each of its parts.
struct StageRow {
  std::string name;
  std::vector<const StageResult*> results;  ///< of each schedule; null where it has none
};
std::vector<StageRow> stage_rows(const Measurement& measurement);

}  // namespace sightline::pipeline
