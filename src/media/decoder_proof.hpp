#pragma once
/// Tests of the machine's hardware video decoders with the clips that ship, in processes of their own, since
/// drivers crash and hang.

#include <array>
#include <chrono>
#include <string>
#include <vector>

struct AVCodecParameters;

namespace sightline::media {

/// A device that may decode video.
struct HardwareDecoderInfo {
  std::string decoder;  ///< as in ReadOptions::decoder: "cuda:0", "vaapi:/dev/dri/renderD128"
  std::string device;   ///< name of the GPU; of VA-API's, the kernel driver; empty if unknown
  std::string driver;   ///< NVIDIA's, with its version; empty if unknown
};

/// NVIDIA's GPUs and VA-API's render nodes; they need not decode anything. If the NVIDIA driver does not list
/// its GPUs, the first one is in the list, without a name.
std::vector<HardwareDecoderInfo> list_hardware_decoders();

/// Codecs and depths (8 bits, unless they say otherwise) that hardware may decode. Each has a clip.
inline constexpr std::array kProvedCodecs{"h264", "hevc",       "hevc 10 bit", "vp8",
                                          "vp9",  "vp9 10 bit", "av1",         "av1 10 bit"};

/// Result of a test.
struct DecoderProof {
  enum class Outcome {
    untested,     ///< no process could be made for the test, or software does not decode the clip
    proved,       ///< all frames are equal to those of software decoding
    unavailable,  ///< the device cannot be used
    unsupported,  ///< the device or FFmpeg does not decode such videos
    failed,       ///< the device or its driver failed
    wrong,        ///< the number of frames, their size, format or pixels are not those of software decoding
    hangs,        ///< there was no answer in time
    crashed,      ///< the driver ended the process
  };

  std::string codec;  ///< one of kProvedCodecs
  Outcome outcome = Outcome::untested;
  std::string reason;  ///< details
};

/// In one word: "proved".
const char* to_string(DecoderProof::Outcome outcome);

/// Decodes the codec's clip in software and with the decoder, and compares all planes of all frames.
/// Needs ProcessPolicy::tries_drivers_in_copies, else nothing is tested, and a process that has not used the
/// device yet, since drivers do not work in copies of one that has.
/// @param decoder  as ReadOptions::decoder, of one device
/// @param codec    one of kProvedCodecs
/// @throws Error (usage for the decoder; failed if the clip is not there, input if it cannot be read)
DecoderProof prove_decoder(const std::string& decoder, const std::string& codec,
                           std::chrono::milliseconds limit = std::chrono::seconds(10));

/// Stores a result in the user's cache, in place of the last one. Never throws because it cannot be stored.
void remember_proof(const std::string& decoder, const DecoderProof& proof);

/// Why `auto` should not use a decoder for a codec: in its stored test it gave wrong frames, hung or
/// crashed. Empty if it did not, or if another driver, another version of the program or of FFmpeg was
/// tested, or the system was started since.
std::string remembered_failure(const std::string& decoder, const AVCodecParameters& codec);

}  // namespace sightline::media
