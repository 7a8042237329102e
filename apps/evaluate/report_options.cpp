#include "apps/evaluate/report_options.hpp"

#include <spdlog/spdlog.h>

#include "apps/cli/writable.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "pipeline/report/curve_plot.hpp"

namespace sightline::apps {

void add_report_options(OptionSet& options, ReportArguments& report) {
  options.group("Options");
  options.add("--name NAME", &report.names, "Name of the curve in the reports; one for each curve")
      .one_at_a_time()
      .free_text();
  options.add("--csv FILE", &report.csv, "Write the curve as a table")
      .checked_by(OutputFile{{".csv", ".txt"}});
  options.add("--svg FILE", &report.svg, "Write the curve as a picture: miss rate against false positives")
      .checked_by(OutputFile{{".svg"}});
  options.add("--title TITLE", &report.title, "Title of the picture").needs("--svg").free_text();
}

void write_reports(const ReportArguments& report, const std::vector<NamedCurve>& curves,
                   FalsePositiveUnit unit) {
  if (!report.csv.empty()) write_report(report.csv, curves_as_csv(curves, unit));
  if (!report.svg.empty()) {
    const bool frames = unit == FalsePositiveUnit::per_image;
    const std::string shown = std::string("Miss rate per ") + (frames ? "frame" : unit_name(unit));
    write_report(report.svg,
                 report::to_svg({curve_chart(curves, unit, report.title.empty() ? shown : report.title)}));
  }
  for (const std::string* file : {&report.csv, &report.svg}) {
    if (!file->empty()) spdlog::info("wrote {}", *file);
  }
}

void check_report(const ReportArguments& report, std::size_t curves) {
  if (!report.names.empty() && report.names.size() != curves) {
    throw Error(ExitCode::usage,
                counted(std::ssize(report.names), "name") + " for " +
                    counted(static_cast<std::int64_t>(curves), "curve"),
                "give --name once for each curve, in order, or not at all");
  }
  refuse_same_outputs({report.csv, report.svg});
  require_writable(report.csv);
  require_writable(report.svg);
}

}  // namespace sightline::apps
