#pragma once
/// The texture of a frame by its definition, pixel by pixel: what everything else is compared with.

#include "texture/output.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// @param frame  with its border; of a frame that is all border, an output without operators
void count_by_definition(const TextureSettings& settings, GrayView frame, TextureOutput& output);

}  // namespace sightline::texture
