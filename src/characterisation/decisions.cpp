#include "characterisation/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "characterisation/host_benchmarks.hpp"
#include "characterisation/knees.hpp"

namespace sightline::characterisation {
namespace {

constexpr double kClearly = 1.3;

// The best value at the place, or at the next larger one that was measured.
double near(const Curve* curve, double x) {
  if (!curve) return 0;
  for (const Point& point : curve->points)
    if (point.x >= x) return curve->best(point);
  return 0;
}

const Curve* first_of(const Characteristics& p, const std::string& prefix) {
  for (const Curve& curve : p.curves)
    if (curve.id.starts_with(prefix)) return &curve;
  return nullptr;
}

std::string whole(double value) {
  return fmt::format("{:.0f}", value);
}

void decide_transfer(Characteristics& p) {
  const double mapped = near(p.curve("transfer.mapped.up"), kFrameBytes);
  const double copied = near(p.curve("transfer.pageable.up"), kFrameBytes);
  const double pinned = near(p.curve("transfer.pinned.up"), kFrameBytes);
  if (mapped <= 0 || copied <= 0) return;
  const bool is_mapped = mapped > copied;
  const bool is_clear = std::max(mapped, copied) >= kClearly * std::min(mapped, copied);
  p.decisions.push_back(
      {"transfer", is_mapped ? "map" : "copy",
       fmt::format("{} frames to upload them: a frame of 2 MB takes {:.1f} GB/s mapped, {:.1f} copied from "
                   "pageable memory and {:.1f} from pinned memory.",
                   !is_clear   ? "Map or copy"
                   : is_mapped ? "Map"
                               : "Copy",
                   mapped, copied, pinned)});
}

void decide_work_group(Characteristics& p) {
  const Curve* const copy = p.curve("copy.group.float4");
  if (!copy) return;
  const std::vector<Sample> rates = samples_of(*copy);
  const double group = first_full(rates, 0.95);
  p.decisions.push_back(
      {"work_group", whole(group),
       fmt::format(
           "Use work-groups of {:.0f} or more work-items: they copy {:.0f} GB/s, and groups of {:.0f} "
           "copy {:.1f}.",
           group, copy->at(group), rates.front().x, rates.front().y)});
}

void decide_vector_width(Characteristics& p) {
  const Curve* const read = p.curve("read.width");
  if (!read) return;
  const std::vector<Sample> rates = samples_of(*read);
  const double width = first_full(rates, 0.95);
  p.decisions.push_back(
      {"vector_width", whole(width),
       width == 1
           ? fmt::format("Read word by word: {:.0f} GB/s, and vectors are not faster.", rates.front().y)
           : fmt::format("Read vectors of {:.0f} words: {:.1f} GB/s, and {:.1f} word by word.", width,
                         read->at(width), rates.front().y)});
}

void decide_alignment(Characteristics& p) {
  const Curve* const shift = first_of(p, "shift.");
  const Curve* const stride = first_of(p, "stride.");
  if (!shift || !stride || stride->points.empty()) return;
  const std::vector<Sample> strided = samples_of(*stride);
  const int period = shift_period(samples_of(*shift));
  std::string text = period > 0
                         ? fmt::format("Align rows to {} bytes: others are slower to read. ", 4 * period)
                         : std::string("Rows need no alignment: shifted reads are as fast. ");
  text += fmt::format("Reads with a stride of {:.0f} words reach {:.0f}% of the rate of adjacent words.",
                      strided.back().x, 100 * strided.back().y / strided.front().y);
  p.decisions.push_back({"alignment", period > 0 ? whole(period) : "none", text});
}

void decide_local_memory(Characteristics& p) {
  const double local = p.figure("cached.local"), cached = p.figure("cached.global");
  if (local <= 0 || cached <= 0) return;
  const Curve* const chain = p.curve("latency.local");
  const double local_ns = chain ? chain->at(1) : 0;
  // Local memory that is as slow as a cache is a cache; a higher rate then comes from the compiler.
  const bool is_cache = local_ns > 0 && !p.caches.empty() && local_ns >= p.caches.front().ns;
  const bool is_worth_it = local >= kClearly * cached && !is_cache;
  std::string text =
      is_cache
          ? fmt::format(
                "Do not copy data to local memory: it has the latency of a cache ({:.1f} ns, and {:.1f} "
                "of the nearest cache)",
                local_ns, p.caches.front().ns)
          : fmt::format("{} local memory for data that are read often: {:.0f} GB/s, and {:.0f} from a cache",
                        is_worth_it ? "Use" : "Do not use", local, cached);
  p.decisions.push_back({"local_memory", is_worth_it ? "yes" : "no", text + "."});
}

void decide_counting(Characteristics& p) {
  const double local = near(p.curve("atomics.local"), 1), global = near(p.curve("atomics.global"), 1);
  if (local <= 0 || global <= 0) return;
  const bool is_local = local >= kClearly * global;
  p.decisions.push_back(
      {"counting", is_local ? "local" : "global",
       fmt::format(
           "Count in {} memory{}: {:.2f} G atomic additions/s to one counter in local memory, {:.2f} in "
           "global memory.",
           is_local ? "local" : "global", is_local ? " first" : "", local, global)});
}

void decide_branches(Characteristics& p) {
  const Curve* const curve = p.curve("divergence");
  const double cost = near(curve, 16);
  if (cost <= 0) return;
  const bool is_dear = cost > 2;
  p.decisions.push_back(
      {"branches", is_dear ? "sort" : "any",
       is_dear ? fmt::format(
                     "Let adjacent work-items take the same branch: 16 branches take {:.1f} times as long "
                     "as one.",
                     cost)
               : fmt::format(
                     "Adjacent work-items may take different branches: 16 take {:.1f} times as long as one.",
                     cost)});
}

void decide_fill(Characteristics& p) {
  const double group = p.figure("parallel.group.knee"), groups = p.figure("parallel.groups.knee");
  if (group <= 0 || groups <= 0 || group * groups <= 1) return;
  p.decisions.push_back(
      {"fill", whole(group * groups),
       fmt::format("Launch {:.0f} or more work-groups of {:.0f} or more work-items: fewer leave units idle.",
                   groups, group)});
}

void decide_numbers(Characteristics& p) {
  const double floats = p.figure("peak.float"), halves = p.figure("peak.half"), dots = p.figure("peak.dot");
  if (floats <= 0) return;
  const bool has_dots = dots >= kClearly * std::max(floats, halves);
  const bool has_halves = !has_dots && halves >= kClearly * floats;
  const std::string fastest =
      has_dots ? fmt::format(
                     "Compute in bytes where the method allows: {:.1f} times as many multiply-adds as float.",
                     dots / floats)
      : has_halves
          ? fmt::format("Half precision does {:.1f} times as many multiply-adds as float.", halves / floats)
          : std::string("Compute in float: neither bytes nor half precision are clearly faster.");
  p.decisions.push_back({"numbers", has_dots ? "dot" : has_halves ? "half" : "float", fastest});
}

void decide_stage_place(Characteristics& p, const Characteristics& host) {
  const double peak = p.figure("peak.float"), host_peak = host.figure("peak.float");
  const double launch = p.figure("launch.latency");
  const double up = std::max({near(p.curve("transfer.mapped.up"), kFrameBytes),
                              near(p.curve("transfer.pageable.up"), kFrameBytes),
                              near(p.curve("transfer.pinned.up"), kFrameBytes)});
  if (peak <= 0 || host_peak <= 0 || up <= 0) return;
  const double transfer = kFrameBytes / up * 1e-3;  // us
  if (peak <= kClearly * host_peak) {
    p.decisions.push_back(
        {"stage_place", "never",
         fmt::format("Run no stage on the device: the CPU's own code does {:.0f} G multiply-adds/s, and the "
                     "device {:.0f}.",
                     host_peak, peak)});
    return;
  }
  // If threads had to wait for a core, the loop's time shows the machine's load. Without load it is
  // negligible beside a launch and a transfer.
  const bool is_known = host.figure(kInterruptedLoops) <= kMostInterrupted;
  const double loop = is_known ? host.figure("launch.latency") : 0;
  // launch + transfer + work / peak = loop + work / host peak
  const double work = std::max(launch + transfer - loop, 0.0) * 1e3 / (1 / host_peak - 1 / peak);
  const std::string which =
      work > 0 ? fmt::format("a stage of more than {:.1f} million multiply-adds a frame", 1e-6 * work)
               : "any stage";
  p.decisions.push_back(
      {"stage_place", whole(work),
       fmt::format("Run {} on the device: a launch and the upload of a 2 MB frame take {:.0f} us, then the "
                   "device does {:.0f} G multiply-adds/s, and the CPU {:.0f}{}.",
                   which, launch + transfer, peak, host_peak,
                   is_known ? fmt::format(" after {:.1f} us to start and join its threads", loop)
                            : std::string(" (its threads' start could not be timed on a busy machine)"))});
}

}  // namespace

void decide(Characteristics& processor, const Characteristics* host) {
  processor.decisions.clear();
  decide_transfer(processor);
  decide_work_group(processor);
  decide_vector_width(processor);
  decide_alignment(processor);
  decide_local_memory(processor);
  decide_counting(processor);
  decide_branches(processor);
  decide_fill(processor);
  decide_numbers(processor);
  if (host && !processor.is_host()) decide_stage_place(processor, *host);
}

}  // namespace sightline::characterisation
