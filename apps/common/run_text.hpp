#pragma once
/// Messages about a run, the same for every subcommand that runs a detector.

#include <string>

#include "frame/stream_info.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// "street.mp4: h264 768x576 yuv420p, 25 frames/s, about 795 frames".
std::string describe_stream(const std::string& input, const StreamInfo& info);

/// "ms per frame: decode 0.61, pyramid 0.80, ...", with the processors of stages elsewhere than on the CPU; a
/// line.
/// @param unit  what the run counts: "frame", "tile"
std::string stage_times_text(const pipeline::RunReport& report, const std::string& unit = "frame");

/// Advice for runs that software decoding limits.
inline constexpr const char* kDecoderHelps = "--decoder auto has a GPU decode, if there is one";

/// Use of the processors in a run.
struct RunLoad {
  double cpu_seconds = 0;     ///< of all threads of the process
  int threads = 1;            ///< that the CPU has for it
  bool decodes_video = true;  ///< by software: a GPU's decoder could do it
};

/// What was busy nearly all the time and so limited the rate, and what would help: "limited by decoding, busy
/// 97% of the time; ...", a line. Empty where nothing was.
std::string limit_text(const pipeline::RunReport& report, const RunLoad& load);

/// Problems with frames, one per line; empty if there were none.
std::string problems_text(const pipeline::RunReport& report, const std::string& unit = "frame");

}  // namespace sightline::apps
