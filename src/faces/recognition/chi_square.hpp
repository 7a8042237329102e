#pragma once
/// The weighted chi-square distance of histograms of counts, in exact integers: defined once, for the CPU and
/// for devices (kernels/recognition/search.cl).
///
/// sum over d of w[d] (a[d] - b[d])^2 / (a[d] + b[d]), where 0 / 0 is 0 (T. Ahonen, A. Hadid, M. Pietikainen:
/// Face Description with Local Binary Patterns, PAMI 2006), each term taken to the nearest quarter, halves
/// up. Rounding moves a term by at most an eighth of a count, and at random: of 2,891 terms the sum by about
/// 4, where distances are some thousands.

#include <cstdint>

namespace sightline::recognition {

/// Distances are counted in quarters: divide by this for chi-square as the formula has it.
inline constexpr int kChiSquareUnit = 4;

/// Largest count of 16 bits: 16 a^2 then fits the 31 bits of all variants.
inline constexpr int kLargestCount = 11'585;

/// 4 (a - b)^2 / (a + b), to the nearest integer, halves up; 0 for two zeros.
///
/// Kernels calculate the same from (a - b)^2 / (a + b) = b - 3 a + 4 a^2 / (a + b): terms that do not depend
/// on both are summed in advance, and a of 0 needs no further work. See chi_square_rest.
constexpr std::uint32_t chi_square_term(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t sum = a + b;
  const std::uint64_t difference = a > b ? a - b : b - a;
  return sum == 0 ? 0 : static_cast<std::uint32_t>((8 * difference * difference + sum) / (2 * sum));
}

/// 16 a^2 / (a + b) to the nearest integer, halves up, for a > 0: chi_square_term(a, b) + 12 a - 4 b.
constexpr std::uint32_t chi_square_rest(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t sum = a + b;
  return static_cast<std::uint32_t>((32 * std::uint64_t{a} * a + sum) / (2 * sum));
}

}  // namespace sightline::recognition
