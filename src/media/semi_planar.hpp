#pragma once
/// Internal to src/media: pixels as hardware decoders store them, into the planes that software makes.

#include <cstddef>
#include <cstdint>

namespace sightline::media {

/// Splits a row of alternating U and V samples (NV12).
void split_chroma(const std::uint8_t* pairs, std::uint8_t* u, std::uint8_t* v, std::size_t count);

/// The same for 10 bits in the high end of 16 (P010), which move to the low end.
void split_chroma_10(const std::uint16_t* pairs, std::uint16_t* u, std::uint16_t* v, std::size_t count);

/// Moves 10 bits from the high end of 16 to the low end.
void lower_10_bits(std::uint16_t* samples, std::size_t count);

}  // namespace sightline::media
