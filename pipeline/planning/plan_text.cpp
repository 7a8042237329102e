// What schedule `auto` decided, for people.

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {

std::string explain(const Planned& planned, const FrameProcessor& processor, std::size_t rows) {
  const bool energy = std::ranges::any_of(
      planned.alternatives, [](const Alternative& a) { return a.joules || a.predicted_joules; });
  std::string text = fmt::format(
      "{:2}{:<62} {:>6} {:>9} {:>9} {:>9}{}  {}\n", "", "mapping", "flight", "predicted", "achieved",
      "latency", energy ? fmt::format(" {:>12} {:>15}", "mJ predicted", "mJ measured") : "", "bound by");
  const auto millijoules = [](const std::optional<double>& joules) {
    return joules ? fmt::format("{:.4g}", 1e3 * *joules) : std::string("-");
  };
  const auto measured = [&](const Alternative& a) {
    return millijoules(a.joules) + (a.joules_error ? fmt::format(" ±{:.2g}", 1e3 * *a.joules_error) : "");
  };
  std::size_t row = 0;
  for (const Alternative& a : planned.alternatives) {
    if (row++ >= rows && !a.chosen) continue;
    const std::string achieved = a.achieved_fps > 0 ? fmt::format("{:.1f}", a.achieved_fps) : "-";
    const double latency = a.achieved_latency > 0 ? a.achieved_latency : a.predicted_latency;
    text += fmt::format(
        "{:2}{:<62} {:>6} {:>9.1f} {:>9} {:>6.1f} ms{}  {}\n", a.chosen ? "*" : "",
        describe(a.schedule, processor), a.schedule.in_flight, a.predicted_fps, achieved, 1e3 * latency,
        energy ? fmt::format(" {:>12} {:>15}", millijoules(a.predicted_joules), measured(a)) : "",
        a.bound_by);
  }
  text += planned.remembered ? "Rates are frames/s, stored by an earlier run on this machine.\n"
                             : "Rates are frames/s; * is the chosen schedule.\n";
  if (std::ranges::any_of(planned.alternatives, [](const Alternative& a) { return a.schedule.batch > 1; }))
    text += "Predictions do not know what a device gains from batches.\n";
  if (std::ranges::any_of(planned.alternatives,
                          [](const Alternative& a) { return a.joules_error.has_value(); }))
    text += "Measured joules are means of trials by turns; ± is their 95% confidence interval.\n";
  return text + energy_remark(planned);
}

std::string energy_remark(const Planned& planned) {
  if (!planned.objective.energies) return {};
  std::string text = fmt::format("Energy is measured by {}", planned.objective.energies->meter);
  if (planned.objective.energies->sees_all()) return text + ".\n";
  std::string unseen;
  for (std::size_t i = 0; i < planned.objective.energies->seen.size(); ++i) {
    if (planned.objective.energies->seen[i]) continue;
    unseen += unseen.empty() ? "" : " and ";
    unseen += i == 0 ? "the CPU" : fmt::format("device {}", i - 1);
  }
  return text + fmt::format(": no meter sees the energy of {}, which is not counted.\n", unseen);
}

}  // namespace sightline::pipeline
