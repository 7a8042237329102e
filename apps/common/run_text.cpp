#include "apps/common/run_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace sightline::apps {

std::string describe_stream(const std::string& input, const StreamInfo& info) {
  if (info.is_pictures && info.frames && *info.frames > 1)
    return fmt::format("{}: {}", input, counted(*info.frames, "picture"));
  std::string text =
      fmt::format("{}: {} {}x{} {}", input, info.codec, info.size.width, info.size.height, info.pixel_format);
  if (info.is_pictures) return text;
  if (info.frame_rate.value() > 0) text += fmt::format(", {:.4g} frames/s", info.frame_rate.value());
  if (info.frames) text += fmt::format(", about {}", counted(*info.frames, "frame"));
  return text;
}

std::string stage_times_text(const pipeline::RunReport& report, const std::string& unit) {
  const double frames = static_cast<double>(std::max<std::int64_t>(report.frames, 1));
  std::string stages;
  for (const pipeline::StageTime& stage : report.stages) {
    const bool elsewhere = !stage.processor.empty() && stage.processor != "CPU";
    stages += fmt::format("{}{} {:.2f}{}", stages.empty() ? "" : ", ", stage.name,
                          1000 * stage.seconds / frames, elsewhere ? " (" + stage.processor + ")" : "");
  }
  return stages.empty() ? "" : "ms per " + unit + ": " + stages + "\n";
}

std::string limit_text(const pipeline::RunReport& report, const RunLoad& load) {
  constexpr double kNearlyAlways = 0.85;
  if (report.seconds <= 0) return "";
  const double cpu = load.cpu_seconds / (report.seconds * load.threads);
  std::map<std::string, double> busy;  // seconds
  for (const pipeline::StageTime& stage : report.stages) {
    if (stage.name == "decode") {
      busy["decoding"] = stage.seconds / static_cast<double>(report.sources);
    } else if (stage.name == "output") {
      busy["writing"] = stage.seconds / static_cast<double>(report.sources);
    }
  }
  for (const pipeline::DeviceTime& device : report.devices) busy[device.name] = device.seconds;
  const auto most = std::ranges::max_element(busy, {}, [](const auto& one) { return one.second; });
  // Threads that wait for the CPU seem busy, too.
  const bool is_cpu = cpu >= kNearlyAlways;
  const double share = is_cpu ? cpu : most == busy.end() ? 0 : most->second / report.seconds;
  if (share < kNearlyAlways) return "";
  const std::string what = is_cpu ? "the CPU" : most->first;
  std::string text = fmt::format("limited by {}, busy {:.0f}% of the time", what, 100 * std::min(share, 1.0));
  if (what == "writing") text += "; a faster --preset helps where a video is written";
  if (load.decodes_video && (is_cpu || what == "decoding")) text += fmt::format("; {}", kDecoderHelps);
  return text + "\n";
}

std::string problems_text(const pipeline::RunReport& report, const std::string& unit) {
  std::string text;
  if (report.skipped > 0) text += counted(report.skipped, unit) + " too small to be searched\n";
  if (report.failed > 0) {
    text += fmt::format("{} failed; first reason: {}\n", counted(report.failed, unit),
                        printable(report.first_failure));
  }
  if (report.retried > 0) {
    text += counted(report.retried, unit) + " searched again after a device failed\n";
  }
  if (report.decode_errors > report.failed) text += counted(report.decode_errors, "decode error") + '\n';
  return text;
}

}  // namespace sightline::apps
