#pragma once
/// Internal to this folder: the matrix product of a projection.

#include <cstddef>
#include <cstdint>

namespace sightline::recognition {

/// Padding unit of values.
inline constexpr std::size_t kValuesUnit = 64;

/// Writes the sums of weights[d][i] * values[i] over `count` values, a multiple of kValuesUnit, for d < dims.
/// Values are 0 .. 255. SIMD, dispatched at run time.
void weighted_sums(const std::int16_t* values, const std::int8_t* weights, std::size_t count, int dims,
                   std::int32_t* sums);

}  // namespace sightline::recognition
