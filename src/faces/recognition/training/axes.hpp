#pragma once
/// The principal axes of many descriptions: the directions in which they differ most.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/progress.hpp"

namespace sightline::recognition {

/// Rows of as many values each.
struct Descriptions {
  std::size_t values = 0;
  std::vector<std::uint8_t> rows;  ///< [count][values]
  std::size_t count() const { return values == 0 ? 0 : rows.size() / values; }
};

struct PrincipalAxes {
  std::vector<double> mean;  ///< [values]
  std::vector<float> axes;   ///< [axis][values], orthonormal, by falling variance
  std::vector<float> parts;  ///< [count][axis]: each row along the axes, from the mean
};

/// By subspace iteration from a random start (N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure
/// with randomness", SIAM Review 2011): a few products with all rows instead of a matrix of all values by all
/// values. The first axes are exact for all purposes, the last few mixed with those that are left out. Floats
/// are added in an order that depends on the size alone: the result does not depend on threads.
/// @param count  of the axes; no more than rows or values
/// Throws training::TrainingStopped where the clock's report asks to stop.
PrincipalAxes principal_axes(const Descriptions& descriptions, std::size_t count, std::uint64_t seed,
                             training::ProgressClock& clock);

}  // namespace sightline::recognition
