// `sightline evaluate compare`: curves of earlier evaluations beside each other.
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "commands.hpp"
#include "evaluation/report.hpp"
#include "report_options.hpp"

namespace sightline::apps {
namespace {

struct CompareArguments {
  std::vector<std::string> inputs;
  ReportArguments report;
};

// All curves of all tables, which must count false positives by the same thing.
StoredCurves load_all(const std::vector<std::string>& files) {
  StoredCurves all = load_curves(files.front());
  for (std::size_t i = 1; i < files.size(); ++i) {
    StoredCurves more = load_curves(files[i]);
    if (more.unit != all.unit) {
      throw Error(ExitCode::input,
                  "'" + files.front() + "' and '" + files[i] +
                      "' do not compare: one counts false positives by window, the other by image",
                  "give tables of `evaluate windows` alone, or of `evaluate frames`");
    }
    for (NamedCurve& curve : more.curves) all.curves.push_back(std::move(curve));
  }
  return all;
}

void print_table(const StoredCurves& stored) {
  const bool windows = stored.unit == FalsePositiveUnit::per_window;
  const std::vector<double> rates =
      windows ? std::vector<double>{1e-2, 1e-3, 1e-4, 1e-5} : std::vector<double>{0.01, 0.1, 1};
  std::printf("miss rates at these numbers of false positives per %s\n", windows ? "window" : "image");
  for (const double rate : rates) std::printf("%-8g", rate);
  std::printf("%s\n", windows ? "curve" : "log-average  curve");
  for (const NamedCurve& curve : stored.curves) {
    for (const double rate : rates) std::printf("%-8s", percent(miss_rate_at(curve.points, rate)).c_str());
    if (!windows) std::printf("%-13.4f", log_average_miss_rate(curve.points));
    std::printf("%s\n", curve.name.c_str());
  }
}

int run(const CompareArguments& a) {
  StoredCurves stored = load_all(a.inputs);
  check_report(a.report, stored.curves.size());
  for (std::size_t i = 0; i < a.report.names.size(); ++i) stored.curves[i].name = a.report.names[i];
  print_table(stored);
  write_reports(a.report, stored.curves, stored.unit);
  return 0;
}

}  // namespace

void add_evaluate_compare(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<CompareArguments>();
  OptionSet options;
  options.add("input", &a->inputs, "Tables of curves, as the other evaluations write them with --csv")
      .require();
  add_report_options(options, a->report);
  add_command(evaluate, common, "compare",
              "Curves of earlier evaluations beside each other, and in one picture", options,
              [a] { return run(*a); });
}

}  // namespace sightline::apps
