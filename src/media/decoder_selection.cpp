#include "media/decoder_selection.hpp"

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "media/decoder_choice.hpp"
#include "media/decoder_proof.hpp"
#include "media/fake_decoder.hpp"
#include "media/fallback_decoder.hpp"
#include "media/hardware_decoder.hpp"
#include "media/hardware_device.hpp"

namespace sightline::media {
namespace {

using DecoderKind = DecoderChoice::Kind;

/// The device for `auto`. Loads no driver.
DecoderChoice first_device() {
  if (has_nvidia_driver()) return parse_decoder("cuda");
  const DecoderChoice vaapi = parse_decoder("vaapi");
  std::error_code ignored;
  return std::filesystem::exists(vaapi.device, ignored) ? vaapi : DecoderChoice();
}

/// Tells other sources of what happened to the device.
bool note_fault(const DecoderChoice& device, bool is_named, const DecoderFault& fault) {
  using Kind = DecoderFault::Kind;
  switch (fault.kind) {
    case Kind::damage:
      return false;
    case Kind::unavailable:
      return is_named && is_first_report(device);
    case Kind::refused:
      return is_named;
    case Kind::wrong:
      return true;
    case Kind::device:
      reopen_hardware_device(device);
      return true;
    case Kind::hang:
      break;
  }
  lose_hardware_device(device);
  return true;
}

FallbackDecoder::Setup setup_for(const DecoderChoice& device, bool is_named, const StreamFacts& facts) {
  FallbackDecoder::Setup setup;
  setup.device = device.name();
  setup.parameters = facts.parameters;
  setup.is_proved_first = !is_named;
  if (facts.low_delay) setup.thread.packets_ahead = 0;
#ifdef SIGHTLINE_FAULTS
  if (device.kind == DecoderKind::fake) {
    set_up_fake(setup, device.device, facts);
    return setup;
  }
#endif
  setup.open_hardware = [=] { return open_hardware_decoder(device, facts); };
  setup.on_fault = [=](const DecoderFault& fault) { return note_fault(device, is_named, fault); };
  return setup;
}

}  // namespace

std::unique_ptr<VideoDecoder> open_video_decoder(
    const ReadOptions& options, const std::string& input, const AVStream& stream,
    const std::function<std::unique_ptr<VideoDecoder>()>& open_software) {
  const DecoderChoice asked = parse_decoder(options.decoder);
  const bool is_named = asked.kind != DecoderKind::automatic;
  const DecoderChoice device = is_named ? asked : first_device();
  const AVCodecParameters& codec = *stream.codecpar;
  if (device.kind == DecoderKind::software) {
    if (!is_named) logger().debug("{}: no device for decoding is there", input);
    logger().debug("{}: {} is decoded in software", input, avcodec_get_name(codec.codec_id));
    return open_software();
  }
  if (const std::string reason =
          reason_for_software(codec.codec_id, codec.profile, static_cast<AVPixelFormat>(codec.format));
      !reason.empty()) {
    logger().log(is_named ? spdlog::level::warn : spdlog::level::debug, "{}: decoded in software: {}", input,
                 reason);
    return open_software();
  }
  if (asked.kind == DecoderKind::automatic || asked.kind == DecoderKind::fake) {
    if (const std::string failure = remembered_failure(device.name(), codec); !failure.empty()) {
      logger().log(is_first_report(device) ? spdlog::level::warn : spdlog::level::debug,
                   "{}: {} is decoded in software, not by {}, which failed in `sightline devices "
                   "--decoders` ({})",
                   input, avcodec_get_name(codec.codec_id), device.name(), failure);
      return open_software();
    }
  }
  FallbackDecoder::Setup setup =
      setup_for(device, is_named, facts_of(stream, options.max_pixels, options.low_delay));
  setup.input = input;
  if (!options.tests_device) setup.is_proved_first = false;
  setup.open_software = open_software;
  return std::make_unique<FallbackDecoder>(std::move(setup));
}

}  // namespace sightline::media
