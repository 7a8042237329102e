#include "run_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sightline::apps {

std::string describe_stream(const std::string& input, const media::StreamInfo& info) {
  std::string text =
      fmt::format("{}: {} {}x{} {}", input, info.codec, info.size.width, info.size.height, info.pixel_format);
  if (info.frame_rate.value() > 0) text += fmt::format(", {:.4g} frames/s", info.frame_rate.value());
  if (info.frames) text += fmt::format(", about {} frame(s)", *info.frames);
  return text;
}

std::string stage_times_text(const pipeline::RunReport& report) {
  const double frames = static_cast<double>(std::max<std::int64_t>(report.frames, 1));
  std::string stages;
  for (const pipeline::StageTime& stage : report.stages) {
    const bool elsewhere = !stage.processor.empty() && stage.processor != "CPU";
    stages += fmt::format("{}{} {:.2f}{}", stages.empty() ? "" : ", ", stage.name,
                          1000 * stage.seconds / frames, elsewhere ? " (" + stage.processor + ")" : "");
  }
  return stages.empty() ? "" : "ms a frame: " + stages + "\n";
}

std::string problems_text(const pipeline::RunReport& report) {
  std::string text;
  if (report.skipped > 0) text += fmt::format("{} frame(s) too small to be searched\n", report.skipped);
  if (report.failed > 0) {
    text += fmt::format("{} frame(s) failed, the first because: {}\n", report.failed, report.first_failure);
  }
  if (report.retried > 0) {
    text += fmt::format("{} frame(s) searched again on the CPU, because the device failed\n", report.retried);
  }
  if (report.decode_errors > 0) text += fmt::format("{} decode error(s)\n", report.decode_errors);
  return text;
}

}  // namespace sightline::apps
