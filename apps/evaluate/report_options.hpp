#pragma once
/// Options of reports that show curves, the same for all evaluations.

#include <cstddef>
#include <string>
#include <vector>

#include "evaluation/report.hpp"
#include "params/options.hpp"

namespace sightline::apps {

struct ReportArguments {
  std::vector<std::string> names;  ///< of the curves; empty: their own
  std::string csv;                 ///< files; empty: none
  std::string svg;
  std::string title;  ///< of the picture; empty: what it shows
};

/// --name, --csv, --svg and --title.
void add_report_options(OptionSet& options, ReportArguments& report);

/// Before the work, so that it is not done for nothing. Throws Error (usage, failed).
void check_report(const ReportArguments& report, std::size_t curves);

/// Writes what was asked for, and says so.
void write_reports(const ReportArguments& report, const std::vector<NamedCurve>& curves,
                   FalsePositiveUnit unit);

}  // namespace sightline::apps
