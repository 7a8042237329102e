#pragma once
/// Impostor distribution: distances between templates of different people.

#include <cstdint>
#include <vector>

#include "faces/recognition/model.hpp"

namespace sightline::recognition {

/// Distances at rates from 1e-5 to 0.3, those that enough pairs tell.
/// @param distances  of pairs of different people; is sorted
std::vector<FalseMatchRate> false_match_rates(std::vector<std::uint32_t> distances);

}  // namespace sightline::recognition
