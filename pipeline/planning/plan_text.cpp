// What schedule `auto` decided, for people.

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {
namespace {

std::string millijoules(const std::optional<double>& joules) {
  return joules ? fmt::format("{:.4g}", 1e3 * *joules) : std::string("-");
}

const Alternative* chosen_of(const Planned& planned) {
  const auto chosen = std::ranges::find(planned.alternatives, true, &Alternative::chosen);
  return chosen == planned.alternatives.end() ? nullptr : &*chosen;
}

// The stage `decode`, and what limits the chosen schedule.
std::string decoding_text(const Planned& planned) {
  if (planned.costs.size() == 0 || planned.costs.front().decode.empty()) return {};
  std::string text = explain(planned.costs.front().decode);
  if (const Alternative* const chosen = chosen_of(planned))
    text += fmt::format("The {} limits the chosen schedule to {:.1f} frames/s, decoding included.\n",
                        chosen->bound_by, bound_of(planned.costs, chosen->schedule).fps);
  return text;
}

}  // namespace

std::string explain(const std::vector<DecoderCost>& decoders) {
  if (decoders.empty()) return {};
  std::string text = fmt::format("{:2}{:<62} {:>8} {:>9} {:>9} {:>9} {:>9}\n", "", "stage decode on",
                                 "decoders", "ms", "CPU ms", "mJ", "at most");
  for (const DecoderCost& one : decoders) {
    text += fmt::format("{:2}{:<62} {:>8} {:>9.2f} {:>9.2f} {:>9} {:>9.1f}\n", "", one.processor, one.count,
                        1e3 * one.seconds, 1e3 * one.work,
                        millijoules(one.joules < 0 ? std::nullopt : std::optional(one.joules)), one.fps());
  }
  return text + "Times are of one decoder, per frame; at most: frames/s of all decoders of the processor.\n";
}

bool is_limited_by_software_decoding(const Planned& planned) {
  const Alternative* const chosen = chosen_of(planned);
  if (!chosen || planned.costs.size() == 0) return false;
  const std::vector<DecoderCost>& decoders = planned.costs.front().decode;
  return decoders.size() == 1 && decoders.front().processor == "CPU" &&
         (chosen->bound_by == "decoder" || chosen->bound_by == "CPU");
}

std::string explain(const Planned& planned, const FrameProcessor& processor, std::size_t rows) {
  const bool energy = std::ranges::any_of(
      planned.alternatives, [](const Alternative& a) { return a.joules || a.predicted_joules; });
  const bool decodes = std::ranges::any_of(
      planned.alternatives, [](const Alternative& a) { return a.predicted_in_memory.has_value(); });
  std::string text =
      fmt::format("{:2}{:<62} {:>6} {:>9} {:>9}{} {:>9}{}  {}\n", "", "mapping", "flight", "predicted",
                  "achieved", decodes ? fmt::format(" {:>9}", "decoding") : "", "latency",
                  energy ? fmt::format(" {:>12} {:>15}", "mJ predicted", "mJ measured") : "", "bound by");
  const auto rate = [](double fps) { return fps > 0 ? fmt::format("{:.1f}", fps) : std::string("-"); };
  const auto measured = [&](const Alternative& a) {
    return millijoules(a.joules) + (a.joules_error ? fmt::format(" ±{:.2g}", 1e3 * *a.joules_error) : "");
  };
  std::size_t row = 0;
  for (const Alternative& a : planned.alternatives) {
    if (row++ >= rows && !a.chosen) continue;
    const double latency = a.achieved_latency > 0 ? a.achieved_latency : a.predicted_latency;
    text += fmt::format(
        "{:2}{:<62} {:>6} {:>9.1f} {:>9}{} {:>6.1f} ms{}  {}\n", a.chosen ? "*" : "",
        describe(a.schedule, processor), a.schedule.in_flight, a.predicted_fps, rate(a.achieved_fps),
        decodes ? fmt::format(" {:>9}", rate(a.with_decoding.value_or(0))) : "", 1e3 * latency,
        energy ? fmt::format(" {:>12} {:>15}", millijoules(a.predicted_joules), measured(a)) : "",
        a.bound_by);
  }
  text += planned.remembered ? "Rates are frames/s, stored by an earlier run on this machine.\n"
                             : "Rates are frames/s; * is the chosen schedule.\n";
  if (decodes)
    text +=
        "Achieved are rates and latencies with frames in memory; decoding: the rate less what decoding "
        "takes.\n";
  if (std::ranges::any_of(planned.alternatives, [](const Alternative& a) { return a.schedule.batch > 1; }))
    text += "Predictions do not know what a device gains from batches.\n";
  if (std::ranges::any_of(planned.alternatives,
                          [](const Alternative& a) { return a.joules_error.has_value(); }))
    text += "Measured joules are means of trials by turns; ± is their 95% confidence interval.\n";
  return text + decoding_text(planned) + energy_remark(planned);
}

std::string draw_graph(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices) {
  const auto names = [&](std::size_t first, std::size_t last, const char* between) {
    std::vector<std::string_view> all;
    for (; first < last; ++first) all.push_back(processor.stages()[first].name);
    return fmt::format("{}", fmt::join(all, between));
  };
  const auto on = [&](const DeviceSet& some) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (some[i]) all.push_back(devices.name(i));
    }
    return fmt::format("{}", fmt::join(all, " or "));
  };
  const std::size_t stages = processor.stages().size();
  const DeviceSet dealt = dealt_devices(schedule, devices.size());
  std::vector<std::string> nodes{"[decode]"};
  std::size_t next = 0;
  if (schedule.split > 0) {
    next = processor.partitionable_stages();
    const std::string part = names(0, next, ", ");
    nodes.push_back(fmt::format("({} of {:.0f}% on {} beside {:.0f}% on the CPU)", part, 100 * schedule.split,
                                on(dealt), 100 * (1 - schedule.split)));
    nodes.emplace_back("[merge]");
  }
  for (const Segment& segment : segments_of(schedule, stages)) {
    const std::size_t first = std::max(segment.first, next);
    if (first >= segment.last) continue;
    if (segment.on_device) {
      const DeviceSet pinned = segment.pinned > 0 ? DeviceSet(1UL << (segment.pinned - 1)) : dealt;
      nodes.push_back(fmt::format("({} on {})", names(first, segment.last, ", "), on(pinned)));
    } else {
      nodes.push_back("[" + names(first, segment.last, "] > [") + "]");
    }
  }
  return fmt::format("graph, {} in flight: {} > [order] > [deliver]\n", schedule.in_flight,
                     fmt::join(nodes, " > "));
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
