#include "texture/cell_classifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"

namespace sightline::texture {
namespace {

using enum DistanceKind;
using CellCounts = std::vector<std::uint32_t>;

TEST(CellClassifier, DistancesAreThoseOfRecords) {
  Random random(3);
  // 150 cells of a class: two blocks and a part; histograms of 5 and 7 bins, with empty ones.
  std::vector<CellCounts> classes(2);
  for (CellCounts& counts : classes) {
    for (int i = 0; i < 150 * 12; ++i) counts.push_back(static_cast<std::uint32_t>(random.below(4) * 9));
    for (std::size_t i = 0; i < counts.size(); i += 12) counts[i] += 1, counts[i + 5] += 1;
  }
  CellCounts query{4, 0, 9, 1, 0, 2, 0, 0, 5, 0, 1, 8};
  const auto histograms = [](const CellCounts& counts, std::size_t cell) {
    const auto from = counts.begin() + static_cast<std::ptrdiff_t>(12 * cell);
    return std::pair{std::vector<std::uint64_t>(from, from + 5),
                     std::vector<std::uint64_t>(from + 5, from + 12)};
  };
  for (const DistanceKind kind : {chi_square, intersection, hellinger}) {
    const CellClassifier classifier({5, 7}, classes, kind);
    double least[] = {9, 9};
    for (int label = 0; label < 2; ++label) {
      for (std::size_t cell = 0; cell < 150; ++cell) {
        const auto a = histograms(query, 0), b = histograms(classes[label], cell);
        least[label] =
            std::min(least[label], distance(a.first, b.first, kind) + distance(a.second, b.second, kind));
      }
    }
    const CellClass found = classifier.classify(query);
    EXPECT_EQ(found.nearest, least[0] <= least[1] ? 0 : 1);
    EXPECT_EQ(found.second, 1 - found.nearest);
    EXPECT_NEAR(found.distance, least[found.nearest], 1e-5) << to_string(kind);
    EXPECT_NEAR(found.second_distance, least[found.second], 1e-5) << to_string(kind);
  }
}

TEST(CellClassifier, EqualCellsAreAtZeroAndOfEqualClassesTheFirstWins) {
  const std::vector<CellCounts> classes{{0, 8, 0, 8}, {6, 3, 4, 2}, {2, 1, 0, 8}};
  const CellClassifier classifier({2}, classes, chi_square);
  EXPECT_EQ(classifier.classify(CellCounts{4, 2}), (CellClass{1, 2, 0, 0}));
  EXPECT_EQ(classifier.classify(CellCounts{0, 5}), (CellClass{0, 2, 0, 0}));
}

TEST(CellClassifier, LimitLeavesOutOneOfAHundredCells) {
  // Cells of a class are at 0 of each other, but for the last ones.
  const auto class_of = [](int far) {
    CellCounts counts;
    for (int i = 0; i < 100 - far; ++i) counts.insert(counts.end(), {10, 0, 0});
    for (int i = 0; i < far; ++i) counts.insert(counts.end(), {0, i == 0 ? 10U : 0U, i == 0 ? 0U : 10U});
    return counts;
  };
  const std::vector<CellCounts> classes{class_of(1), class_of(2)};
  const CellClassifier classifier({3}, classes, intersection);
  EXPECT_EQ(classifier.limit(0), 0);
  EXPECT_EQ(classifier.limit(1), 1);
  EXPECT_EQ(classifier.known_cells(0), 100u);
}

TEST(CellClassifier, LargeClassesAreThinnedEvenly) {
  CellCounts many;
  for (std::uint32_t i = 0; i < 3 * CellClassifier::kMostCells; ++i) many.insert(many.end(), {i, 6000 - i});
  const CellClassifier classifier({2}, std::vector<CellCounts>{many, {1, 0, 1, 0}}, chi_square);
  EXPECT_EQ(classifier.known_cells(0), CellClassifier::kMostCells);
  EXPECT_EQ(classifier.classify(CellCounts{0, 6000}).distance, 0);
  EXPECT_EQ(classifier.classify(CellCounts{5997, 3}).distance, 0);
  EXPECT_GT(classifier.classify(CellCounts{5998, 2}).distance, 0);
}

TEST(CellClassifier, ClassesWithoutTwoCellsAreNoClasses) {
  const std::vector<CellCounts> one{{1, 1, 2, 2}}, short_one{{1, 1, 2, 2}, {1, 1}};
  EXPECT_THROW(CellClassifier({2}, one, chi_square), std::logic_error);
  EXPECT_THROW(CellClassifier({2}, short_one, chi_square), std::logic_error);
}

}  // namespace
}  // namespace sightline::texture
