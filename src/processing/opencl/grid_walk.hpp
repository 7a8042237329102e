#pragma once
/// A search for a low place of a grid that looks at few of them.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace sightline {

/// The cheapest place of a walk, and its cost.
struct GridPlace {
  std::vector<std::size_t> place;  ///< one number an axis
  double cost = 0;
};

/// Walks downhill: from `start`, looks at the places next to it along each axis and goes to the lowest, until
/// none is lower by more than `worth` (a share of the cost): differences below that are noise. Asks for no
/// place's cost twice. Finds the lowest place of a grid that has one valley; of others, the bottom of the
/// valley that it began in.
/// @param sizes   places along each axis, at least 1
/// @param enough  a start that costs more than this is not left: hopeless. Infinity: it always is
GridPlace walk_downhill(std::span<const std::size_t> sizes, std::vector<std::size_t> start,
                        const std::function<double(const std::vector<std::size_t>&)>& cost, double worth,
                        double enough);

}  // namespace sightline
