#pragma once
/// Internal to src/media: the decoder that ReadOptions::decoder asks for.

#include <string>

namespace sightline::media {

struct DecoderChoice {
  enum class Kind {
    software,
    cuda,
    vaapi,
    automatic,
    fake,  ///< software that pretends to be hardware, with faults (fake_decoder.hpp); only in test builds
  };

  Kind kind = Kind::software;
  /// Number of the CUDA device, the VAAPI render node, or the faults of the fake decoder.
  std::string device;

  /// As in ReadOptions::decoder, with the device. For messages.
  std::string name() const;
};

/// @param text  as ReadOptions::decoder
/// @throws Error (usage)
DecoderChoice parse_decoder(const std::string& text);

}  // namespace sightline::media
