#include "evaluation/report.hpp"

#include <algorithm>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/text_rows.hpp"

namespace sightline {

using namespace text_rows;

namespace {

constexpr std::size_t kNumbers = 5;  // behind the curve's name

std::string header(FalsePositiveUnit unit) {
  const std::string one = unit_name(unit);
  return "curve,threshold,false_positives_per_" + one + ",miss_rate,positives," + one + 's';
}

NamedCurve& curve_named(const std::string& name, std::vector<NamedCurve>& curves) {
  const auto found = std::ranges::find(curves, name, &NamedCurve::name);
  return found != curves.end() ? *found : curves.emplace_back(NamedCurve{name, {}, {}, 0, 0});
}

void add_point(std::string_view text, const Row& row, std::vector<NamedCurve>& curves) {
  NamedCurve& curve = curve_named(take_csv_field(text, row), curves);
  const auto fields = split_at_commas(text);
  if (fields.size() != kNumbers) row.refuse(std::to_string(1 + fields.size()) + " columns instead of 6");
  const DetPoint point{number(fields[0], "threshold", row), number(fields[1], "false positive rate", row),
                       number(fields[2], "miss rate", row)};
  if (point.false_positive_rate < 0 || point.miss_rate < 0 || point.miss_rate > 1)
    row.refuse("the rates do not form a curve");
  if (!curve.points.empty() && point.false_positive_rate < curve.points.back().false_positive_rate)
    row.refuse("fewer false positives than in the row before; sort points by falling threshold");
  curve.points.push_back(point);
  curve.positives = static_cast<std::uint64_t>(whole_number(fields[3], "positives", 1, row));
  curve.trials = static_cast<std::uint64_t>(whole_number(fields[4], "count", 1, row));
}

}  // namespace

const char* unit_name(FalsePositiveUnit unit) {
  switch (unit) {
    case FalsePositiveUnit::per_window:
      return "window";
    case FalsePositiveUnit::per_stranger:
      return "stranger";
    default:
      return "image";
  }
}

std::string curves_as_csv(std::span<const NamedCurve> curves, FalsePositiveUnit unit) {
  std::string table = header(unit) + '\n';
  for (const auto& curve : curves) {
    const std::string name = csv_field(curve.name) + ',';
    const std::string counts =
        ',' + std::to_string(curve.positives) + ',' + std::to_string(curve.trials) + '\n';
    for (const auto& point : curve.points) {
      table += name + shortest(point.threshold) + ',' + shortest(point.false_positive_rate) + ',' +
               shortest(point.miss_rate) + counts;
    }
  }
  return table;
}

StoredCurves load_curves(const std::filesystem::path& file) {
  StoredCurves stored;
  bool begun = false;
  for_each_row(file, "curves", [&](std::string_view text, const Row& row) {
    if (begun) return add_point(text, row, stored.curves);
    begun = true;
    using enum FalsePositiveUnit;
    for (const FalsePositiveUnit unit : {per_window, per_image, per_stranger}) {
      if (text != header(unit)) continue;
      stored.unit = unit;
      return;
    }
    row.refuse("not a table of curves; use one written by `evaluate ... --csv`");
  });
  if (stored.curves.empty()) throw Error(ExitCode::input, "'" + file.string() + "' holds no curve");
  for (NamedCurve& curve : stored.curves) curve.summary = summary_of(curve.points, stored.unit);
  return stored;
}

std::string summary_of(std::span<const DetPoint> curve, FalsePositiveUnit unit) {
  switch (unit) {
    case FalsePositiveUnit::per_window:
      return percent(miss_rate_at(curve, 1e-4)) + " at 10⁻⁴";
    case FalsePositiveUnit::per_stranger:
      return percent(miss_rate_at(curve, 0.01)) + " at 1%";
    default:
      return "log-average " + percent(log_average_miss_rate(curve));
  }
}

void write_report(const std::filesystem::path& path, const std::string& text) {
  write_whole(path, text, "report");
}

}  // namespace sightline
