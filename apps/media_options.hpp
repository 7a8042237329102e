#pragma once
/// Options for reading and writing video, the same for every subcommand that has them.

#include <string>

#include "base/options.hpp"
#include "media/reader.hpp"
#include "media/writer.hpp"

namespace sightline::apps {

/// --encoder, --quality and --preset.
void add_encoder_options(OptionSet& options, media::WriteOptions& writing);

/// --max-pixels.
void add_limit_options(OptionSet& options, media::ReadOptions& reading);

/// "1280x720". Throws Error (usage) that says what `option` should have been.
Size parse_size(const std::string& text, const std::string& option);

/// Throws Error (input) for the name of a file that is not there. What is no plain path (a URL, a pattern, a
/// generator) is left to FFmpeg.
void require_present(const std::string& input);

}  // namespace sightline::apps
