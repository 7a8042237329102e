#pragma once
/// Reference implementation of a frame's texture, pixel by pixel by its definition.

#include "texture/output.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// @param frame  with its border; of a frame that is all border, an output without operators
void count_by_definition(const TextureSettings& settings, GrayView frame, TextureOutput& output);

}  // namespace sightline::texture
