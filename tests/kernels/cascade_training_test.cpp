// What cascades are trained on: SIMD against the scalar reference, bit for bit.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "detectors/cascade/training/boosting.hpp"
#include "detectors/cascade/training/features.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::cascade {
namespace {

KERNEL_TEST_SUITE(CascadeTrainingKernel);

constexpr std::size_t kElements = 40;

TEST_P(CascadeTrainingKernel, PatternsAreTheReferences) {
  test::Numbers numbers(1);
  // Few different sums, so that blocks are often alike.
  std::vector<std::uint16_t> sums(kElements * kTogether);
  for (std::uint16_t& sum : sums) sum = static_cast<std::uint16_t>(numbers(65'530, 65'540));
  for (int trial = 0; trial < 50; ++trial) {
    PatternCorners corners{};
    for (std::int32_t& at : corners.at) at = numbers(0, kElements - 1) * static_cast<int>(kTogether);
    std::array<std::uint8_t, kTogether> found{}, expected{};
    take_patterns(corners, sums.data(), found.data());
    reference::take_patterns(corners, sums.data(), expected.data());
    ASSERT_EQ(found, expected);
  }
}

TEST_P(CascadeTrainingKernel, ValuesAndTheirBinsAreTheReferences) {
  test::Numbers numbers(2);
  std::vector<std::int32_t> sums(kElements * kTogether);
  for (std::int32_t& sum : sums) sum = numbers(0, 140'000);
  std::array<float, kTogether> norms{};
  for (float& norm : norms) norm = static_cast<float>(1e-5 + 1e-3 * numbers.real());
  for (int trial = 0; trial < 50; ++trial) {
    ValueCorners corners{};
    corners.rects = numbers(2, 3);
    for (int r = 0; r < corners.rects; ++r) {
      corners.weights[r] = static_cast<float>(numbers(-1, 9));
      for (std::int32_t& at : corners.at[r]) at = numbers(0, kElements - 1) * static_cast<int>(kTogether);
    }
    std::array<float, 2 * kTogether> found{}, expected{};
    for (float* half : {found.data(), found.data() + kTogether})
      take_values(corners, sums.data(), norms.data(), half);
    for (float* half : {expected.data(), expected.data() + kTogether})
      reference::take_values(corners, sums.data(), norms.data(), half);
    ASSERT_EQ(found, expected);
    ValueRange range = reference::range_of(expected.data(), expected.size());
    const ValueRange same = range_of(expected.data(), expected.size());
    EXPECT_EQ(same.lowest, range.lowest);
    EXPECT_EQ(same.highest, range.highest);
    EXPECT_EQ(same.bins, range.bins);
    range.lowest += 0.1F * (range.highest - range.lowest);  // some lie outside
    std::array<std::uint8_t, 2 * kTogether> bins{}, expected_bins{};
    take_bins(found.data(), found.size(), range, bins.data());
    reference::take_bins(found.data(), found.size(), range, expected_bins.data());
    ASSERT_EQ(bins, expected_bins);
  }
}

TEST_P(CascadeTrainingKernel, CutsAreTheReferences) {
  test::Numbers numbers(3);
  for (int trial = 0; trial < 20; ++trial) {
    std::array<std::int32_t, kBins> weights{}, sums{};
    int weight = 0, sum = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
      const int more = i < 5 || i > 250 ? 0 : numbers(0, 4'000'000);
      weight += more;
      sum += numbers(-more, more);
      weights[i] = weight;
      sums[i] = sum;
    }
    std::array<double, kBins> found{}, expected{};
    explained_by_cuts(weights.data(), sums.data(), found.data());
    reference::explained_by_cuts(weights.data(), sums.data(), expected.data());
    for (std::size_t i = 0; i < kBins; ++i) {
      if (weights[i] == 0 || weights[i] == weight) {
        ASSERT_TRUE(std::isnan(found[i]) && std::isnan(expected[i]));
      } else {
        ASSERT_EQ(found[i], expected[i]);
      }
    }
  }
}

}  // namespace
}  // namespace sightline::cascade
