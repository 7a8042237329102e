// The classify stage: features -> window scores.
#include <algorithm>
#include <cmath>

#include "detectors/filterbank/kernels.hpp"
#include "image/lbp.hpp"
#include "kernels/kernel_test.hpp"
#include "support/errors.hpp"

namespace sightline::filterbank {
namespace {

using test::Guarded;
using test::Numbers;

KERNEL_TEST_SUITE(ClassifyKernel);

enum class Fill { random, extreme };

// Features as normalise_row makes them: two neighbours have a norm of at most 255.8.
std::vector<std::uint8_t> make_features(const Grid& grid, Fill fill, Numbers& numbers) {
  std::vector<std::uint8_t> features(grid.features_row() * std::max(grid.blocks_y(), 0) + 4 * kLanePad, 0);
  constexpr int kExtremes[][2] = {{180, 181}, {181, 180}, {255, 16}, {16, 255}, {255, 0}, {0, 0}};
  for (std::size_t i = 0; i + 1 < features.size(); i += 2) {
    if (fill == Fill::extreme) {
      const int* pair = kExtremes[numbers(0, 5)];
      features[i] = static_cast<std::uint8_t>(pair[0]);
      features[i + 1] = static_cast<std::uint8_t>(pair[1]);
    } else if (numbers(0, 2) != 0) {
      features[i] = static_cast<std::uint8_t>(numbers(0, 180));
      features[i + 1] = static_cast<std::uint8_t>(numbers(0, 180));
    }
  }
  return features;
}

std::vector<std::int8_t> make_weights(WindowShape window, int filters, Fill fill, Numbers& numbers,
                                      int patterns = 0) {
  std::vector<std::int8_t> weights(static_cast<std::size_t>(window.blocks()) *
                                   (kBlockCells * filters + patterns));
  const int sign = numbers(0, 2) - 1;  // all negative, mixed, all positive
  for (std::int8_t& w : weights) {
    const int side = sign != 0 ? sign : numbers(0, 1) * 2 - 1;
    w = static_cast<std::int8_t>(fill == Fill::extreme ? side * kMaxWeight
                                                       : numbers(-kMaxWeight, kMaxWeight));
  }
  return weights;
}

void check(Size cells, WindowShape window, int filters, Fill fill, int y_begin, int y_end, unsigned seed,
           int patterns = 0) {
  Numbers numbers(seed);
  const Grid grid({cells.width * kCell, cells.height * kCell}, filters, patterns);
  const std::vector<std::uint8_t> features = make_features(grid, fill, numbers);
  const PackedWeights weights(make_weights(window, filters, fill, numbers, patterns), window, filters,
                              patterns);
  const std::ptrdiff_t pitch = grid.pitch();
  const int windows_x = std::max(grid.cells_x - window.cells_x + 1, 0);
  const int windows_y = std::max(grid.cells_y - window.cells_y + 1, 0);
  Guarded<std::int32_t> scores(pitch * windows_y), expected(pitch * windows_y);
  for (int y = y_begin; y < y_end; ++y) {  // the kernel adds
    for (int x = 0; x < pitch; ++x)
      scores.data()[y * pitch + x] = expected.data()[y * pitch + x] = numbers(-9999, 9999);
  }
  classify_rows(features.data(), grid, weights, y_begin, y_end, scores.data());
  reference::classify_rows(features.data(), grid, weights, y_begin, y_end, expected.data());
  for (int y = y_begin; y < y_end; ++y) {
    ASSERT_EQ(test::first_difference(scores.data() + y * pitch, expected.data() + y * pitch, windows_x), "")
        << cells.width << "x" << cells.height << " cells, window " << window.cells_x << "x" << window.cells_y
        << ", " << filters << " filters, row " << y << " of " << y_begin << " to " << y_end;
  }
  ASSERT_TRUE(scores.untouched_outside(y_begin * pitch, y_end * pitch));
}

TEST_P(ClassifyKernel, HandWorked) {
  // A window of one block, and two filters (two bins more are always empty).
  const WindowShape window{2, 2};
  const Grid grid({3 * kCell, 2 * kCell}, 2);
  std::vector<std::uint8_t> features(grid.features_row() + 4 * kLanePad, 0);
  const auto set = [&](int x, int cell, int bin, int value) {
    features[(static_cast<std::size_t>(cell) * grid.pitch() + x) * 4 + bin] =
        static_cast<std::uint8_t>(value);
  };
  set(0, 0, 0, 10);
  set(0, 1, 1, 20);
  set(0, 2, 0, 30);
  set(0, 3, 1, 40);
  set(1, 0, 0, 255);
  const std::vector<std::int8_t> weights{1, 7, 7, -2, 3, 7, 7, 90};  // [cell][filter]
  Guarded<std::int32_t> scores(grid.pitch());
  scores.data()[0] = 5;
  scores.data()[1] = -1;
  classify_rows(features.data(), grid, PackedWeights(weights, window, 2), 0, 1, scores.data());
  EXPECT_EQ(scores.data()[0], 5 + 10 - 40 + 90 + 3600);
  EXPECT_EQ(scores.data()[1], -1 + 255);
}

TEST_P(ClassifyKernel, PatternsHandWorked) {
  // Two filters and five patterns: a block's patterns follow its four cells, in two quads of their own.
  const WindowShape window{3, 2};
  const Grid grid({4 * kCell, 2 * kCell}, 2, 5);
  ASSERT_EQ(grid.quads(), 4 + 2);
  std::vector<std::uint8_t> features(grid.features_row() + 4 * kLanePad, 0);
  const auto set = [&](int x, int quad, int i, int value) {
    features[(static_cast<std::size_t>(quad) * grid.pitch() + x) * 4 + i] = static_cast<std::uint8_t>(value);
  };
  set(0, 3, 1, 2);   // block 0: the second filter in the last cell,
  set(0, 4, 0, 3);   // the first pattern
  set(0, 5, 0, 5);   // and the last
  set(1, 5, 0, 7);   // the next block's last pattern
  set(2, 4, 3, 11);  // and the one after's fourth
  const std::vector<std::int8_t> weights{
      0, 0, 0, 0, 0, 0, 0, 90, 10, 0, 0, 0,  -20,  // [cell][filter], patterns
      1, 1, 1, 1, 1, 1, 1, 1,  0,  0, 0, -3, 40};
  Guarded<std::int32_t> scores(grid.pitch());
  scores.data()[0] = scores.data()[1] = 0;
  classify_rows(features.data(), grid, PackedWeights(weights, window, 2, 5), 0, 1, scores.data());
  EXPECT_EQ(scores.data()[0], 2 * 90 + 3 * 10 - 5 * 20 + 7 * 40);
  EXPECT_EQ(scores.data()[1], -7 * 20 - 11 * 3);
}

TEST_P(ClassifyKernel, Patterns) {
  for (const int filters : {1, 25, 100, 255, 256}) {
    for (const Fill fill : {Fill::random, Fill::extreme})
      check({19, 18}, {8, 16}, filters, fill, 0, 3, static_cast<unsigned>(filters), kUniformLbpBins);
  }
  for (int cells_x = 2; cells_x <= 50; ++cells_x)
    check({cells_x, 6}, {3, 4}, 3, Fill::random, 0, 3, static_cast<unsigned>(cells_x), kUniformLbpBins);
}

TEST_P(ClassifyKernel, EveryDictionarySize) {
  for (const int filters : {1, 3, 9, 25, 70, 100, 255, 256}) {
    for (const Fill fill : {Fill::random, Fill::extreme}) {
      check({19, 18}, {8, 16}, filters, fill, 0, 3, static_cast<unsigned>(filters));
    }
  }
}

TEST_P(ClassifyKernel, EveryWidth) {
  for (int cells_x = 2; cells_x <= 50; ++cells_x) {
    check({cells_x, 6}, {3, 4}, 3, Fill::random, 0, 3, static_cast<unsigned>(cells_x));
    check({cells_x, 17}, {8, 16}, 3, Fill::extreme, 0, 2, static_cast<unsigned>(cells_x));
  }
}

TEST_P(ClassifyKernel, EveryRangeOfRows) {
  constexpr int kRows = 13;  // more than a tile of eight
  for (int begin = 0; begin <= kRows; ++begin) {
    for (int end = begin; end <= kRows; ++end) {
      check({12, kRows + 4}, {4, 5}, 5, Fill::random, begin, end, static_cast<unsigned>(begin * 100 + end));
    }
  }
}

TEST_P(ClassifyKernel, OtherWindows) {
  for (const WindowShape window : {WindowShape{2, 2}, {2, 16}, {16, 2}, {3, 5}, {16, 8}, {24, 24}, {64, 2}}) {
    for (const int extra : {0, 1, 15, 16, 17}) {
      const int rows = 1 + extra;
      check({window.cells_x + extra, window.cells_y + extra}, window, 6, Fill::random, 0, rows, 7);
      check({window.cells_x + extra, window.cells_y + extra}, window, 6, Fill::extreme, extra / 2, rows, 8);
    }
  }
}

TEST_P(ClassifyKernel, TooFewCellsForAWindow) {
  // Enough rows, too few columns: nothing may be written, whatever the range of rows.
  const Grid grid({7 * kCell, 20 * kCell}, 9);
  Numbers numbers(1);
  const WindowShape window{8, 16};
  const std::vector<std::uint8_t> features = make_features(grid, Fill::random, numbers);
  const PackedWeights weights(make_weights(window, 9, Fill::random, numbers), window, 9);
  Guarded<std::int32_t> scores(static_cast<std::size_t>(grid.pitch()) * 5);
  classify_rows(features.data(), grid, weights, 0, 5, scores.data());
  EXPECT_TRUE(scores.untouched_outside(0, 0));
}

TEST(PackedWeights, RefusesWhatThePairSumsCannotHold) {
  const WindowShape window{2, 2};
  for (const int bad : {-128, -91, 91, 127}) {
    std::vector<std::int8_t> weights(4, 0);
    weights[2] = static_cast<std::int8_t>(bad);
    test::expect_error(ExitCode::model, "weight 2", [&] { PackedWeights(weights, window, 1); });
  }
  EXPECT_NO_THROW(PackedWeights(std::vector<std::int8_t>{-90, 90, 0, 1}, window, 1));
}

// Words of four weights: a cell's or the patterns' last ones may be filled up with zeros.
TEST(PackedWeights, PatternsFollowTheCellsOfTheirBlock) {
  const WindowShape window{2, 3};  // two blocks, one below the other
  std::vector<std::int8_t> weights;
  for (int i = 0; i < 2 * (4 * 5 + 6); ++i) weights.push_back(static_cast<std::int8_t>(i - 20));
  const PackedWeights packed(weights, window, 5, 6);
  ASSERT_EQ(packed.quads(), 4 * 2 + 2);
  const auto unpacked = [&](int block, int feature) {
    return static_cast<std::int8_t>(packed.row(block)[feature / 4] >> (8 * (feature % 4)));
  };
  for (int block = 0; block < 2; ++block) {
    const std::int8_t* weight = weights.data() + static_cast<std::ptrdiff_t>(block) * 26;
    for (int cell = 0; cell < 4; ++cell) {
      for (int bin = 0; bin < 8; ++bin)
        EXPECT_EQ(unpacked(block, cell * 8 + bin), bin < 5 ? weight[cell * 5 + bin] : 0);
    }
    for (int pattern = 0; pattern < 8; ++pattern)
      EXPECT_EQ(unpacked(block, 32 + pattern), pattern < 6 ? weight[20 + pattern] : 0);
    for (int quad = 0; quad < packed.quads(); ++quad) {
      EXPECT_EQ(packed.columns(block)[quad * packed.columns_pitch()], packed.row(block)[quad]);
      EXPECT_EQ(packed.columns(block)[quad * packed.columns_pitch() + 1], 0);
    }
  }
  weights.back() = 91;
  EXPECT_THROW(PackedWeights(weights, window, 5, 6), Error);
}

TEST(BlockEnergies, AreTheSquaredLengths) {
  const Grid grid({17 * kCell, 2 * kCell}, 5, kUniformLbpBins);
  Numbers numbers(3);
  const std::vector<std::uint8_t> features = make_features(grid, Fill::extreme, numbers);
  Guarded<std::int32_t> energies(grid.pitch());
  block_energies(features.data(), grid, energies.data());
  for (int x = 0; x < grid.pitch(); ++x) {
    int sum = 0;
    for (int i = 0; i < 4 * grid.quads(); ++i) {
      const int value = features[(static_cast<std::size_t>(i / 4) * grid.pitch() + x) * 4 + i % 4];
      sum += value * value;
    }
    ASSERT_EQ(energies.data()[x], sum) << x;
  }
  EXPECT_TRUE(energies.untouched_outside(0, grid.pitch()));
}

// --- pre-rejection
// -------------------------------------------------------------------------------------------------

// Features whose blocks are as long as normalise_row makes them, at most.
std::vector<std::uint8_t> sparse_features(const Grid& grid, Numbers& numbers) {
  std::vector<std::uint8_t> features(grid.features_row() * std::max(grid.blocks_y(), 0) + 4 * kLanePad, 0);
  for (int y = 0; y < grid.blocks_y(); ++y) {
    for (int x = 0; x < grid.pitch(); ++x) {
      for (int i = 0; i < 4; ++i) {
        const int feature = numbers(0, 4 * grid.quads() - 1);
        features[y * grid.features_row() + (static_cast<std::size_t>(feature / 4) * grid.pitch() + x) * 4 +
                 feature % 4] = static_cast<std::uint8_t>(numbers(0, 127));
      }
    }
  }
  return features;
}

void check_pre_rejection(Size cells, WindowShape window, int filters, int y_begin, int y_end, unsigned seed,
                         int patterns = 0) {
  SCOPED_TRACE(std::to_string(cells.width) + "x" + std::to_string(cells.height) + " cells, window " +
               std::to_string(window.cells_x) + "x" + std::to_string(window.cells_y) + ", " +
               std::to_string(filters) + " filters");
  Numbers numbers(seed);
  const Grid grid({cells.width * kCell, cells.height * kCell}, filters, patterns);
  const std::vector<std::uint8_t> features = sparse_features(grid, numbers);
  const PackedWeights weights(make_weights(window, filters, Fill::random, numbers, patterns), window, filters,
                              patterns);
  const PreRejection pre_rejection(weights);
  const std::ptrdiff_t pitch = grid.pitch();
  const std::ptrdiff_t row = pitch * PreRejection::kPairs;
  // The vector of slack is what the last row of the detector's has.
  Guarded<std::int32_t> components(row * grid.blocks_y()), expected(row * grid.blocks_y());
  for (int y = 0; y < grid.blocks_y(); ++y) {
    const std::uint8_t* from = features.data() + y * grid.features_row();
    project_row(from, grid, pre_rejection, components.data() + y * row);
    reference::project_row(from, grid, pre_rejection, expected.data() + y * row);
  }
  ASSERT_EQ(test::first_difference(components.data(), expected.data(), components.size()), "");
  ASSERT_TRUE(components.untouched_outside(0, static_cast<std::ptrdiff_t>(components.size())));

  const int windows_x = std::max(grid.cells_x - window.cells_x + 1, 0);
  const int windows_y = std::max(grid.cells_y - window.cells_y + 1, 0);
  Guarded<std::int32_t> sums(pitch * windows_y), expected_sums(pitch * windows_y);
  for (int i = static_cast<int>(y_begin * pitch); i < y_end * pitch; ++i)
    sums.data()[i] = expected_sums.data()[i] = numbers(-9999, 9999);
  estimate_rows(components.data(), grid, pre_rejection, y_begin, y_end, sums.data());
  reference::estimate_rows(components.data(), grid, pre_rejection, y_begin, y_end, expected_sums.data());
  for (int y = y_begin; y < y_end; ++y) {
    ASSERT_EQ(test::first_difference(sums.data() + y * pitch, expected_sums.data() + y * pitch, windows_x),
              "");
  }
  ASSERT_TRUE(sums.untouched_outside(y_begin * pitch, y_end * pitch));

  // Single windows, wherever they begin, are those of whole rows.
  for (int y = y_begin; y < y_end; ++y) {
    std::vector<std::int32_t> scores(pitch * windows_y, 3);
    reference::classify_rows(features.data(), grid, weights, y, y + 1, scores.data());
    for (int x = 0; x < windows_x;) {
      std::vector<int> columns;
      for (int most = numbers(1, kWindowsAtOnce); most > 0 && x < windows_x; --most, x += numbers(1, 5))
        columns.push_back(x);
      Guarded<std::int32_t> few(columns.size());
      classify_windows(features.data(), grid, weights, columns, y, few.data());
      for (std::size_t i = 0; i < columns.size(); ++i)
        ASSERT_EQ(few.data()[i], scores[y * pitch + columns[i]] - 3) << columns[i];
      ASSERT_TRUE(few.untouched_outside(0, static_cast<std::ptrdiff_t>(columns.size())));
    }
  }
}

TEST_P(ClassifyKernel, ScreenAndSingleWindowsEqualReference) {
  for (const int filters : {1, 3, 25, 100, 256})
    check_pre_rejection({21, 19}, {8, 16}, filters, 0, 4, static_cast<unsigned>(filters));
  for (const WindowShape window : {WindowShape{2, 2}, {2, 16}, {16, 2}, {3, 5}, {7, 8}, {9, 3}, {10, 4}}) {
    for (const int extra : {0, 1, 15, 16, 17, 40}) {
      const Size cells{window.cells_x + extra, window.cells_y + 10};
      check_pre_rejection(cells, window, 5, 0, 11, static_cast<unsigned>(extra));
      check_pre_rejection(cells, window, 5, 3, 8, static_cast<unsigned>(extra + 100));
    }
  }
}

TEST_P(ClassifyKernel, ScreenAndSingleWindowsWithPatternsEqualReference) {
  for (const int filters : {1, 25, 256})
    check_pre_rejection({21, 19}, {8, 16}, filters, 0, 4, static_cast<unsigned>(filters), kUniformLbpBins);
  for (const WindowShape window : {WindowShape{2, 2}, {3, 5}, {9, 3}}) {
    for (const int extra : {0, 1, 15, 17}) {
      const Size cells{window.cells_x + extra, window.cells_y + 10};
      check_pre_rejection(cells, window, 5, 3, 8, static_cast<unsigned>(extra), kUniformLbpBins);
    }
  }
}

// Weights that are combinations of few rows: the estimate is the score but for its rounding.
TEST(PreRejection, WeightsOfLowRankAreEstimatedClosely) {
  Numbers numbers(7);
  const WindowShape window{6, 9};
  constexpr int kFilters = 20;
  constexpr int kBlock = kBlockCells * kFilters;
  std::vector<std::vector<int>> rows(3, std::vector<int>(kBlock));
  for (auto& values : rows) {
    for (int& value : values) value = numbers(-9, 9);
  }
  std::vector<std::int8_t> values;
  for (int block = 0; block < window.blocks(); ++block) {
    const int factors[] = {numbers(-3, 3), numbers(-3, 3), numbers(-3, 3)};
    for (int i = 0; i < kBlock; ++i) {
      values.push_back(static_cast<std::int8_t>(factors[0] * rows[0][i] + factors[1] * rows[1][i] +
                                                factors[2] * rows[2][i]));
    }
  }
  const PackedWeights weights(values, window, kFilters);
  const PreRejection pre_rejection(weights);
  const Grid grid({30 * kCell, 14 * kCell}, kFilters);
  const std::vector<std::uint8_t> features = sparse_features(grid, numbers);
  const std::ptrdiff_t pitch = grid.pitch();
  std::vector<std::int32_t> components(pitch * PreRejection::kPairs * grid.blocks_y());
  for (int y = 0; y < grid.blocks_y(); ++y) {
    project_row(features.data() + y * grid.features_row(), grid, pre_rejection,
                components.data() + y * pitch * PreRejection::kPairs);
  }
  const int windows_y = grid.cells_y - window.cells_y + 1;
  std::vector<std::int32_t> scores(pitch * windows_y), sums(pitch * windows_y);
  classify_rows(features.data(), grid, weights, 0, windows_y, scores.data());
  estimate_rows(components.data(), grid, pre_rejection, 0, windows_y, sums.data());
  double error = 0, energy = 0;
  for (int y = 0; y < windows_y; ++y) {
    for (int x = 0; x <= grid.cells_x - window.cells_x; ++x) {
      const double score = scores[y * pitch + x];
      error += std::pow(score - sums[y * pitch + x] * pre_rejection.unit(), 2);
      energy += score * score;
    }
  }
  EXPECT_GT(energy, 0);
  EXPECT_LT(std::sqrt(error / energy), 0.02);
}

// What machines must agree on.
TEST(PreRejection, OfKnownWeights) {
  const WindowShape window{2, 3};
  const std::vector<std::int8_t> values{30, 0, 0, 0, -60, 0, 0, 0, 10, 0, 0, 0, -20, 0, 0, 0};
  const PreRejection pre_rejection(PackedWeights(values, window, 2));
  // Two rows that are multiples of one: its largest coefficient is kMaxWeight in size, and nothing else is
  // there.
  ASSERT_EQ(pre_rejection.basis().size(), 4U * PreRejection::kRank);
  int sign = 0;
  for (int quad = 0; quad < 4; ++quad) {
    const auto first = static_cast<std::int8_t>(pre_rejection.basis()[quad * PreRejection::kRank]);
    if (quad == 0) sign = first > 0 ? 1 : -1;
    EXPECT_EQ(first * sign, quad == 0 ? 45 : quad == 2 ? -90 : 0) << quad;
  }
  const std::int32_t upper = pre_rejection.weights().row(0)[0];
  const std::int32_t lower = pre_rejection.weights().row(1)[0];
  EXPECT_EQ(static_cast<std::int16_t>(upper) * sign, 1000);
  EXPECT_NEAR(static_cast<std::int16_t>(lower) * sign, 333, 1);
}

}  // namespace
}  // namespace sightline::filterbank
