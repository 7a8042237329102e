#pragma once
/// Internal to src/media: software decoding that pretends to be a hardware decoder with faults, for tests on
/// any machine. Compiled in where CMake's SIGHTLINE_FAULTS is on.

#include <string>

#include "media/fallback_decoder.hpp"
#include "media/hardware_decoder.hpp"

namespace sightline::media {

#ifdef SIGHTLINE_FAULTS
/// Makes the fake the hardware of a setup, with short limits.
/// @param faults  separated by commas: `fail@n`, `wrong@n` (another pixel), `lose@n`, `hang@n`, `crash@n`,
///                `damage@n` for the n-th picture that it makes, counted from 1 through all its openings;
///                `refuse`; `prove` for FallbackDecoder::Setup::is_proved_first; `keep@n` for its
///                `most_kept`. Each strikes once.
/// @throws Error (usage)
void set_up_fake(FallbackDecoder::Setup& setup, const std::string& faults, const StreamFacts& facts);
#endif

}  // namespace sightline::media
