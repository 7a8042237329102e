#include "media_options.hpp"

#include <charconv>
#include <filesystem>

#include "base/error.hpp"

namespace sightline::apps {

void add_encoder_options(CLI::App& command, media::WriteOptions& options, const std::string& group) {
  command.add_option("--encoder", options.encoder, "Video encoder, by FFmpeg's name")
      ->capture_default_str()
      ->group(group);
  command.add_option("--quality", options.quality, "Of the video: 0 (best) to 51")
      ->check(CLI::Range(0, 51))
      ->capture_default_str()
      ->group(group);
  command.add_option("--preset", options.preset, "Of the encoder")->capture_default_str()->group(group);
}

void add_limit_options(CLI::App& command, media::ReadOptions& options, const std::string& group) {
  command
      .add_option("--max-pixels", options.max_pixels,
                  "Pixels of the largest picture that is taken: a damaged file may claim any size")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->capture_default_str()
      ->group(group);
}

Size parse_size(const std::string& text, const std::string& option) {
  Size size;
  const char* const end = text.data() + text.size();
  const auto [cross, width_error] = std::from_chars(text.data(), end, size.width);
  if (width_error == std::errc() && cross != end && *cross == 'x') {
    const auto [rest, height_error] = std::from_chars(cross + 1, end, size.height);
    if (height_error == std::errc() && rest == end && size.width > 0 && size.height > 0) return size;
  }
  throw Error(ExitCode::usage, option + " '" + text + "' is no size", "write it as 1280x720");
}

void require_present(const std::string& input) {
  std::error_code error;
  if (input == "-" || input.find_first_of(":%") != std::string::npos) return;
  if (std::filesystem::exists(input, error)) return;
  throw Error(ExitCode::input, "cannot open '" + input + "' (No such file or directory)",
              "check the name and the path");
}

}  // namespace sightline::apps
