#include "apps/texture/texture_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/markup.hpp"
#include "base/text.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::texture {
namespace {

using report_parts::at;
using report_parts::kColours;
using report_parts::line;
using report_parts::round_step;
using report_parts::text;

constexpr double kWidth = 760;
constexpr double kLeft = 68;
constexpr double kRight = kWidth - 24;
constexpr double kTop = 54;  // of a plot's bars, from where the plot begins
constexpr double kBottom = 224;
constexpr double kPanel = 282;  // a plot with its captions

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

struct Panel {
  const TextureRecord& record;
  const HistogramRecord& histogram;
  double top;

  std::size_t bins() const { return histogram.bins.size(); }
  double x(std::size_t bin) const {
    return kLeft + (kRight - kLeft) * static_cast<double>(bin) / static_cast<double>(bins());
  }
};

std::string caption(const Panel& panel) {
  const HistogramRecord& one = panel.histogram;
  const std::string name = std::filesystem::path(panel.record.picture).filename().string();
  std::string about = one.channel + ", operator " + one.op + ", " + to_string(panel.record.mapping) + ", " +
                      grouped(one.pixels()) + " pixels";
  if (one.contrast) {
    const double deviation = std::sqrt(one.contrast->variance);
    about += ", contrast " + at(one.contrast->mean) + " ± " + at(deviation);
  }
  return text(kLeft, panel.top + 22, "start", escape_markup(name),
              " font-size=\"16\" font-weight=\"bold\" fill=\"#1f2429\"") +
         text(kLeft, panel.top + 41, "start", escape_markup(about), " fill=\"#6a737d\" font-size=\"12\"");
}

// Bars of the bins [begin, end).
std::string bars(const Panel& panel, std::size_t begin, std::size_t end, double unit, const char* colour) {
  const double gap = (panel.x(1) - panel.x(0)) > 4 ? 0.15 * (panel.x(1) - panel.x(0)) : 0;
  const double bottom = panel.top + kBottom;
  std::string path;
  for (std::size_t bin = begin; bin < end; ++bin) {
    const auto count = static_cast<double>(panel.histogram.bins[bin]);
    if (count == 0) continue;
    path += "M" + at(panel.x(bin) + gap / 2) + ' ' + at(bottom) + "V" +
            shortest(std::round((bottom - count * unit) * 100) / 100) + "H" + at(panel.x(bin + 1) - gap / 2) +
            "V" + at(bottom) + "Z";
  }
  return path.empty() ? "" : "<path d=\"" + path + "\" fill=\"" + colour + "\"/>\n";
}

// The bin of all other codes at its share, above the plot where that is higher than all there is room for.
std::string other_bar(const Panel& panel, double share, double unit) {
  const std::size_t bin = panel.bins() - 1;
  const double top = panel.top + kTop;
  const bool is_cut = static_cast<double>(panel.histogram.bins[bin]) * unit > kBottom - kTop;
  std::string svg;
  if (is_cut) {
    svg = "<path d=\"M" + at(panel.x(bin)) + ' ' + at(panel.top + kBottom) + "V" + at(top) + "H" +
          at(panel.x(bin + 1)) + "V" + at(panel.top + kBottom) + "Z\" fill=\"" + kColours[1] + "\"/>\n" +
          "<path d=\"M" + at(panel.x(bin) - 3) + ' ' + at(top + 18) + "L" + at(panel.x(bin + 1) + 3) + ' ' +
          at(top + 12) + "\" stroke=\"#ffffff\" stroke-width=\"4\"/>\n";
  } else {
    svg = bars(panel, bin, bin + 1, unit, kColours[1]);
  }
  return svg + text(kRight, panel.top + kBottom + 38, "end", "all other codes: " + percent(share),
                    std::string(" fill=\"") + kColours[1] + "\" font-weight=\"bold\"");
}

std::string panel_svg(const Panel& panel) {
  const HistogramRecord& one = panel.histogram;
  const double bottom = panel.top + kBottom;
  const double pixels = std::max(1.0, static_cast<double>(one.pixels()));
  const bool others = has_other_codes(panel.record.mapping);
  const std::size_t uniform = one.bins.size() - (others ? 1 : 0);
  // Often more pixels have other codes than any of those that the plot is about.
  const auto last = one.bins.begin() + static_cast<std::ptrdiff_t>(uniform);
  const double highest =
      std::max(static_cast<double>(*std::max_element(one.bins.begin(), last)) / pixels, 1e-9);
  const double step = round_step(highest, 5);
  const double scale = (kBottom - kTop) / (std::ceil(highest / step - 1e-9) * step);  // of a share of 1
  std::string grid = "<g fill=\"none\" stroke-width=\"1\">\n";
  std::string labels = "<g fill=\"#444b54\">\n";
  for (int i = 0; i * step * scale <= kBottom - kTop + 0.5; ++i) {
    const double y = bottom - i * step * scale;
    if (i > 0) grid += line(kLeft, y, kRight, y, "#dfe3e9");
    labels += text(kLeft - 9, y + 4.5, "end", percent(i * step));
  }
  const auto every =
      static_cast<std::size_t>(std::max(1.0, round_step(static_cast<double>(one.bins.size()), 14)));
  const double half = (panel.x(1) - panel.x(0)) / 2;
  for (std::size_t bin = 0; bin < uniform; bin += every)
    labels += text(panel.x(bin) + half, bottom + 18, "middle", std::to_string(bin));
  labels += "</g>\n" + text((kLeft + kRight) / 2, bottom + 38, "middle", axis_name(panel.record.mapping),
                            " fill=\"#1f2429\"");
  const double unit = scale / pixels;
  std::string svg = caption(panel) + grid + "</g>\n" + bars(panel, 0, uniform, unit, kColours[0]);
  if (others) svg += other_bar(panel, static_cast<double>(one.bins.back()) / pixels, unit);
  return svg + "<g fill=\"none\" stroke-width=\"1\">\n" + line(kLeft, bottom, kRight, bottom, "#6a737d") +
         "</g>\n" + labels;
}

}  // namespace

std::string to_svg(const std::vector<TextureRecord>& records) {
  std::string panels;
  double top = 8;
  for (const TextureRecord& record : records) {
    for (const HistogramRecord& histogram : record.histograms) {
      panels += panel_svg({record, histogram, top});
      top += kPanel;
    }
  }
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + at(kWidth) + "\" height=\"" + at(top) +
         "\" viewBox=\"0 0 " + at(kWidth) + ' ' + at(top) +
         "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\">\n"
         "<title>Local binary patterns</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         panels + "</svg>\n";
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
