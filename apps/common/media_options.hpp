#pragma once
/// Options for reading and writing video, the same for every subcommand that has them.

#include <string>
#include <vector>

#include "media/reader.hpp"
#include "media/writer.hpp"
#include "params/options.hpp"

namespace sightline::apps {

/// --encoder, --quality and --preset.
void add_encoder_options(OptionSet& options, media::WriteOptions& writing);

/// --max-pixels, --allow-playlists and --netrc.
void add_limit_options(OptionSet& options, media::ReadOptions& reading);

/// --decoder.
void add_decoder_option(OptionSet& options, media::ReadOptions& reading);

/// --timeout, for commands that do not reopen a lost input.
void add_timeout_option(OptionSet& options, media::ReadOptions& reading);

/// Replaces secrets in the names of inputs (media::hide_secrets), falls back to $NETRC for credentials, and
/// makes a request to stop end the reading. Must be called before the names are used for anything else.
void prepare_reading(std::vector<std::string>& inputs, media::ReadOptions& reading);
void prepare_reading(std::string& input, media::ReadOptions& reading);

/// "1280x720". Throws Error (usage) that says what `option` should have been.
Size parse_size(const std::string& text, const std::string& option);

/// Throws Error (input) for the name of a file that is not there. What is no plain path (a URL, a pattern, a
/// generator) is left to FFmpeg.
void require_present(const std::string& input);

/// Throws Error (usage) for a picture or a folder of pictures where the reading is limited in seconds, or
/// `tracks`: pictures have no time.
void refuse_time_options(const std::string& input, const media::ReadOptions& reading, bool tracks);

}  // namespace sightline::apps
