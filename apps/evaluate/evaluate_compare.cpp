// `sightline evaluate compare`: curves of earlier evaluations beside each other.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "apps/cli/commands.hpp"
#include "apps/evaluate/report_options.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "evaluation/decisions.hpp"
#include "evaluation/report.hpp"

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
                      "' cannot be compared: one counts false positives by " + unit_name(all.unit) +
                      ", the other by " + unit_name(more.unit),
                  "give tables of one command: `evaluate windows`, `frames`, `verify` or `identify`");
    }
    for (NamedCurve& curve : more.curves) all.curves.push_back(std::move(curve));
  }
  return all;
}

void print_curves(const StoredCurves& stored) {
  const bool images = stored.unit == FalsePositiveUnit::per_image;
  const std::vector<double> rates = images ? std::vector<double>{0.01, 0.1, 1}
                                    : stored.unit == FalsePositiveUnit::per_window
                                        ? std::vector<double>{1e-2, 1e-3, 1e-4, 1e-5}
                                        : std::vector<double>{0.1, 0.01, 0.001};
  std::printf("miss rates at these numbers of false positives per %s\n", unit_name(stored.unit));
  for (const double rate : rates) std::printf("%-8g", rate);
  std::printf("%s\n", images ? "log-average  curve" : "curve");
  for (const NamedCurve& curve : stored.curves) {
    for (const double rate : rates) std::printf("%-8s", percent(miss_rate_at(curve.points, rate)).c_str());
    if (images) std::printf("%-13.4f", log_average_miss_rate(curve.points));
    std::printf("%s\n", curve.name.c_str());
  }
}

// The detector whose best F1 over objects is the highest; per window there is no such thing, since the
// windows without the object are as many as one likes.
void print_best(const StoredCurves& stored) {
  if (stored.unit != FalsePositiveUnit::per_image) return;
  const NamedCurve* best = nullptr;
  double highest = -1;
  std::printf("\n%-9s%-11s%-9s%-11s%s\n", "best F1", "precision", "recall", "threshold", "curve");
  for (const NamedCurve& curve : stored.curves) {
    const std::vector<PrecisionRecallPoint> points = precision_recall(curve);
    const PrecisionRecallPoint* const point = best_by_f1(points);
    if (!point) continue;
    const double f1 = f1_score(point->precision, point->recall);
    std::printf("%-9.4f%-11.4f%-9.4f%-11.4g%s\n", f1, point->precision, point->recall, point->threshold,
                curve.name.c_str());
    if (f1 > highest) {
      best = &curve;
      highest = f1;
    }
  }
  if (best && stored.curves.size() > 1) std::printf("best by F1 over objects: %s\n", best->name.c_str());
}

// Tables of decisions, of `evaluate frames --decisions`.
int compare_decisions(const CompareArguments& a) {
  std::vector<Decisions> all;
  for (const std::string& file : a.inputs) {
    if (!holds_decisions(file)) {
      throw Error(ExitCode::input,
                  "'" + a.inputs.front() + "' and '" + file +
                      "' cannot be compared: only one is a table of decisions",
                  "give tables of one kind");
    }
    for (Decisions& one : load_decisions(file)) all.push_back(std::move(one));
  }
  check_report(a.report, all.size());
  if (!a.report.svg.empty())
    throw Error(ExitCode::usage, "--svg plots curves, and these are tables of decisions", "leave it out");
  for (std::size_t i = 0; i < a.report.names.size(); ++i) all[i].name = a.report.names[i];
  std::printf("Decisions between pictures with objects and without, each at its best F1:\n%s",
              decision_heading().c_str());
  for (const Decisions& one : all) std::printf("%s", decision_row(one.best(), one.name).c_str());
  const Decisions& best = best_of(all);
  std::printf("best by F1: %s, from a score of %.4g\n", best.name.c_str(), best.best().threshold);
  if (!a.report.csv.empty()) write_report(a.report.csv, decisions_as_csv(all));
  return 0;
}

int run_evaluate_compare(const CompareArguments& a) {
  if (holds_decisions(a.inputs.front())) return compare_decisions(a);
  StoredCurves stored = load_all(a.inputs);
  check_report(a.report, stored.curves.size());
  for (std::size_t i = 0; i < a.report.names.size(); ++i) stored.curves[i].name = a.report.names[i];
  print_curves(stored);
  print_best(stored);
  write_reports(a.report, stored.curves, stored.unit);
  return 0;
}

}  // namespace

void add_evaluate_compare(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<CompareArguments>();
  OptionSet options;
  options
      .add("input", &a->inputs,
           "Tables of curves or decisions, from --csv and --decisions of other evaluations")
      .require();
  add_report_options(options, a->report);
  add_command(evaluate, common, "compare", "Compare the curves of earlier evaluations", options,
              [a] { return run_evaluate_compare(*a); });
}

}  // namespace sightline::apps
