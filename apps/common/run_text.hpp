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

/// Problems with frames, one per line; empty if there were none.
std::string problems_text(const pipeline::RunReport& report, const std::string& unit = "frame");

}  // namespace sightline::apps
