#include "apps/common/run_text.hpp"

#include <fmt/format.h>

#include <algorithm>

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
