#pragma once
/// Live sources of media::Reader: cameras, screens, streams and files at their own pace.

#include <memory>
#include <string>

#include "media/reader.hpp"
#include "pipeline/session/live_source.hpp"

namespace sightline::pipeline {

/// A source of media::Reader. Sets `low_delay` for live inputs, `patience` (from `reopen_after`) and `stop`
/// of `read`, and the name where it is empty. `read.every` must be 1: LiveOptions has its own.
std::unique_ptr<LiveSource> open_live(const std::string& input, const media::ReadOptions& read,
                                      LiveOptions options);

}  // namespace sightline::pipeline
