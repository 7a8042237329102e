#pragma once
/// Numbers that tests give networks.

#include <cmath>
#include <cstdint>
#include <vector>

namespace sightline::test {

enum class Fill { ordinary, tiny, huge, special };
inline const std::vector<Fill> kAllFills{Fill::ordinary, Fill::tiny, Fill::huge, Fill::special};

/// Number `i` of a fill.
inline float value_of(Fill fill, std::int64_t i) {
  const auto bits = static_cast<std::uint32_t>(i) * 2654435761U;
  const float ordinary = static_cast<float>(bits >> 8) / 8388608.0F - 1;
  if (fill == Fill::tiny) return ordinary * 1e-40F;  // denormal
  if (fill == Fill::huge) return ordinary * 1e37F;
  if (fill == Fill::special && i % 37 == 5) return bits % 3 == 0 ? NAN : bits % 3 == 1 ? INFINITY : -0.0F;
  return ordinary * 3;
}

}  // namespace sightline::test
