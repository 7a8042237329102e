// The histogram and the normalise stage: responses -> square roots of cell histograms -> 8-bit block
// features.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "detectors/filterbank/kernels.hpp"
#include "image/lbp.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::filterbank {
namespace {

using test::first_difference;
using test::Guarded;
using test::kDictionarySizes;
using test::Numbers;

KERNEL_TEST_SUITE(HistogramKernel);
KERNEL_TEST_SUITE(NormaliseKernel);

// Rows of cells in guarded memory.
struct Cells {
  Cells(const Grid& g, int rows)
      : grid(g),
        roots(g.roots_row() * rows),
        patterns(g.patterns_row() * rows),
        totals(g.totals_row() * rows) {}
  CellRow row(int y) {
    return {roots.data() + y * grid.roots_row(), patterns.data() + y * grid.patterns_row(),
            totals.data() + y * grid.totals_row()};
  }
  float& root(int x, int y, int bin) { return row(y).roots[x * grid.bins + bin]; }
  std::uint8_t& pattern(int x, int y, int bin) { return row(y).patterns[x * grid.patterns + bin]; }

  Grid grid;
  Guarded<float> roots;
  Guarded<std::uint8_t> patterns;
  Guarded<std::int32_t> totals;
};

// --- histogram
// --------------------------------------------------------------------------------------------------

TEST_P(HistogramKernel, HandWorked) {
  // Two cells. The left: 32 responses of 2 for bin 0 and 32 of 8 for bin 2, sums 64 and 256. The right: one
  // response of 9.
  Image<std::uint32_t> response_map(16, 8);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 16; ++x)
      response_map.view().at(x, y) = x >= 8  ? pack_response(0, 0)
                                     : y < 4 ? pack_response(2, 0)
                                             : pack_response(8, 2);
  }
  response_map.view().at(15, 7) = pack_response(9, 1);
  const Grid grid({16, 8}, 3);
  ASSERT_EQ(grid.cells_x, 2);
  ASSERT_EQ(grid.bins, 4);
  Cells cells(grid, 1);
  histogram_row(response_map.view(), CellEdges(grid), grid, 0, cells.row(0));
  const auto root = [&](int bin, int cell) { return cells.root(cell, 0, bin); };
  EXPECT_EQ(root(0, 0), 8.0F);
  EXPECT_EQ(root(1, 0), 0.0F);
  EXPECT_EQ(root(2, 0), 16.0F);
  EXPECT_EQ(root(3, 0), 0.0F);
  EXPECT_EQ(root(1, 1), 3.0F);
  EXPECT_EQ(cells.row(0).totals[0], 320);
  EXPECT_EQ(cells.row(0).totals[1], 9);
  EXPECT_EQ(cells.row(0).totals[2], 0);  // padding
}

// The same responses with patterns: the left cell's of three kinds, the right's all the last. They change
// neither the filters' roots nor the totals.
TEST_P(HistogramKernel, PatternsHandWorked) {
  Image<std::uint32_t> response_map(16, 8);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 16; ++x) {
      response_map.view().at(x, y) = x >= 8   ? pack_response(0, 0, kUniformLbpBins - 1)
                                     : y == 3 ? pack_response(65535, 2, 7)
                                              : pack_response(2, 0, x < 2 ? 0 : 57);
    }
  }
  const Grid grid({16, 8}, 3, kUniformLbpBins);
  ASSERT_EQ(grid.patterns, 60);
  ASSERT_EQ(grid.quads(), 4 + 15);
  Cells cells(grid, 1);
  histogram_row(response_map.view(), CellEdges(grid), grid, 0, cells.row(0));
  const auto root = [&](int bin, int cell) { return cells.root(cell, 0, bin); };
  EXPECT_EQ(root(0, 0), std::sqrt(112.0F));
  EXPECT_EQ(root(1, 0), 0.0F);
  EXPECT_EQ(root(2, 0), std::sqrt(8 * 65535.0F));
  EXPECT_EQ(cells.pattern(0, 0, 0), 119);   // 255 * sqrt(14 / 64) = 119.3
  EXPECT_EQ(cells.pattern(0, 0, 7), 90);    // 90.2
  EXPECT_EQ(cells.pattern(0, 0, 57), 207);  // 206.6
  EXPECT_EQ(cells.pattern(0, 0, 58), 0);
  EXPECT_EQ(root(0, 1), 0.0F);
  EXPECT_EQ(cells.pattern(1, 0, 58), 255);
  EXPECT_EQ(cells.pattern(1, 0, 59), 0);
  EXPECT_EQ(cells.row(0).totals[0], 112 + 8 * 65535);
  EXPECT_EQ(cells.row(0).totals[1], 0);
}

// `size` is that of the level whose cells are made, out of responses at `ratio` times its resolution.
void check_histogram(Size size, int filters, unsigned seed, bool extreme, double ratio = 1,
                     int patterns = 0) {
  Numbers numbers(seed);
  Image<std::uint32_t> response_map(std::max(1, static_cast<int>(std::lround(size.width * ratio))),
                                    std::max(1, static_cast<int>(std::lround(size.height * ratio))));
  for (int y = 0; y < response_map.height(); ++y) {
    for (int x = 0; x < response_map.stride(); ++x) {  // what lies beside the image must not count
      const int response = extreme ? 65535 : numbers(0, 3) == 0 ? 0 : numbers(0, 65535);
      const int index = extreme ? filters - 1 : numbers(0, filters - 1);
      const int pattern = patterns == 0 ? 0 : extreme ? patterns - 1 : numbers(0, patterns - 1);
      response_map.view().at(x, y) =
          pack_response(static_cast<std::uint32_t>(response), static_cast<std::uint32_t>(index),
                        static_cast<std::uint32_t>(pattern));
    }
  }
  const Grid grid(size, filters, patterns);
  const CellEdges edges(grid, response_map.view().size(), ratio);
  const std::string what = std::to_string(size.width) + "x" + std::to_string(size.height) + ", " +
                           std::to_string(filters) + " filters, ratio " + std::to_string(ratio);
  for (int y = 0; y < grid.cells_y; ++y) {
    Cells cells(grid, grid.cells_y), expected(grid, grid.cells_y);
    histogram_row(response_map.view(), edges, grid, y, cells.row(y));
    reference::histogram_row(response_map.view(), edges, grid, y, expected.row(y));
    ASSERT_EQ(first_difference(cells.row(y).roots, expected.row(y).roots, grid.cells_x * grid.bins), "")
        << what;
    ASSERT_EQ(first_difference(cells.row(y).patterns, expected.row(y).patterns, grid.cells_x * grid.patterns),
              "")
        << what;
    ASSERT_EQ(first_difference(cells.row(y).totals, expected.row(y).totals, grid.columns()), "") << what;
    const auto only_row = [y](const auto& memory, std::size_t row) {
      return memory.untouched_outside(static_cast<std::ptrdiff_t>(y * row),
                                      static_cast<std::ptrdiff_t>((y + 1) * row));
    };
    ASSERT_TRUE(only_row(cells.roots, grid.roots_row())) << what;
    ASSERT_TRUE(only_row(cells.patterns, grid.patterns_row())) << what;
    ASSERT_TRUE(only_row(cells.totals, grid.totals_row())) << what;
  }
}

TEST_P(HistogramKernel, EqualsReference) {
  for (const int filters : kDictionarySizes) {
    // Cells 0, 1, 2, 15, 16, 17, 31, 33: around the sixteen that are worked on at a time.
    for (const int width : {7, 8, 9, 16, 23, 120, 128, 136, 143, 248, 264}) {
      check_histogram({width, 17}, filters, static_cast<unsigned>(filters * 1000 + width), false);
    }
  }
}

TEST_P(HistogramKernel, CellsOfOtherSizesEqualReference) {
  for (const double ratio : {0.5, 0.701, 0.84, 0.97, 1.05, 1.19, 1.41, 1.73, 2.0}) {
    for (const Size size : {Size{7, 9}, {8, 8}, {23, 17}, {129, 16}, {264, 25}}) {
      for (const int filters : {3, 100, 256})
        check_histogram(size, filters, static_cast<unsigned>(size.width * 100 + filters), false, ratio);
    }
  }
}

TEST_P(HistogramKernel, PatternsEqualReference) {
  for (const int filters : kDictionarySizes) {
    for (const int width : {7, 8, 9, 16, 23, 120, 128, 136, 143, 248, 264}) {
      check_histogram({width, 17}, filters, static_cast<unsigned>(filters * 1000 + width), false, 1,
                      kUniformLbpBins);
    }
  }
}

TEST_P(HistogramKernel, PatternsOfCellsOfOtherSizesEqualReference) {
  for (const double ratio : {0.5, 0.701, 0.84, 0.97, 1.05, 1.19, 1.41, 1.73, 2.0}) {
    for (const Size size : {Size{7, 9}, {8, 8}, {23, 17}, {129, 16}, {264, 25}}) {
      for (const int filters : {3, 100, 256}) {
        check_histogram(size, filters, static_cast<unsigned>(size.width * 100 + filters), false, ratio,
                        kUniformLbpBins);
      }
    }
  }
}

// One cell of 10x9 responses of 2 among others: its sum counts as that of 64.
TEST_P(HistogramKernel, SumsAreScaledToCellsOf64Pixels) {
  Image<std::uint32_t> response_map(20, 18);
  for (int y = 0; y < 18; ++y) {
    for (int x = 0; x < 20; ++x)
      response_map.view().at(x, y) = x >= 10 && y >= 9 ? pack_response(2, 1) : pack_response(7, 0);
  }
  const Grid grid({16, 16}, 2);
  CellEdges edges;
  edges.columns = {0, 10, 20};
  edges.rows = {0, 9, 18};
  Cells cells(grid, 1);
  histogram_row(response_map.view(), edges, grid, 1, cells.row(0));
  EXPECT_NEAR(cells.root(1, 0, 1), std::sqrt(128.0), 1e-5);
  EXPECT_EQ(cells.root(1, 0, 0), 0.0F);
  EXPECT_EQ(cells.row(0).totals[1], 128);
  EXPECT_EQ(cells.row(0).totals[0], 448);
}

TEST_P(HistogramKernel, LargestSums) {  // 64 * 65535 a cell, 256 * 65535 in another size: exact in float
  check_histogram({136, 8}, 100, 1, true, 2);
  check_histogram({136, 8}, 100, 1, true);
  check_histogram({136, 8}, 256, 1, true);
  for (const int filters : {1, 100, 256}) {
    check_histogram({136, 8}, filters, 1, true, 1, kUniformLbpBins);
    check_histogram({136, 8}, filters, 1, true, 2, kUniformLbpBins);
  }
}

// Every count of one pattern, in cells of every size: one of 256, too, which is one more than a byte can be.
TEST_P(HistogramKernel, EveryCountOfPatternsEqualsReference) {
  const Grid grid({32, 8}, 3, kUniformLbpBins);
  CellEdges edges;
  edges.rows = {0, 0};
  for (const int width : {1, 4, 7, 8, 9, 15, 16}) {
    for (const int height : {1, 5, 8, 16}) {
      edges.columns = {0, width, 2 * width, 3 * width, 4 * width};
      edges.rows[1] = height;
      for (int count = 0; count <= width * height; ++count) {
        Image<std::uint32_t> response_map(4 * width, height);
        for (int y = 0; y < height; ++y) {
          for (int x = 0; x < 4 * width; ++x) {
            const bool counted = y * width + x % width < count;  // in the first cell pattern 0, in others ...
            const std::uint32_t pattern = std::array{0U, 15U, 31U, 58U}[x / width];
            response_map.view().at(x, y) = pack_response(1, 0, counted ? pattern : 40);
          }
        }
        Cells cells(grid, 1), expected(grid, 1);
        histogram_row(response_map.view(), edges, grid, 0, cells.row(0));
        reference::histogram_row(response_map.view(), edges, grid, 0, expected.row(0));
        ASSERT_EQ(
            first_difference(cells.row(0).patterns, expected.row(0).patterns, grid.cells_x * grid.patterns),
            "")
            << count << " of " << width << "x" << height;
      }
    }
  }
}

// --- normalise
// --------------------------------------------------------------------------------------------------

// Two rows of cells, of which some are empty.
struct TwoRows : Cells {
  TwoRows(const Grid& g, unsigned seed, int empty_percent) : Cells(g, 2) {
    Numbers numbers(seed);
    std::fill_n(roots.data(), roots.size(), 0.0F);
    std::fill_n(patterns.data(), patterns.size(), std::uint8_t{0});
    std::fill_n(totals.data(), totals.size(), 0);
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < g.cells_x; ++x) {
        if (numbers(0, 99) < empty_percent) continue;
        for (int response_map = 0; response_map < 64; ++response_map)
          add(x, y, numbers(0, g.bins - 1), numbers(0, 9) == 0 ? 65535 : numbers(0, 900));
      }
    }
    finish();
    // A pattern for every pixel of every cell, in runs of a few kinds.
    for (int y = 0; y < 2 && g.patterns > 0; ++y) {
      for (int x = 0; x < g.cells_x; ++x) {
        for (int left = 64; left > 0;) {
          const int count = std::min(left, numbers(1, 64));
          std::uint8_t& feature = pattern(x, y, numbers(0, kUniformLbpBins - 1));
          const float before = static_cast<float>(feature) / kPatternFactor;  // the root of a whole number
          feature = pattern_feature(std::round(before * before) + static_cast<float>(count));
          left -= count;
        }
      }
    }
  }
  // Of a cell of 64 pixels.
  static std::uint8_t pattern_feature(float count) {
    return static_cast<std::uint8_t>(std::lrint(std::sqrt(count) * kPatternFactor));
  }
  // Sums are kept in `roots` until finish().
  void add(int x, int y, int bin, int response) {
    root(x, y, bin) += static_cast<float>(response);
    row(y).totals[x] += response;
  }
  void finish() {
    for (std::size_t i = 0; i < roots.size(); ++i) roots.data()[i] = std::sqrt(roots.data()[i]);
  }
};

int feature(const std::uint8_t* features, const Grid& grid, int x, int cell, int bin) {
  const int quad = (cell * grid.bins + bin) / 4;
  return features[(static_cast<std::ptrdiff_t>(quad) * grid.pitch() + x) * 4 + bin % 4];
}

TEST_P(NormaliseKernel, HandWorked) {
  const Grid grid({32, 16}, 3);  // 4 x 2 cells, 3 blocks
  TwoRows cells(grid, 0, 100);
  std::fill(cells.roots.data(), cells.roots.data() + cells.roots.size(), 0.0F);
  cells.add(0, 0, 0, 25);  // block 0: 25 in each of its cells, each in another bin
  cells.add(1, 0, 1, 25);
  cells.add(0, 1, 2, 25);
  cells.add(1, 1, 0, 25);
  cells.finish();
  Guarded<std::uint8_t> features(grid.features_row());
  normalise_row(cells.row(0), cells.row(1), grid, 0, features.data());
  // Block 0: 255 * sqrt(25 / 100) = 127.5, to even: 128. Block 1: two of 50: 180.3. Block 2 is empty.
  EXPECT_EQ(feature(features.data(), grid, 0, 0, 0), 128);
  EXPECT_EQ(feature(features.data(), grid, 0, 0, 1), 0);
  EXPECT_EQ(feature(features.data(), grid, 0, 1, 1), 128);
  EXPECT_EQ(feature(features.data(), grid, 0, 2, 2), 128);
  EXPECT_EQ(feature(features.data(), grid, 0, 3, 0), 128);
  EXPECT_EQ(feature(features.data(), grid, 1, 0, 1), 180);
  EXPECT_EQ(feature(features.data(), grid, 1, 2, 0), 180);
  for (int cell = 0; cell < 4; ++cell) {
    for (int bin = 0; bin < 4; ++bin) EXPECT_EQ(feature(features.data(), grid, 2, cell, bin), 0);
  }
  // epsilon 525: 255 * sqrt(25 / 625) = 51.
  normalise_row(cells.row(0), cells.row(1), grid, 525, features.data());
  EXPECT_EQ(feature(features.data(), grid, 0, 0, 0), 51);
  EXPECT_EQ(feature(features.data(), grid, 2, 0, 0), 0);
}

// Patterns stay as they are, whatever the filters' responses and epsilon; a block has those of
// its first cell.
TEST_P(NormaliseKernel, PatternsHandWorked) {
  const Grid grid({32, 16}, 3, kUniformLbpBins);  // 4 x 2 cells, 3 blocks
  for (const int epsilon : {0, 1000}) {
    for (const int packed_response : {0, 25}) {
      TwoRows cells(grid, 0, 100);
      std::fill(cells.roots.data(), cells.roots.data() + cells.roots.size(), 0.0F);
      cells.add(0, 0, 0, packed_response);
      cells.finish();
      std::fill_n(cells.patterns.data(), cells.patterns.size(), std::uint8_t{0});
      cells.pattern(0, 0, 0) = 255;
      cells.pattern(1, 0, 57) = 221;
      cells.pattern(1, 0, 58) = 128;
      cells.pattern(2, 0, 5) = 32;
      cells.pattern(3, 0, 5) = 255;  // no block's first
      for (int x = 0; x < 4; ++x) cells.pattern(x, 1, 9) = 255;
      Guarded<std::uint8_t> features(grid.features_row());
      normalise_row(cells.row(0), cells.row(1), grid, epsilon, features.data());
      const auto pattern = [&](int x, int bin) {
        const std::size_t quad = grid.bins + bin / 4;
        return features.data()[(quad * grid.pitch() + x) * 4 + bin % 4];
      };
      EXPECT_EQ(pattern(0, 0), 255);
      EXPECT_EQ(pattern(1, 57), 221);
      EXPECT_EQ(pattern(1, 58), 128);
      EXPECT_EQ(pattern(2, 5), 32);
      EXPECT_EQ(pattern(3, 5), 0);
      for (int x = 0; x < 4; ++x) {
        EXPECT_EQ(pattern(x, 9), 0);
        EXPECT_EQ(pattern(x, 59), 0);
      }
      // 255 * sqrt(25 / 1025) = 39.8
      EXPECT_EQ(feature(features.data(), grid, 0, 0, 0), packed_response == 0 ? 0 : epsilon == 0 ? 255 : 40);
    }
  }
}

TEST_P(NormaliseKernel, OneFullBinIs255) {
  const Grid grid({16, 16}, 9);
  TwoRows cells(grid, 0, 100);
  std::fill(cells.roots.data(), cells.roots.data() + cells.roots.size(), 0.0F);
  cells.add(1, 1, 8, 64 * 65535);
  cells.finish();
  Guarded<std::uint8_t> features(grid.features_row());
  normalise_row(cells.row(0), cells.row(1), grid, 0, features.data());
  EXPECT_EQ(feature(features.data(), grid, 0, 3, 8), 255);
  EXPECT_EQ(feature(features.data(), grid, 0, 3, 7), 0);
}

// Where the sum is the square of a divisor of 510, 255 * r / s is exact, and a tie where r is odd: one
// quotient that is rounded otherwise, or a product with a reciprocal, would tip it.
TEST_P(NormaliseKernel, TiesGoToTheEvenNumber) {
  const Grid grid({16, 16}, 4);
  for (const int s : {2, 6, 10, 30, 34, 102, 170, 510}) {
    for (int r = 1; r < s; r += 2) {
      TwoRows cells(grid, 0, 100);
      std::fill(cells.roots.data(), cells.roots.data() + cells.roots.size(), 0.0F);
      cells.add(0, 0, 1, r * r);
      cells.add(1, 1, 2, s * s - r * r);
      cells.finish();
      Guarded<std::uint8_t> features(grid.features_row());
      normalise_row(cells.row(0), cells.row(1), grid, 0, features.data());
      const int twice = r * 510 / s;  // odd
      const int even = (twice - 1) / 2 % 2 == 0 ? (twice - 1) / 2 : (twice + 1) / 2;
      ASSERT_EQ(feature(features.data(), grid, 0, 0, 1), even) << r << " of " << s;
    }
  }
}

void check_normalise(int patterns) {
  for (const int filters : kDictionarySizes) {
    for (const int cells_x : {1, 2, 3, 8, 15, 16, 17, 31, 32, 33}) {
      for (const int epsilon : {0, 1, 1000, 1 << 20}) {
        for (const int empty : {0, 50, 100}) {
          const Grid grid({cells_x * kCell + 3, 16}, filters, patterns);
          TwoRows cells(grid, static_cast<unsigned>(filters * 100 + cells_x), empty);
          Guarded<std::uint8_t> features(grid.features_row());
          Guarded<std::uint8_t> expected(grid.features_row());
          normalise_row(cells.row(0), cells.row(1), grid, epsilon, features.data());
          reference::normalise_row(cells.row(0), cells.row(1), grid, epsilon, expected.data());
          ASSERT_EQ(first_difference(features.data(), expected.data(), features.size()), "")
              << cells_x << " cells, " << filters << " filters, epsilon " << epsilon << ", " << empty
              << "% empty";
          ASSERT_TRUE(features.untouched_outside(0, static_cast<std::ptrdiff_t>(features.size())));
        }
      }
    }
  }
}

TEST_P(NormaliseKernel, EqualsReference) {
  check_normalise(0);
}

TEST_P(NormaliseKernel, PatternsEqualReference) {
  check_normalise(kUniformLbpBins);
}

// Of features that lie on whole cache lines and elsewhere.
void check_projection(int patterns) {
  for (const int filters : kDictionarySizes) {
    Numbers numbers(static_cast<unsigned>(filters));
    const WindowShape window{3, 4};
    std::vector<std::int8_t> values(static_cast<std::size_t>(window.blocks()) *
                                    (kBlockCells * filters + patterns));
    for (std::int8_t& value : values) value = static_cast<std::int8_t>(numbers(-kMaxWeight, kMaxWeight));
    const PreRejection pre_rejection(PackedWeights(values, window, filters, patterns));
    for (const int cells_x : {1, 2, 15, 16, 17, 33}) {
      const Grid grid({cells_x * kCell, 16}, filters, patterns);
      TwoRows cells(grid, static_cast<unsigned>(filters * 100 + cells_x), 30);
      const auto words = static_cast<std::size_t>(grid.pitch()) * PreRejection::kPairs;
      Guarded<std::uint8_t> expected(grid.features_row());
      Guarded<std::int32_t> expected_components(words);
      reference::normalise_row(cells.row(0), cells.row(1), grid, 7, expected.data());
      reference::project_row(expected.data(), grid, pre_rejection, expected_components.data());
      for (const std::ptrdiff_t offset : {0, 4}) {
        Guarded<std::uint8_t> features(expected.size() + 64);
        Guarded<std::int32_t> components(words);
        normalise_and_project_row(cells.row(0), cells.row(1), grid, 7, pre_rejection,
                                  features.data() + offset, components.data());
        ASSERT_EQ(first_difference(features.data() + offset, expected.data(), expected.size()), "")
            << cells_x << " cells, " << filters << " filters";
        ASSERT_EQ(first_difference(components.data(), expected_components.data(), words), "")
            << cells_x << " cells, " << filters << " filters";
        ASSERT_TRUE(
            features.untouched_outside(offset, offset + static_cast<std::ptrdiff_t>(expected.size())));
        ASSERT_TRUE(components.untouched_outside(0, static_cast<std::ptrdiff_t>(words)));
      }
    }
  }
}

TEST_P(NormaliseKernel, WithProjectionEqualsReference) {
  check_projection(0);
}

TEST_P(NormaliseKernel, PatternsWithProjectionEqualReference) {
  check_projection(kUniformLbpBins);
}

// Large sums whose feature lies as close to a tie as integers can bring it, where the last bit of the factor
// decides.
TEST_P(NormaliseKernel, EqualsReferenceNearTies) {
  const Grid grid({16, 16}, 4);
  constexpr int kLargest = 64 * 65535;
  Numbers numbers(9);
  for (int i = 0; i < 3000; ++i) {
    const int sum = numbers(1'000'000, 4 * kLargest);
    const double share = (numbers(20, 254) + 0.5) / 255;
    const int packed_response = static_cast<int>(std::lround(share * share * sum));
    if (packed_response > kLargest || sum - packed_response > 3 * kLargest) continue;
    TwoRows cells(grid, 0, 100);
    std::fill(cells.roots.data(), cells.roots.data() + cells.roots.size(), 0.0F);
    cells.add(0, 0, 1, packed_response);
    cells.add(1, 0, 2, (sum - packed_response) / 3);
    cells.add(0, 1, 3, (sum - packed_response) / 3);
    cells.add(1, 1, 0, sum - packed_response - 2 * ((sum - packed_response) / 3));
    cells.finish();
    Guarded<std::uint8_t> features(grid.features_row());
    Guarded<std::uint8_t> expected(grid.features_row());
    normalise_row(cells.row(0), cells.row(1), grid, 0, features.data());
    reference::normalise_row(cells.row(0), cells.row(1), grid, 0, expected.data());
    ASSERT_EQ(first_difference(features.data(), expected.data(), features.size()), "")
        << packed_response << " of " << sum;
  }
}

// The pair sums of the classifier rely on it; see kMaxWeight.
TEST_P(NormaliseKernel, TwoFeaturesOfABlockHaveANormOfAtMost255Point8) {
  const Grid grid({33 * kCell, 16}, 3, kUniformLbpBins);
  for (unsigned seed = 0; seed < 50; ++seed) {
    TwoRows cells(grid, seed, 60);
    Guarded<std::uint8_t> features(grid.features_row());
    normalise_row(cells.row(0), cells.row(1), grid, 0, features.data());
    for (std::size_t i = 0; i < features.size(); i += 2) {
      const int a = features.data()[i];
      const int b = features.data()[i + 1];
      ASSERT_LE(a * a + b * b, 255.8 * 255.8) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace sightline::filterbank
