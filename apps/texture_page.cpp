#include "texture_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/markup.hpp"
#include "evaluation/report_parts.hpp"
#include "pipeline/report_page.hpp"

namespace sightline::apps {
namespace {

using report_parts::kColours;
using texture::CpuTimes;
using texture::DeviceMeasurement;
using texture::DeviceTimes;
using texture::TextureMeasurement;

constexpr const char* kTextureGuide =
    R"(<dt>Whole time</dt><dd>From the picture in the host's memory to the histogram there, with the making of the
buffers; of the CPU, the counting.</dd>
<dt>Kernel time</dt><dd>Of all kernels of a picture together, on the device's clock.</dd>
<dt>Reading</dt><dd>What it takes to read the picture and do nothing else: no counting is faster.</dd>
<dt>Increments</dt><dd>What it takes to count codes that are there already.</dd>
<dt>Writes only</dt><dd>The same increments without reading the picture: what the atomics alone cost.</dd>
<dt>Each time</dt><dd>is the fastest of several runs.</dd>
)";

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // seconds over sides or work-items
};

// Both axes are logarithmic: a straight line of slope two is a time that grows with the pixels.
std::string chart(const std::string& label, const std::string& across, const std::vector<Series>& series) {
  constexpr double kWidth = 860, kHeight = 420, kLeft = 70, kRight = 610, kTop = 20, kBottom = 360;
  double low = 1e9, high = 0, first = 1e9, last = 0;
  std::vector<double> marks;
  for (const Series& one : series) {
    for (const auto& [x, seconds] : one.points) {
      if (seconds <= 0) continue;
      low = std::min(low, seconds);
      high = std::max(high, seconds);
      first = std::min(first, x);
      last = std::max(last, x);
      if (std::ranges::find(marks, x) == marks.end()) marks.push_back(x);
    }
  }
  if (high == 0) return "";
  low = std::pow(10, std::floor(std::log10(low)));
  high = std::pow(10, std::ceil(std::log10(high * 1.0001)));
  const report_parts::Axis x{first, last > first ? last : 2 * first, kLeft + 20, kRight - 20};
  const report_parts::Axis y{low, high, kBottom, kTop};
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      kWidth, kHeight, escape_markup(label));
  for (double at = low; at <= high * 1.001; at *= 10) {
    svg += report_parts::line(kLeft, y.place(at), kRight, y.place(at), "#dfe3e9");
    svg += report_parts::text(kLeft - 8, y.place(at) + 4, "end", fmt::format("{:g} ms", 1e3 * at));
  }
  for (const double mark : marks)
    svg += report_parts::text(x.place(mark), kBottom + 20, "middle", fmt::format("{:g}", mark));
  svg += report_parts::text((kLeft + kRight) / 2, kBottom + 46, "middle", escape_markup(across));
  for (std::size_t i = 0; i < series.size(); ++i) {
    const char* const colour = kColours[i % kColours.size()];
    const bool dashed = i >= kColours.size();
    std::string points;
    for (const auto& [at, seconds] : series[i].points) {
      if (seconds <= 0) continue;
      points += fmt::format("{:.1f},{:.1f} ", x.place(at), y.place(seconds));
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x.place(at),
                         y.place(seconds), colour);
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points,
                       colour, dashed ? " stroke-dasharray=\"6 4\"" : "");
    const double row = kTop + 12 + 22 * static_cast<double>(i);
    svg += fmt::format(
        "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"{3}\" stroke-width=\"2\"{4}/>\n",
        kRight + 20, row - 4, kRight + 48, colour, dashed ? " stroke-dasharray=\"6 4\"" : "");
    svg += report_parts::text(kRight + 56, row, "start", escape_markup(series[i].name));
  }
  return svg + "</svg>\n";
}

// A line a variant of one of its times.
std::vector<Series> variants(const std::vector<DeviceTimes>& all, bool by_group,
                             const std::function<double(const DeviceTimes&)>& seconds) {
  std::vector<Series> series;
  for (const DeviceTimes& one : all) {
    auto known = std::ranges::find(series, one.variant, &Series::name);
    if (known == series.end()) known = series.insert(series.end(), {one.variant, {}});
    known->points.emplace_back(by_group ? one.group : one.size, seconds(one));
  }
  return series;
}

Series of_cpu(const TextureMeasurement& m, const std::string& name, double CpuTimes::*seconds) {
  Series series{name, {}};
  for (const CpuTimes& one : m.cpu) series.points.emplace_back(one.size, one.*seconds);
  return series;
}

std::string table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<table><thead><tr>";
  for (const std::string& head : heads) text += "<th>" + escape_markup(head) + "</th>";
  text += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i == 0 ? "<th>" : "<td>") + escape_markup(row[i]) + (i == 0 ? "</th>" : "</td>");
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

std::string ms(double seconds) {
  return seconds > 0 ? fmt::format("{:.3f}", 1e3 * seconds) : "-";
}

std::string cpu_table(const TextureMeasurement& m) {
  std::vector<std::vector<std::string>> rows;
  for (const CpuTimes& c : m.cpu)
    rows.push_back({std::to_string(c.size), ms(c.serial), ms(c.one_thread), ms(c.threads), ms(c.read),
                    ms(c.increments), fmt::format("{:.1f}", c.serial / c.threads)});
  return table({"side", "serial, ms", "SIMD, one thread", fmt::format("SIMD, {} threads", m.threads),
                "reading", "increments", "times as fast as serial"},
               rows);
}

std::string device_table(const std::vector<DeviceTimes>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const DeviceTimes& t : all)
    rows.push_back({t.variant, std::to_string(t.size), std::to_string(t.group), ms(t.upload), ms(t.kernel),
                    ms(t.download), ms(t.host), ms(t.whole)});
  return table(
      {"variant", "side", "work-group", "upload, ms", "kernels", "download", "with buffers there", "whole"},
      rows);
}

std::string device_sections(const TextureMeasurement& m, const DeviceMeasurement& device) {
  std::vector<Series> whole{of_cpu(m, "serial CPU", &CpuTimes::serial),
                            of_cpu(m, fmt::format("CPU, {} threads", m.threads), &CpuTimes::threads)};
  std::vector<DeviceTimes> results, by_group;
  const auto is_result = [](const DeviceTimes& t) {
    return t.variant.find("writes only") == std::string::npos;
  };
  std::ranges::copy_if(device.by_size, std::back_inserter(results), is_result);
  std::ranges::copy_if(device.by_group, std::back_inserter(by_group), is_result);
  for (Series& one : variants(results, false, &DeviceTimes::whole)) whole.push_back(std::move(one));
  std::vector<Series> kernels = variants(device.by_size, false, &DeviceTimes::kernel);
  Series read{"reading", {}};
  for (std::size_t i = 0; i < m.sizes.size(); ++i) read.points.emplace_back(m.sizes[i], device.read[i]);
  kernels.push_back(std::move(read));
  return "<h1>" + escape_markup(device.name) + "</h1>\n" +
         pipeline::report_card("Whole time, by size",
                               chart("Whole time over size", "side of the picture, pixels", whole)) +
         pipeline::report_card("Kernel time, by size",
                               chart("Kernel time over size", "side of the picture, pixels", kernels)) +
         pipeline::report_card("Kernel time, by work-group",
                               chart("Kernel time over work-group", "work-items of a work-group",
                                     variants(device.by_group, true, &DeviceTimes::kernel))) +
         pipeline::report_card("Whole time, by work-group",
                               chart("Whole time over work-group", "work-items of a work-group",
                                     variants(by_group, true, &DeviceTimes::whole))) +
         pipeline::report_card("All times, by size", device_table(device.by_size)) +
         pipeline::report_card("All times, by work-group", device_table(device.by_group));
}

}  // namespace

std::string texture_page(const TextureMeasurement& m) {
  const std::string title = "Counting patterns";
  std::string sections =
      "<article>\n<h1>" + title + "</h1>\n<p class=\"subject\">" +
      escape_markup(m.texture + ". Pictures cut from " + m.picture + ".") + "</p>\n" +
      pipeline::report_card(
          "CPU",
          chart("Times on the CPU over size", "side of the picture, pixels",
                {of_cpu(m, "serial", &CpuTimes::serial), of_cpu(m, "SIMD, one thread", &CpuTimes::one_thread),
                 of_cpu(m, fmt::format("SIMD, {} threads", m.threads), &CpuTimes::threads),
                 of_cpu(m, "increments", &CpuTimes::increments), of_cpu(m, "reading", &CpuTimes::read)}) +
              cpu_table(m));
  for (const DeviceMeasurement& device : m.devices) sections += device_sections(m, device);
  return pipeline::report_page(title, sections + "</article>\n", kTextureGuide,
                               {{"measurements", nlohmann::ordered_json::array()}});
}

}  // namespace sightline::apps
