#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "texture/measurement.hpp"

namespace sightline::texture {
namespace {

using Json = nlohmann::ordered_json;

std::string ms(double seconds) {
  return fmt::format("{:.3f}", 1e3 * seconds);
}

// Billions of pixels a second.
std::string rate(int size, double seconds) {
  return seconds > 0 ? fmt::format("{:.2f}", 1e-9 * size * size / seconds) : "-";
}

std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f}%", 100 * part / whole) : "-";
}

Json json_of(const DeviceTimes& t) {
  return {{"variant", t.variant},
          {"group", t.group},
          {"size", t.size},
          {"kernel_ms", 1e3 * t.kernel},
          {"upload_ms", 1e3 * t.upload},
          {"download_ms", 1e3 * t.download},
          {"host_ms", 1e3 * t.host},
          {"ordinary_ms", 1e3 * t.ordinary},
          {"whole_ms", 1e3 * t.whole}};
}

Json json_of(const std::vector<DeviceTimes>& all) {
  Json list = Json::array();
  for (const DeviceTimes& one : all) list.push_back(json_of(one));
  return list;
}

}  // namespace

std::string as_text(const TextureMeasurement& m) {
  std::string text =
      fmt::format("{}\n\nCPU, {} threads: ms, and billions of pixels a second\n", m.texture, m.threads);
  text += fmt::format("{:>6}  {:>10}  {:>10}  {:>10} {:>6}  {:>9}  {:>10}  {:>8}\n", "side", "serial",
                      "1 thread", "threads", "Gpx/s", "reading", "increments", "of bound");
  for (const CpuTimes& c : m.cpu)
    text += fmt::format("{:>6}  {:>10}  {:>10}  {:>10} {:>6}  {:>9}  {:>10}  {:>8}\n", c.size, ms(c.serial),
                        ms(c.one_thread), ms(c.threads), rate(c.size, c.threads), ms(c.read),
                        ms(c.increments), share_text(std::max(c.read, c.increments), c.threads));
  const auto add_times = [&](const std::vector<DeviceTimes>& all, bool by_size,
                             const DeviceMeasurement& device) {
    text += fmt::format("{:>6}  {:<20} {:>6}  {:>9} {:>7} {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}\n", "side",
                        "variant", "group", "kernel", "Gpx/s", "reading", "upload", "download", "host",
                        "ordinary", "whole");
    for (const DeviceTimes& t : all) {
      double read = 0;
      for (std::size_t i = 0; i < m.sizes.size(); ++i)
        if (m.sizes[i] == t.size) read = device.read[i];
      text += fmt::format("{:>6}  {:<20} {:>6}  {:>9} {:>7} {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}\n",
                          t.size, t.variant, t.group, ms(t.kernel), rate(t.size, t.kernel),
                          by_size ? share_text(read, t.kernel) : "", ms(t.upload), ms(t.download), ms(t.host),
                          ms(t.ordinary), ms(t.whole));
    }
  };
  for (const DeviceMeasurement& device : m.devices) {
    text += fmt::format(
        "\n{}: ms; reading: share of the kernel's time that a kernel takes that only reads; host: whole "
        "time from page-locked memory; ordinary: from other memory; whole: including buffer creation\n",
        device.name);
    add_times(device.by_size, true, device);
    text += "\nby work-group\n";
    add_times(device.by_group, false, device);
  }
  return text;
}

std::string as_json(const TextureMeasurement& m) {
  Json json{{"texture", m.texture}, {"picture", m.picture}, {"threads", m.threads}};
  json["cpu"] = Json::array();
  for (const CpuTimes& c : m.cpu)
    json["cpu"].push_back({{"size", c.size},
                           {"serial_ms", 1e3 * c.serial},
                           {"one_thread_ms", 1e3 * c.one_thread},
                           {"threads_ms", 1e3 * c.threads},
                           {"read_ms", 1e3 * c.read},
                           {"increments_ms", 1e3 * c.increments}});
  json["devices"] = Json::array();
  for (const DeviceMeasurement& device : m.devices) {
    Json read = Json::array();
    for (const double seconds : device.read) read.push_back(1e3 * seconds);
    json["devices"].push_back({{"name", device.name},
                               {"tuned", device.tuned},
                               {"sizes", m.sizes},
                               {"read_ms", read},
                               {"by_size", json_of(device.by_size)},
                               {"by_group", json_of(device.by_group)}});
  }
  return json_text(json, 2) + "\n";
}

}  // namespace sightline::texture
