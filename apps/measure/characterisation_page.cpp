#include "apps/measure/characterisation_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/cli/html_table.hpp"
#include "apps/cli/line_chart.hpp"
#include "apps/measure/characterisation_text.hpp"
#include "base/markup.hpp"
#include "pipeline/report/report_page.hpp"

namespace sightline::apps {
namespace {

using characterisation::Characteristics;
using characterisation::Curve;
using characterisation::Figure;
using characterisation::Point;

using Processors = std::span<const Characteristics>;

constexpr const char* kCharacterisationGuide =
    R"(<dt>Points and bars</dt><dd>A point is the best of several repeats, since whatever disturbs a measurement makes
it slower; its bar reaches from the smallest to the largest of them. A first run of each is left out.</dd>
<dt>Clocks</dt><dd>Device: from the start to the end of a kernel, as the device tells. Host: from handing the work over until
the host sees its end. The CPU by itself goes by the host's clock.</dd>
<dt>Caches</dt><dd>Read off the curve of reads in a chain by a rule: a plateau of latencies within 25%, over at least
twice the size, that a rise of 1.4 times follows. A size lies between the one told and the next that was measured.</dd>
<dt>Rates of copies</dt><dd>Bytes read and written together; of shifted and strided ones, those that are of use.</dd>
<dt>Results</dt><dd>What was timed was read back and compared with plain code.</dd>
)";

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

std::string plot_of(Processors processors, const std::string& group) {
  std::vector<ChartSeries> series;
  ChartAxes axes{group, "", [](double x) { return fmt::format("{:g}", x); }, {}};
  std::string unit;
  for (const Characteristics& p : processors) {
    for (const Curve& curve : p.curves) {
      if (curve.group != group || curve.points.empty()) continue;
      axes.across = curve.x_name;
      axes.is_linear = axes.is_linear || is_linear(curve);
      if (curve.x_name.ends_with(", bytes")) axes.x_text = bytes_text;
      unit = curve.y_unit;
      const std::string who = p.is_host() ? "CPU by itself" : p.name.substr(0, 16);
      ChartSeries& one = series.emplace_back(ChartSeries{who + ": " + curve.title, {}});
      for (const Point& point : curve.points)
        one.points.push_back({point.x, curve.best(point), point.y.smallest, point.y.largest});
    }
  }
  axes.y_text = [unit](double y) { return fmt::format("{:g} {}", y, unit.size() > 6 ? "" : unit); };
  return line_chart(axes, series);
}

std::string caches_table(Processors processors) {
  std::vector<std::vector<std::string>> rows;
  for (const Characteristics& p : processors) {
    for (const auto& level : p.caches)
      rows.push_back({processor_title(p), bytes_text(level.bytes), digits_text(level.ns) + " ns"});
    if (p.memory_ns > 0) rows.push_back({processor_title(p), "memory", digits_text(p.memory_ns) + " ns"});
  }
  return rows.empty() ? "" : html_table({"processor", "holds", "a read in a chain"}, rows);
}

std::string figures_table(const Characteristics& p) {
  std::vector<std::vector<std::string>> rows;
  for (const Figure& f : p.figures)
    rows.push_back({f.title, digits_text(f.best()), f.unit, digits_text(f.value.smallest),
                    digits_text(f.value.median), digits_text(f.value.largest), to_string(f.clock)});
  return rows.empty()
             ? ""
             : html_table({"figure", "best", "unit", "smallest", "median", "largest", "clock"}, rows);
}

// Seconds by what they went into, of all processors.
std::string durations_table(Processors processors) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const Characteristics& p, const std::string& what, double seconds) {
    rows.push_back({processor_title(p), what, fmt::format("{:.2f}", seconds)});
  };
  for (const Characteristics& p : processors) {
    if (p.build_seconds > 0) add(p, "building kernels", p.build_seconds);
    for (const characterisation::Part& part : p.parts) add(p, part.what, part.seconds);
    add(p, "all", p.seconds);
  }
  return html_table({"processor", "benchmarks", "seconds"}, rows);
}

std::string decisions_list(const Characteristics& p) {
  std::string list;
  for (const auto& decision : p.decisions) list += "<li>" + escape_markup(decision.text) + "</li>\n";
  for (const auto& loss : p.losses)
    list += "<li>Not measured: " + escape_markup(loss.what + " (" + loss.why + ")") + "</li>\n";
  return list.empty() ? "" : "<ul>\n" + list + "</ul>\n";
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

std::string characterisation_page(Processors processors) {
  const std::string title = "Capabilities of the processors";
  std::string sections = "<article>\n<h1>" + title + "</h1>\n";
  for (const Characteristics& p : processors)
    sections += pipeline::report_card(processor_title(p) + ": conclusions", decisions_list(p));
  sections += pipeline::report_card("Caches", caches_table(processors));
  for (const std::string& group : groups_of(processors))
    sections +=
        pipeline::report_card(group + " (" + clocks_of(processors, group) + ")", plot_of(processors, group));
  for (const Characteristics& p : processors)
    sections += pipeline::report_card(processor_title(p) + ": all figures", figures_table(p));
  sections += pipeline::report_card("Time taken", durations_table(processors));
  return pipeline::report_page(title, sections + "</article>\n", kCharacterisationGuide);
}

}  // namespace sightline::apps
