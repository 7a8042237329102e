#include "apps/common/media_options.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "apps/cli/choices.hpp"
#include "apps/cli/stop.hpp"
#include "base/error.hpp"
#include "image/size_text.hpp"

namespace sightline::apps {

void add_encoder_options(OptionSet& options, media::WriteOptions& writing) {
  options.add("--encoder NAME", &writing.encoder, "Video encoder, by FFmpeg's name")
      .suggest(encoder_choices)
      .show_default();
  options.add("--quality N", &writing.quality, "Quality of the video; 0 is best")
      .between(0, 51)
      .show_default();
  options.add("--preset NAME", &writing.preset, "Encoder preset, ultrafast to veryslow")
      .suggest(preset_choices)
      .show_default();
}

void add_limit_options(OptionSet& options, media::ReadOptions& reading) {
  options
      .add("--max-pixels PIXELS", &reading.max_pixels,
           "Maximum pixels of a picture; a damaged file may claim any size")
      .between(1, 0x1p31)
      .show_default();
  options.add("--allow-playlists", &reading.allow_playlists,
              "Open HLS playlists that stay in their own folder or on their own host");
  options.add("--netrc FILE", &reading.netrc,
              "File with passwords of network inputs, in netrc format (default: $NETRC)");
}

void add_decoder_option(OptionSet& options, media::ReadOptions& reading) {
  options
      .add("--decoder DECODER", &reading.decoder,
           "Decoder of videos: software, auto, cuda, cuda:N, vaapi or vaapi:/dev/dri/renderD129")
      .checked_by(media::check_decoder)
      .suggest(decoder_choices)
      .show_default();
}

void add_timeout_option(OptionSet& options, media::ReadOptions& reading) {
  options
      .add("--timeout SECONDS", &reading.patience,
           "Seconds without data before a network input fails (0: no limit, default 10)")
      .between(0, 1e6);
}

void prepare_reading(std::string& input, media::ReadOptions& reading) {
  if (const char* const netrc = std::getenv("NETRC"); netrc && reading.netrc.empty()) reading.netrc = netrc;
  reading.stop = &stop_requested();
  input = media::hide_secrets(input, reading);
}

void prepare_reading(std::vector<std::string>& inputs, media::ReadOptions& reading) {
  for (std::string& input : inputs) prepare_reading(input, reading);
}

Size parse_size(const std::string& text, const std::string& option) {
  if (const std::optional<Size> size = to_size(text)) return *size;
  throw Error(ExitCode::usage, option + " '" + text + "' is not a size", "write it as 1280x720");
}

void require_present(const std::string& input) {
  std::error_code error;
  if (input == "-" || input.find_first_of(":%") != std::string::npos) return;
  if (std::filesystem::exists(input, error)) return;
  throw Error(ExitCode::input, "cannot open '" + input + "' (No such file or directory)",
              "check the name and the path");
}

void refuse_time_options(const std::string& input, const media::ReadOptions& reading, bool tracks) {
  const char* const option = tracks              ? "--track"
                             : reading.start > 0 ? "--start"
                             : reading.duration  ? "--duration"
                                                 : nullptr;
  if (!option) return;
  throw Error(ExitCode::usage,
              std::string(option) + " does nothing for pictures, which have no times: '" + input + "'",
              "leave it out, or name numbered pictures of a video by a pattern such as %06d.jpg");
}

}  // namespace sightline::apps
