#pragma once
/// Learns chi-square weights of face regions by how well they separate people.

#include <cstdint>
#include <span>
#include <vector>

#include "faces/recognition/face_descriptor.hpp"

namespace sightline::recognition {

/// Two photos, and whether they are of one person.
struct PhotoPair {
  std::size_t first = 0, second = 0;
  bool is_same = false;
};

/// Pairs as tests of recognition have them: half of them two photos of a person drawn at random, half one
/// photo each of two people. No pair comes twice. Fewer where there are not as many.
std::vector<PhotoPair> draw_pairs(std::span<const std::uint32_t> people, std::size_t count,
                                  std::uint64_t seed);

/// Each region (of folded channels a folded one) alone tells some share of the pairs apart; by that they are
/// ranked, and the worst 15% get the weight 0, up to 60% 1, up to 85% 2, the best 4 (levels as T. Ahonen et
/// al., PAMI 2006, have them). Equal ones rank by their index.
/// @param counts  of each photo, FaceDescriptor::values() of them
std::vector<std::uint8_t> rank_regions(const FaceDescriptor& descriptor,
                                       const std::vector<std::vector<std::uint16_t>>& counts,
                                       std::span<const PhotoPair> pairs);

}  // namespace sightline::recognition
