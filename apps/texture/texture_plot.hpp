#pragma once
/// Pictures of histograms.

#include <string>
#include <vector>

#include "texture/record.hpp"

namespace sightline::texture {

/// An SVG picture: for each histogram of each record a plot of its own, a bar a bin, as high as the bin's
/// share of the pixels. The bin of codes that are not uniform, where the mapping has one, has a colour of its
/// own.
std::string to_svg(const std::vector<TextureRecord>& records);

/// A histogram for a terminal: a line of at most `columns` characters, each an eighth to a whole block high,
/// the highest one whole. Where there are more bins, each column is the highest of some neighbours.
std::string bar_text(const std::vector<std::uint64_t>& bins, std::size_t columns);

}  // namespace sightline::texture
