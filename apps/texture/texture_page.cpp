#include "apps/texture/texture_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "apps/cli/html_table.hpp"
#include "apps/cli/line_chart.hpp"
#include "base/markup.hpp"
#include "pipeline/report/report_page.hpp"

namespace sightline::apps {
namespace {

using texture::CpuTimes;
using texture::DeviceMeasurement;
using texture::DeviceTimes;
using texture::TextureMeasurement;

constexpr const char* kTextureGuide =
    R"(<dt>Whole time</dt><dd>From the picture in the host's memory to the histogram there, with the making of the
buffers; of the CPU, the counting. The picture is where tiles are put: in memory that the device copies from by
itself.</dd>
<dt>From ordinary memory</dt><dd>With buffers there, but the picture anywhere else: it is copied on the host first.</dd>
<dt>Kernel time</dt><dd>Of all kernels of a picture together, on the device's clock.</dd>
<dt>Reading</dt><dd>What it takes to read the picture and do nothing else: no counting is faster.</dd>
<dt>Increments</dt><dd>What it takes to count codes that are there already.</dd>
<dt>Writes only</dt><dd>The same increments without reading the picture: what the atomics alone cost.</dd>
<dt>Each time</dt><dd>is the fastest of several runs.</dd>
)";

using Series = ChartSeries;

// Both axes are logarithmic: a straight line of slope two is a time that grows with the pixels.
std::string chart(const std::string& label, const std::string& across, const std::vector<Series>& series) {
  const auto number = [](double x) { return fmt::format("{:g}", x); };
  const auto milliseconds = [](double seconds) { return fmt::format("{:g} ms", 1e3 * seconds); };
  return line_chart({label, across, number, milliseconds}, series);
}

// A line a variant of one of its times.
std::vector<Series> variants(const std::vector<DeviceTimes>& all, bool by_group,
                             const std::function<double(const DeviceTimes&)>& seconds) {
  std::vector<Series> series;
  for (const DeviceTimes& one : all) {
    auto known = std::ranges::find(series, one.variant, &Series::name);
    if (known == series.end()) known = series.insert(series.end(), {one.variant, {}});
    known->points.push_back({static_cast<double>(by_group ? one.group : one.size), seconds(one)});
  }
  return series;
}

Series of_cpu(const TextureMeasurement& m, const std::string& name, double CpuTimes::*seconds) {
  Series series{name, {}};
  for (const CpuTimes& one : m.cpu) series.points.push_back({static_cast<double>(one.size), one.*seconds});
  return series;
}

std::string ms(double seconds) {
  return seconds > 0 ? fmt::format("{:.3f}", 1e3 * seconds) : "-";
}

std::string cpu_table(const TextureMeasurement& m) {
  std::vector<std::vector<std::string>> rows;
  for (const CpuTimes& c : m.cpu)
    rows.push_back({std::to_string(c.size), ms(c.serial), ms(c.one_thread), ms(c.threads), ms(c.read),
                    ms(c.increments), fmt::format("{:.1f}", c.serial / c.threads)});
  return html_table({"side", "serial, ms", "SIMD, one thread", fmt::format("SIMD, {} threads", m.threads),
                     "reading", "increments", "times as fast as serial"},
                    rows);
}

std::string device_table(const std::vector<DeviceTimes>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const DeviceTimes& t : all)
    rows.push_back({t.variant, std::to_string(t.size), std::to_string(t.group), ms(t.upload), ms(t.kernel),
                    ms(t.download), ms(t.host), ms(t.ordinary), ms(t.whole)});
  return html_table({"variant", "side", "work-group", "upload, ms", "kernels", "download",
                     "with buffers there", "from ordinary memory", "whole"},
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
  for (std::size_t i = 0; i < m.sizes.size(); ++i)
    read.points.push_back({static_cast<double>(m.sizes[i]), device.read[i]});
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
      escape_markup(m.texture + ". Pictures made from " + m.picture + ".") + "</p>\n" +
      pipeline::report_card(
          "CPU",
          chart("Times on the CPU over size", "side of the picture, pixels",
                {of_cpu(m, "serial", &CpuTimes::serial), of_cpu(m, "SIMD, one thread", &CpuTimes::one_thread),
                 of_cpu(m, fmt::format("SIMD, {} threads", m.threads), &CpuTimes::threads),
                 of_cpu(m, "increments", &CpuTimes::increments), of_cpu(m, "reading", &CpuTimes::read)}) +
              cpu_table(m));
  for (const DeviceMeasurement& device : m.devices) sections += device_sections(m, device);
  return pipeline::report_page(title, sections + "</article>\n", kTextureGuide);
}

}  // namespace sightline::apps
