#pragma once
/// Bins of rows of codes.

#include <cstdint>

#include "image/circular_lbp.hpp"

namespace sightline::texture {

/// Writes the bins of codes. Codes have at least as many bits as the bins' points.
/// @tparam Label  of 8 bits where there are at most 256 bins, else of 16
template <typename Code, typename Label>
void map_codes(const LbpBins& bins, const Code* codes, int count, Label* labels) {
  if (!bins.table().empty()) {
    const std::uint16_t* const table = bins.table().data();
    for (int i = 0; i < count; ++i) labels[i] = static_cast<Label>(table[codes[i]]);
    return;
  }
  const int points = bins.points();
  if (bins.mapping() == LbpMapping::uniform) {
    for (int i = 0; i < count; ++i) labels[i] = static_cast<Label>(uniform_lbp_bin(codes[i], points));
    return;
  }
  for (int i = 0; i < count; ++i) labels[i] = static_cast<Label>(bins.bin(codes[i]));
}

}  // namespace sightline::texture
