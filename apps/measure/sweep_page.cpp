#include "apps/measure/sweep_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/markup.hpp"
#include "pipeline/report/curve_plot.hpp"
#include "pipeline/report/report_page.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::apps {
namespace {

using report_parts::kColours;

constexpr double kChartWidth = 860, kChartHeight = 420, kChartLeft = 60, kChartRight = 700, kChartTop = 20,
                 kChartBottom = 360;

constexpr const char* kSweepGuide =
    R"(<dt>Score from</dt><dd>Pictures with a detection of at least this score are taken for ones with the object; the
table has the score of the highest F1.</dd>
<dt>Chosen</dt><dd>Models and thresholds were chosen on these pictures: what the chosen one is worth shows on others.</dd>
)";

struct Figure {
  const char* name;
  double (*of)(const Confusion&);
};
constexpr std::array<Figure, 4> kFigures{{{"F1", [](const Confusion& c) { return c.f1(); }},
                                          {"recall", [](const Confusion& c) { return c.recall(); }},
                                          {"precision", [](const Confusion& c) { return c.precision(); }},
                                          {"accuracy", [](const Confusion& c) { return c.accuracy(); }}}};

// Figures of 0 to 1 over the option's values.
std::string figures_svg(const SweptOption& swept, std::span<const SweptModel> models) {
  const auto [low, high] = std::ranges::minmax(models, {}, &SweptModel::value);
  const double width = std::max(high.value - low.value, 1e-9);
  const auto x = [&, lowest = low.value](double value) {
    return kChartLeft + (value - lowest) / width * (kChartRight - kChartLeft);
  };
  const auto y = [](double share) { return kChartBottom - share * (kChartBottom - kChartTop); };
  std::string svg;
  for (int tenths = 0; tenths <= 10; tenths += 2) {
    const double at_share = y(tenths / 10.0);
    svg += report_parts::line(kChartLeft, at_share, kChartRight, at_share, "#dfe3e9");
    svg += report_parts::text(kChartLeft - 8, at_share + 4, "end", fmt::format("{:.1f}", tenths / 10.0));
  }
  for (const SweptModel& model : models)
    svg += report_parts::text(x(model.value), kChartBottom + 20, "middle", fmt::format("{:g}", model.value));
  svg += report_parts::text((kChartLeft + kChartRight) / 2, kChartBottom + 46, "middle",
                            escape_markup(swept.name.substr(2)));
  for (std::size_t f = 0; f < kFigures.size(); ++f) {
    std::string points;
    for (const SweptModel& model : models)
      points +=
          fmt::format("{:.1f},{:.1f} ", x(model.value), y(kFigures[f].of(model.decisions.best().counts)));
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", points,
                       kColours[f], f == 0 ? 3 : 1.5);
    const double at_row = kChartTop + 16 + 22 * static_cast<double>(f);
    svg += report_parts::line(kChartRight + 24, at_row - 4, kChartRight + 52, at_row - 4, kColours[f]);
    svg += report_parts::text(kChartRight + 60, at_row, "start", kFigures[f].name);
  }
  return report_parts::picture(kChartWidth, kChartHeight,
                               "Accuracy, precision, recall and F1 over " + swept.name, svg);
}

std::string table(const SweptOption& swept, std::span<const SweptModel> models, const SweptModel& best) {
  std::string rows = fmt::format(
      "<table><thead><tr><th>{}</th><th>model</th><th>score "
      "from</th><th>TP</th><th>FN</th><th>FP</th><th>TN</th>"
      "<th>accuracy</th><th>precision</th><th>recall</th><th>F1</th><th>objects' F1</th><th>log-average miss "
      "rate</th>"
      "</tr></thead><tbody>\n",
      escape_markup(swept.name.substr(2)));
  for (const SweptModel& model : models) {
    const Decision& decision = model.decisions.best();
    const Confusion& c = decision.counts;
    rows += fmt::format(
        "<tr{}><th>{:g}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.3f}</td>"
        "<td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}</td></tr>\n",
        &model == &best ? " class=\"best\"" : "", model.value, escape_markup(model.detector),
        decision.threshold == kFindsNothing ? "none" : fmt::format("{:.4g}", decision.threshold),
        c.true_positives, c.false_negatives, c.false_positives, c.true_negatives, c.accuracy(), c.precision(),
        c.recall(), c.f1(), model.objects_f1(), log_average_miss_rate(model.curve.points));
  }
  return rows + "</tbody></table>\n";
}

}  // namespace

std::string sweep_page(const SweptOption& swept, std::span<const SweptModel> models, const SweptModel& best,
                       std::span<const std::string> judged) {
  const std::string title = fmt::format("{} models over {}", models.size(), swept.name.substr(2));
  std::vector<NamedCurve> curves;
  for (const SweptModel& model : models) curves.push_back(model.curve);
  const std::string sections =
      "<article>\n<h1>" + escape_markup(title) +
      fmt::format(
          "</h1>\n<p class=\"subject\">Best by F1: {:g}. Judged on {}, {} pictures with {} objects.</p>\n",
          best.value, escape_markup(fmt::format("{}", fmt::join(judged, ", "))), best.curve.trials,
          best.curve.positives) +
      pipeline::report_card("Decisions between pictures with objects and without",
                            table(swept, models, best)) +
      pipeline::report_card("Accuracy, precision, recall and F1, each model at its best threshold",
                            figures_svg(swept, models)) +
      pipeline::report_card("Objects: miss rate against false positives per picture",
                            curves_as_svg(curves, FalsePositiveUnit::per_image, title)) +
      "</article>\n";
  return pipeline::report_page(title, sections, kSweepGuide);
}

}  // namespace sightline::apps
