#include "apps/measure/devices_decoders.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/writable.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "media/decoder_proof.hpp"

namespace sightline::apps {
namespace {

using media::DecoderProof;

const char* words_for(DecoderProof::Outcome outcome) {
  using Outcome = DecoderProof::Outcome;
  switch (outcome) {
    case Outcome::unavailable:
      return "cannot be used";
    case Outcome::unsupported:
      return "not supported";
    case Outcome::wrong:
      return "wrong pixels";
    case Outcome::hangs:
      return "no answer";
    case Outcome::untested:
      return "not tested";
    default:
      return to_string(outcome);
  }
}

void print_proof(const DecoderProof& proof) {
  std::printf("     %-12s  %-14s  %s\n", proof.codec.c_str(), words_for(proof.outcome),
              printable(proof.reason).c_str());
  std::fflush(stdout);  // the next test may take seconds
}

/// Tests one decoder, up to the first test that finds the device unusable.
nlohmann::ordered_json test_decoder(const media::HardwareDecoderInfo& info) {
  std::printf("%s", info.decoder.c_str());
  for (const std::string* const text : {&info.device, &info.driver})
    if (!text->empty()) std::printf("  %s", printable(*text).c_str());
  std::printf("\n");
  std::fflush(stdout);
  nlohmann::ordered_json tests = nlohmann::ordered_json::array();
  for (const char* const codec : media::kProvedCodecs) {
    const DecoderProof proof = media::prove_decoder(info.decoder, codec);
    print_proof(proof);
    media::remember_proof(info.decoder, proof);
    tests.push_back(
        {{"codec", proof.codec}, {"outcome", to_string(proof.outcome)}, {"reason", proof.reason}});
    if (proof.outcome == DecoderProof::Outcome::unavailable) break;
  }
  return {{"decoder", info.decoder}, {"device", info.device}, {"driver", info.driver}, {"tests", tests}};
}

}  // namespace

int run_decoders(const std::string& json_file) {
  require_writable(json_file);
  nlohmann::ordered_json decoders = nlohmann::ordered_json::array();
  for (const media::HardwareDecoderInfo& info : media::list_hardware_decoders())
    decoders.push_back(test_decoder(info));
  if (decoders.empty())
    std::printf(
        "No hardware decoder: there is no NVIDIA driver and no VA-API device (/dev/dri/renderD*). In a "
        "container, "
        "set NVIDIA_DRIVER_CAPABILITIES=compute,video,utility, or pass /dev/dri on.\n");
  write_if_named(json_file, [&] {
    return json_text(nlohmann::ordered_json{{"decoders", decoders}}, 2) + "\n";
  });
  return 0;
}

}  // namespace sightline::apps
