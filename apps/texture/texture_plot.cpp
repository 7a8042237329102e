#include "apps/texture/texture_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/text.hpp"
#include "pipeline/report/chart.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::texture {
namespace {

bool has_other_codes(LbpMapping mapping) {
  return mapping == LbpMapping::uniform || mapping == LbpMapping::rotation_uniform;
}

// What the bins are, by the mapping.
const char* axis_name(LbpMapping mapping) {
  switch (mapping) {
    case LbpMapping::plain:
      return "code";
    case LbpMapping::uniform:
      return "bin of uniform codes, in rising order";
    case LbpMapping::rotation:
      return "bin of codes that are rotations of each other";
    default:
      return "ones in a uniform code";
  }
}

std::string subtitle_of(const TextureRecord& record, const HistogramRecord& one) {
  std::string text = one.channel + ", operator " + one.op + ", " + to_string(record.mapping) + ", " +
                     grouped(one.pixels()) + " pixels";
  if (one.contrast)
    text += ", contrast " + report_parts::at(one.contrast->mean) + " ± " +
            report_parts::at(std::sqrt(one.contrast->variance));
  return text;
}

report::Chart chart_of(const TextureRecord& record, const HistogramRecord& one) {
  const auto pixels = std::max(1.0, static_cast<double>(one.pixels()));
  report::Line uniform{"", {}, report::Line::Form::bars}, others{"", {}, report::Line::Form::bars};
  for (std::size_t bin = 0; bin < one.bins.size(); ++bin)
    uniform.points.push_back({static_cast<double>(bin), static_cast<double>(one.bins[bin]) / pixels});
  if (has_other_codes(record.mapping)) {
    others.points.push_back(uniform.points.back());
    uniform.points.pop_back();
    others.name = "all other codes: " + percent(others.points[0].y);
  }
  report::Chart chart{"Local binary patterns", std::filesystem::path(record.picture).filename().string(),
                      subtitle_of(record, one)};
  chart.x = {
      .label = axis_name(record.mapping), .low = -0.5, .high = static_cast<double>(one.bins.size()) - 0.5};
  chart.y.text = percent;
  chart.lines = {uniform, others};
  chart.width = 760, chart.height = 170;
  return chart;
}

}  // namespace

std::string to_svg(const std::vector<TextureRecord>& records) {
  std::vector<report::Chart> charts;
  for (const TextureRecord& record : records) {
    for (const HistogramRecord& histogram : record.histograms) charts.push_back(chart_of(record, histogram));
  }
  return report::to_svg(charts);
}

std::string bar_text(const std::vector<std::uint64_t>& bins, std::size_t columns) {
  static constexpr std::array<const char*, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t together = (bins.size() + columns - 1) / columns;
  std::string line;
  if (bins.empty()) return line;
  const auto highest = static_cast<double>(*std::ranges::max_element(bins));
  for (std::size_t begin = 0; begin < bins.size(); begin += together) {
    const auto end = bins.begin() + static_cast<std::ptrdiff_t>(std::min(begin + together, bins.size()));
    const auto most =
        static_cast<double>(*std::max_element(bins.begin() + static_cast<std::ptrdiff_t>(begin), end));
    line += kBlocks[highest == 0 ? 0 : static_cast<std::size_t>(std::ceil(8 * most / highest))];
  }
  return line;
}

}  // namespace sightline::texture
