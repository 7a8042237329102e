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

/// Principal axes by subspace iteration from a random start (N. Halko, P. G. Martinsson, J. A. Tropp,
/// "Finding structure with randomness", SIAM Review 2011): a few products with all rows instead of a
/// covariance matrix of all values. The first axes are practically exact, the last few are mixed with omitted
/// ones. The order of float additions depends only on the size, so the result does not depend on threads.
/// @param count  number of axes; at most the rows and the values Throws training::TrainingStopped if the
/// clock's report requests a stop.
PrincipalAxes principal_axes(const Descriptions& descriptions, std::size_t count, std::uint64_t seed,
                             training::ProgressClock& clock);

}  // namespace sightline::recognition
