#include "media/decoder_choice.hpp"

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "media/reader.hpp"

namespace sightline::media {
namespace {

constexpr std::string_view kFirstRenderNode = "/dev/dri/renderD128";

bool is_device_number(std::string_view text) {
  return !text.empty() && text.size() <= 4 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string DecoderChoice::name() const {
  switch (kind) {
    case Kind::software:
      return "software";
    case Kind::cuda:
      return "cuda:" + device;
    case Kind::vaapi:
      return "vaapi:" + device;
    case Kind::automatic:
      return "auto";
    case Kind::fake:
      break;
  }
  return "fake";
}

DecoderChoice parse_decoder(const std::string& text) {
  using Kind = DecoderChoice::Kind;
  if (text == "software") return {Kind::software, ""};
  if (text == "auto") return {Kind::automatic, ""};
  if (text == "cuda") return {Kind::cuda, "0"};
  if (text == "vaapi") return {Kind::vaapi, std::string(kFirstRenderNode)};
  if (text.starts_with("cuda:") && is_device_number(std::string_view(text).substr(5)))
    return {Kind::cuda, text.substr(5)};
  if (text.starts_with("vaapi:/")) return {Kind::vaapi, text.substr(6)};
#ifdef SIGHTLINE_FAULTS
  if (text.starts_with("fake:")) return {Kind::fake, text.substr(5)};
#endif
  throw Error(ExitCode::usage, "'" + text + "' is not a decoder",
              "use software, auto, cuda, cuda:1, vaapi or vaapi:/dev/dri/renderD129");
}

void check_decoder(const std::string& text) {
  parse_decoder(text);
}

}  // namespace sightline::media
