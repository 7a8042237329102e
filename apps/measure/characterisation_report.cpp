#include "apps/measure/characterisation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "characterisation/decisions.hpp"
#include "characterisation/knees.hpp"
#include "pipeline/report/document.hpp"
#include "pipeline/report/kernel_output.hpp"

namespace sightline::apps {
namespace {

using namespace report;
using characterisation::Characteristics;
using characterisation::Curve;
using characterisation::Figure;
using characterisation::Point;

using Processors = std::span<const Characteristics>;

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) bytes /= 1024, ++unit;
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

// Three digits where there is a fraction: "0.873", "12.1", "1340".
std::string digits_text(double value) {
  if (value <= 0) return "0";
  const int digits = 2 - static_cast<int>(std::floor(std::log10(value)));
  return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 5));
}

std::string processor_title(const Characteristics& p) {
  return p.is_host() ? p.name + ", the CPU by itself" : p.name + " (" + p.type + " by OpenCL)";
}

// A figure, or the value of a curve at the first place from x on.
struct Wanted {
  std::string id, name;
  double x = 0;  // 0: a figure
};

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// "float 160, int 80 G/s" of those that there are, at their best.
std::string values_text(const Characteristics& p, const std::vector<Wanted>& wanted,
                        const std::string& unit) {
  std::vector<std::string> parts;
  for (const Wanted& one : wanted) {
    double value = one.x > 0 ? 0 : p.figure(one.id);
    if (const Curve* const curve = one.x > 0 ? p.curve(one.id) : nullptr) {
      const auto point = std::ranges::lower_bound(curve->points, one.x, {}, &Point::x);
      if (point != curve->points.end()) value = curve->best(*point);
    }
    if (value > 0) parts.push_back(one.name + (one.name.empty() ? "" : " ") + digits_text(value));
  }
  return parts.empty() ? "" : joined(parts) + " " + unit;
}

std::string caches_text(const Characteristics& p) {
  if (p.memory_ns <= 0) return "";
  std::vector<std::string> parts;
  for (const auto& level : p.caches)
    parts.push_back(fmt::format("{} at {}", bytes_text(level.bytes), digits_text(level.ns)));
  parts.push_back(fmt::format("memory at {} ns (arrays up to {})", digits_text(p.memory_ns),
                              bytes_text(p.largest_array)));
  return joined(parts);
}

std::string best_group(const Characteristics& p, const char* id, const char* name) {
  const Curve* const curve = p.curve(id);
  if (!curve || curve->points.empty()) return "";
  const Point* best = &curve->points.front();
  for (const Point& point : curve->points)
    if (curve->best(point) > curve->best(*best)) best = &point;
  return fmt::format("{} {} ({:.0f})", name, digits_text(curve->best(*best)), best->x);
}

std::string banks_text(const Characteristics& p) {
  const Curve* const curve = p.curve("banks.sub_group");
  if (!curve) return "";
  const int banks = characterisation::bank_count(characterisation::samples_of(*curve));
  return banks > 0 ? fmt::format("{} banks", banks) : "no conflicts of banks";
}

std::string units_text(const Characteristics& p) {
  const double group = p.figure("parallel.group.knee"), groups = p.figure("parallel.groups.knee");
  std::vector<std::string> parts;
  if (p.figure("sub_group") > 0)
    parts.push_back(fmt::format("sub-group of {:.0f} work-items", p.figure("sub_group")));
  if (group > 1) parts.push_back(fmt::format("a unit is full with {:.0f} work-items", group));
  if (groups > 1) parts.push_back(fmt::format("the device with {:.0f} work-groups", groups));
  return joined(parts);
}

// Durations of the parts, the longest first.
std::string took_text(const Characteristics& p) {
  std::vector<std::string> parts;
  if (p.build_seconds > 0) parts.push_back(fmt::format("kernels built {:.2f}", p.build_seconds));
  std::vector<characterisation::Part> longest = p.parts;
  std::ranges::stable_sort(longest, std::greater<>(), &characterisation::Part::seconds);
  for (const characterisation::Part& part : longest)
    parts.push_back(fmt::format("{} {:.2f}", part.what, part.seconds));
  return joined(parts);
}

Facts summary_of(const Characteristics& p) {
  const bool host = p.is_host();
  Facts facts{
      {{"measured", host ? fmt::format("{}, {} threads, in {:.1f} s", p.driver, p.compute_units, p.seconds)
                         : fmt::format("{}, driver {}, {} compute units, in {:.1f} s", p.platform, p.driver,
                                       p.compute_units, p.seconds)},
       {"took, s", took_text(p)},
       {"caches", caches_text(p)}}};
  const auto add = [&](const char* name, const std::string& value) { facts.items.emplace_back(name, value); };
  const auto values = [&](const char* name, const std::vector<Wanted>& wanted, const char* unit) {
    add(name, values_text(p, wanted, unit));
  };
  values("multiply-adds",
         {{"peak.float", "float"},
          {"peak.int", "int"},
          {"peak.half", "half"},
          {"peak.double", "double"},
          {"peak.dot", "bytes"}},
         "G/s");
  for (const std::string type : {"int", "float"}) {
    const std::string id = "latency." + type + '.';
    values(("operation, " + type).c_str(),
           {{id + "add", "+"}, {id + "subtract", "-"}, {id + "multiply", "*"}, {id + "divide", "/"}}, "ns");
  }
  values("reads that hit",
         {{"cached.global", host ? "nearest cache" : "global"},
          {"cached.local", "local"},
          {"cached.constant", "constant"}},
         "GB/s");
  values("codes of 3x3 pixels", {{"codes.buffer", "from a buffer"}, {"codes.image", "from an image"}},
         "G pixels/s");
  values("copy in memory", {{"copy.threads", "all threads"}}, "GB/s read and written");
  if (!host) {
    add("copy, GB/s", joined({best_group(p, "copy.group.float4", "four words a work-item"),
                              best_group(p, "copy.group.float", "a word")}) +
                          (p.curve("copy.group.float") ? " (best work-group)" : ""));
    values("reading by width",
           {{"read.width", "1 word", 1}, {"read.width", "4 words", 4}, {"read.width", "16 words", 16}},
           "GB/s");
    for (const std::string to : {"up", "down"}) {
      std::vector<Wanted> kinds;
      for (const std::string kind : {"pageable", "pinned", "mapped"})
        kinds.push_back({"transfer." + kind + '.' + to, kind, characterisation::kFrameBytes});
      values(("frame of 2 MB " + to).c_str(), kinds, "GB/s");
    }
    add("local memory",
        joined({values_text(p, {{"latency.local", "", 1}}, "ns a read in a chain"), banks_text(p)}));
    add("units", units_text(p));
    values("branches",
           {{"divergence", "2 ways", 2}, {"divergence", "8 ways", 8}, {"divergence", "32 ways", 32}},
           "times one way");
  }
  values("atomic additions",
         {{"atomics.global", host ? "one counter" : "global: one counter", 1},
          {"atomics.global", "1024", 1024},
          {"atomics.local", "local: one counter", 1},
          {"atomics.local", "1024", 1024}},
         "G/s");
  values(host ? "parallel loop" : "launch",
         {{"launch.latency", host ? "on all threads" : "until done"},
          {"launch.interval", "in a row"},
          {"launch.event", "an event alone"}},
         "us");
  return facts;
}

// Decisions that follow, and losses.
List conclusions_of(const Characteristics& p) {
  List list;
  for (const auto& decision : p.decisions) list.items.push_back(decision.text);
  for (const auto& loss : p.losses)
    list.items.push_back("Not measured: " + loss.what + " (" + loss.why + ")");
  return list;
}

Table figures_of(const Characteristics& p) {
  return table_of<Figure>(p.figures, {{"figure", &Figure::title},
                                      {"best", [](auto& f) { return digits_text(f.best()); }},
                                      {"smallest", [](auto& f) { return digits_text(f.value.smallest); }},
                                      {"median", [](auto& f) { return digits_text(f.value.median); }},
                                      {"largest", [](auto& f) { return digits_text(f.value.largest); }},
                                      {"unit", &Figure::unit},
                                      {"clock", [](auto& f) { return to_string(f.clock); }}});
}

const NamedTexts kCharacterisationGuide{
    {"Points and bars",
     "A point is the best of several repeats, since whatever disturbs a measurement makes it slower; its bar "
     "reaches from the smallest to the largest of them. A first run of each is left out."},
    {"Clocks",
     "Device: from the start to the end of a kernel, as the device tells. Host: from handing the work over "
     "until the host sees its end. The CPU by itself goes by the host's clock."},
    {"Caches",
     "Read off the curve of reads in a chain by a rule: a plateau of latencies within 25%, over at least "
     "twice the size, that a rise of 1.4 times follows. A size lies between the one told and the next that "
     "was measured."},
    {"Rates of copies",
     "Bytes read and written together; of shifted and strided ones, those that are of use."},
    {"Kernels", kKernelGuide},
    {"Results", "Every timed result was read back and compared with plain code."}};

// Groups of curves, each once, in the order in which they first come up.
std::vector<std::string> groups_of(Processors processors) {
  std::vector<std::string> groups;
  for (const Characteristics& p : processors)
    for (const Curve& curve : p.curves)
      if (std::ranges::find(groups, curve.group) == groups.end()) groups.push_back(curve.group);
  return groups;
}

// Strides and shifts: one after the other, or from 0 on.
bool is_linear(const Curve& curve) {
  if (curve.points.size() < 3) return false;
  return curve.points[0].x == 0 || (curve.points[1].x == 2 && curve.points[2].x == 3);
}

Chart group_chart(Processors processors, const std::string& group) {
  Chart chart{.label = group};
  std::string unit;
  bool linear = false;
  chart.x.is_marked_by_points = chart.y.is_logarithmic = true;
  for (const Characteristics& p : processors) {
    for (const Curve& curve : p.curves) {
      if (curve.group != group || curve.points.empty()) continue;
      chart.x.label = curve.x_name;
      linear = linear || is_linear(curve);
      if (curve.x_name.ends_with(", bytes")) chart.x.text = bytes_text;
      unit = curve.y_unit;
      const std::string who = p.is_host() ? "CPU by itself" : p.name.substr(0, 16);
      Line& line = chart.lines.emplace_back(Line{who + ": " + curve.title, {}});
      for (const Point& point : curve.points)
        line.points.push_back({point.x, curve.best(point), point.y.smallest, point.y.largest});
    }
  }
  chart.x.is_logarithmic = !linear;
  chart.y.text = [unit](double y) { return fmt::format("{:g} {}", y, unit.size() > 6 ? "" : unit); };
  return chart;
}

std::string clocks_of(Processors processors, const std::string& group) {
  bool device = false, host = false;
  for (const Characteristics& p : processors)
    for (const Curve& curve : p.curves)
      if (curve.group == group) (curve.clock == characterisation::Clock::device ? device : host) = true;
  return device && host ? "devices' clocks, the CPU by the host's"
         : device       ? "devices' clocks"
                        : "the host's clock";
}

}  // namespace

std::string characterisation_text(const Characteristics& p) {
  Part part{
      "", processor_title(p), {{"", {{summary_of(p)}}}, {"Conclusions", {{conclusions_of(p)}}, In::both}}};
  if (p.thorough) part.sections.push_back({"", {{figures_of(p)}}});
  if (!p.kernels.empty()) part.sections.push_back({"Kernels", {{kernel_table(p.kernels)}}, In::both});
  return to_text(Document{"", {part}, {}});
}

std::string characterisation_page(Processors processors) {
  Part part{"Capabilities of the processors", "", {}};
  for (const Characteristics& p : processors)
    part.sections.push_back({processor_title(p), {{summary_of(p)}, {conclusions_of(p)}}});
  for (const std::string& group : groups_of(processors))
    part.sections.push_back(
        {group + " (" + clocks_of(processors, group) + ")", {{group_chart(processors, group)}}});
  for (const Characteristics& p : processors)
    part.sections.push_back({processor_title(p) + ": all figures", {{figures_of(p)}}});
  for (const Characteristics& p : processors) {
    if (!p.kernels.empty())
      part.sections.push_back({processor_title(p) + ": kernels", {{kernel_table(p.kernels)}}});
  }
  return to_html({part.title, {part}, kCharacterisationGuide});
}

}  // namespace sightline::apps
