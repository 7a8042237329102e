#pragma once
/// The versions of FFmpeg's libraries, and which encoders they have.

#include <string>
#include <vector>

#include "base/versions.hpp"

namespace sightline::media {

/// Versions of all linked libraries.
std::vector<LibraryVersion> library_versions();

/// Names of all video encoders, as `--encoder` takes them, in alphabetical order.
std::vector<std::string> video_encoder_names();

}  // namespace sightline::media
