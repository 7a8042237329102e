#include "apps/measure/sweep_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pipeline/report/curve_plot.hpp"
#include "pipeline/report/document.hpp"

namespace sightline::apps {
namespace {

using namespace report;

const NamedTexts kSweepGuide{
    {"Score from",
     "Pictures with a detection of at least this score are taken for ones with the object; the table has the "
     "score of the highest F1."},
    {"Chosen",
     "Models and thresholds were chosen on these pictures: what the chosen one is worth shows on others."}};

// Figures of 0 to 1 over the option's values.
Chart figures_chart(const SweptOption& swept, std::span<const SweptModel> models) {
  using Share = double (*)(const Confusion&);
  Chart chart{.label = "Accuracy, precision, recall and F1 over " + swept.name};
  chart.x = {.label = swept.name.substr(2), .is_marked_by_points = true};
  chart.y = {.low = 0, .high = 1};
  for (const auto& [name, figure] : std::initializer_list<std::pair<const char*, Share>>{
           {"F1", [](const Confusion& c) { return c.f1(); }},
           {"recall", [](const Confusion& c) { return c.recall(); }},
           {"precision", [](const Confusion& c) { return c.precision(); }},
           {"accuracy", [](const Confusion& c) { return c.accuracy(); }}}) {
    Line line{name, {}, Line::Form::dots, chart.lines.empty() ? 3 : 1.5};
    for (const SweptModel& model : models)
      line.points.push_back({model.value, figure(model.decisions.best().counts)});
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

Table decisions_table(const SweptOption& swept, std::span<const SweptModel> models, const SweptModel& best) {
  using M = SweptModel;
  const auto count = [](auto Confusion::*member) {
    return [member](auto& m) { return m.decisions.best().counts.*member; };
  };
  const auto share = [](auto of) { return [of](auto& m) { return fmt::format("{:.3f}", of(m)); }; };
  const auto figure = [&](double (Confusion::*of)() const) {
    return share([of](auto& m) { return (m.decisions.best().counts.*of)(); });
  };
  Table table = table_of<M>(
      models,
      {{swept.name.substr(2), [](auto& m) { return fmt::format("{:g}", m.value); }},
       {"model", &M::detector},
       {"score from",
        [](auto& m) {
          const double from = m.decisions.best().threshold;
          return from == kFindsNothing ? "none" : fmt::format("{:.4g}", from);
        }},
       {"TP", count(&Confusion::true_positives)},
       {"FN", count(&Confusion::false_negatives)},
       {"FP", count(&Confusion::false_positives)},
       {"TN", count(&Confusion::true_negatives)},
       {"accuracy", figure(&Confusion::accuracy)},
       {"precision", figure(&Confusion::precision)},
       {"recall", figure(&Confusion::recall)},
       {"F1", figure(&Confusion::f1)},
       {"objects' F1", share([](auto& m) { return m.objects_f1(); })},
       {"log-average miss rate", share([](auto& m) { return log_average_miss_rate(m.curve.points); })}});
  table.best = static_cast<std::size_t>(&best - models.data());
  return table;
}

}  // namespace

std::string sweep_page(const SweptOption& swept, std::span<const SweptModel> models, const SweptModel& best,
                       std::span<const std::string> judged) {
  const std::string title = fmt::format("{} models over {}", models.size(), swept.name.substr(2));
  std::vector<NamedCurve> curves;
  for (const SweptModel& model : models) curves.push_back(model.curve);
  return to_html(
      {title,
       {{title,
         fmt::format("Best by F1: {:g}. Judged on {}, {} pictures with {} objects.", best.value,
                     fmt::join(judged, ", "), best.curve.trials, best.curve.positives),
         {{"Decisions between pictures with objects and without", {{decisions_table(swept, models, best)}}},
          {"Accuracy, precision, recall and F1, each model at its best threshold",
           {{figures_chart(swept, models)}}},
          {"Objects: miss rate against false positives per picture",
           {{curve_chart(curves, FalsePositiveUnit::per_image, title)}}}}}},
       kSweepGuide});
}

}  // namespace sightline::apps
