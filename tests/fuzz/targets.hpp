#pragma once
/// What is fuzzed: each target reads bytes as Sightline reads files of strangers. Whatever they are, it takes
/// them or throws Error; anything else is a finding.

#include <cstdint>
#include <span>

namespace sightline::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// OpenCV's cascade XML; what is taken searches a small picture.
void cascade(Bytes bytes);
/// Sightline's own models.
void model(Bytes bytes);
/// Pipeline files.
void config(Bytes bytes);
/// Ground truth, read as all of its formats.
void truth(Bytes bytes);

}  // namespace sightline::fuzz
