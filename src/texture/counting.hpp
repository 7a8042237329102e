#pragma once
/// Counting of a row's codes on the CPU.
///
/// The fast case is a histogram of eight points alone: codes are made a vector at a time and counted
/// directly. Each byte of a word has its own table, so that repeated codes do not wait for each other. The
/// mapping is applied to the 256 counts at the end. All other cases use a row of labels. Counts are integers
/// and do not depend on the order.

#include <array>
#include <cstdint>
#include <vector>

#include "image/lbp_operator.hpp"
#include "image/view.hpp"

namespace sightline::texture {

/// Counts of plain codes of eight points, in eight tables of which each counts a part of the pixels.
struct CodeTables {
  static constexpr int kTables = 8;
  static constexpr int kCodes = 256;
  alignas(64) std::array<std::uint32_t, kTables * kCodes> counts{};

  std::uint32_t count(int code) const {
    std::uint32_t sum = 0;
    for (int table = 0; table < kTables; ++table) sum += counts[table * kCodes + code];
    return sum;
  }
};

/// Adds the codes of pixels [x_begin, x_end) of row y to tables. The operator has eight points; pixels are at
/// least its reach from every edge. SIMD, dispatched at run time. Thread-safety: pure but for the tables.
void count_codes(const LbpOperator& one, GrayView image, int y, int x_begin, int x_end, CodeTables& tables);

/// Counts given codes: measures the counting alone.
void count_bytes(const std::uint8_t* codes, int count, CodeTables& tables);

/// Writes the codes of such pixels, of any operator.
/// @param codes  of as many bits as the operator has points, or more
template <typename Code>
void make_codes(const LbpOperator& one, GrayView image, int y, int x_begin, int x_end, Code* codes);

/// Writes the contrasts (LbpOperator::contrast) of such pixels. SIMD, dispatched at run time.
void make_contrasts(const LbpOperator& one, GrayView image, int y, int x_begin, int x_end,
                    std::uint16_t* contrasts);

}  // namespace sightline::texture
