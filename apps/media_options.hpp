#pragma once
/// Options for reading and writing video, the same for every subcommand that has them.

#include <CLI/CLI.hpp>
#include <string>

#include "media/reader.hpp"
#include "media/writer.hpp"

namespace sightline::apps {

/// --encoder, --quality and --preset.
void add_encoder_options(CLI::App& command, media::WriteOptions& options, const std::string& group);

/// --max-pixels.
void add_limit_options(CLI::App& command, media::ReadOptions& options, const std::string& group);

/// "1280x720". Throws Error (usage) that says what `option` should have been.
Size parse_size(const std::string& text, const std::string& option);

/// Throws Error (input) for the name of a file that is not there. What is no plain path (a URL, a pattern, a
/// generator) is left to FFmpeg.
void require_present(const std::string& input);

}  // namespace sightline::apps
