// The scan's SIMD form against the scalar reference, on random models and pictures, with every instruction
// set that the machine has.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/census_model.hpp"
#include "kernels/kernel_test.hpp"
#include "kernels/scan_cases.hpp"

namespace sightline::census {
namespace {

KERNEL_TEST_SUITE(CensusKernel);

// A scratch with canaries behind what lists of so many windows need.
struct GuardedScratch : ScanScratch {
  explicit GuardedScratch(std::size_t tile_windows) : windows(tile_windows) {
    test::guard(places, windows);
    test::guard(sums, windows);
  }
  bool is_intact() const { return test::is_intact(places, windows) && test::is_intact(sums, windows); }
  std::size_t windows;
};

using Case = test::ScanCase<WindowTile>;
const std::vector<Case> kCases =
    test::scan_cases<WindowTile>(PackedModel::kTileColumns, PackedModel::kTileRows);

void expect_codes(const Case& one, GrayView picture) {
  ScanScratch scratch;
  make_codes(picture, one.tile, one.window, kMostCell, scratch);
  for (int cell = 1; cell <= kMostCell; ++cell) {
    const int side = kCensusSide * cell;
    for (int y = 0; y < one.tile.rows + one.window.height - side; ++y) {
      for (int x = 0; x < one.tile.columns + one.window.width - side; ++x) {
        const int at = (cell - 1) * PackedModel::kPlane + y * PackedModel::kStride + x;
        const int code = census_code(picture, one.tile.x + x, one.tile.y + y, cell);
        ASSERT_EQ(int{scratch.bytes[at]}, code / 8) << x << ", " << y << ", cells of " << cell;
        ASSERT_EQ(int{scratch.bits[at]}, 1 << code % 8) << x << ", " << y << ", cells of " << cell;
      }
    }
  }
}

TEST_P(CensusKernel, CodesAreTheReferences) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.text());
    const Image<std::uint8_t> picture = one.picture(3);
    expect_codes(one, picture.view());
  }
}

// Where a pixel is the mean, or a ninth of a step from it, and at both ends of the range.
TEST_P(CensusKernel, CodesAreExactWherePixelsAreNearTheMean) {
  const Case one{{24, 24}, {0, 0, 200, 60}};
  for (const int base : {0, 1, 100, 252, 253}) {
    test::Numbers numbers(static_cast<unsigned>(base));
    Image<std::uint8_t> picture = one.picture(1);
    for (int y = 0; y < picture.height(); ++y) {
      for (int x = 0; x < picture.width(); ++x)
        picture.view().at(x, y) = static_cast<std::uint8_t>(base + numbers(0, 2));
    }
    expect_codes(one, std::as_const(picture).view());
  }
}

void expect_windows(const Case& one, const Model& model, std::int32_t lowest, int early_stages,
                    std::size_t& found) {
  SCOPED_TRACE(one.text() + ", lowest " + std::to_string(lowest) + ", " + std::to_string(early_stages) +
               " stages side by side");
  const std::vector<std::int32_t> margins(model.views.size(), lowest);
  const PackedModel packed(model, margins);
  const Image<std::uint8_t> picture = one.picture(4);
  std::vector<Accepted> expected, got;
  std::vector<std::int64_t> expected_left(model.stages.size()), left = expected_left;
  reference::scan_tile(model, margins, picture.view(), one.tile, expected, expected_left);
  GuardedScratch scratch(static_cast<std::size_t>(one.tile.columns) *
                         static_cast<std::size_t>(one.tile.rows));
  scan_tile(packed, picture.view(), one.tile, early_stages, scratch, got, left);
  ASSERT_EQ(got, expected);
  ASSERT_EQ(left, expected_left);
  EXPECT_TRUE(scratch.is_intact());
  found += got.size();
}

TEST_P(CensusKernel, WindowsAreTheReferences) {
  std::size_t found = 0;
  for (const Case& one : kCases) {
    const Model model = drawn_model(2, {{4, 9, 30}, one.window, 2});
    expect_windows(one, model, 0, 2, found);
    if (one.tile.rows == PackedModel::kTileRows) continue;  // one is enough
    for (const std::int32_t lowest : {-1'000'000, -40, 60, 1'000'000}) {
      for (const int early_stages : {1, 9}) expect_windows(one, model, lowest, early_stages, found);
    }
  }
  EXPECT_GT(found, 1000U);
}

// Whether sums and weights fit bytes or not.
TEST_P(CensusKernel, WeightsOfAnySizeAreTheReferences) {
  std::size_t found = 0;
  const Case one{{24, 24}, {3, 1, 90, 40}};
  for (const int weight : {1, 127, 254, 255, 400, kMaxWeight}) {
    for (const std::vector<int>& stages : {std::vector<int>{1}, {1, 1}, {3, 2, 5}})
      expect_windows(one, drawn_model(5, {stages, {24, 24}, 1, 2, weight}), 0, 3, found);
  }
  EXPECT_GT(found, 1000U);
}

// More weights of neighbouring places than sums of a few bits have room for.
TEST_P(CensusKernel, ManyHeavyWeightsAreTheReferences) {
  std::size_t found = 0;
  const Case one{{8, 8}, {3, 1, 90, 40}};
  for (const int weight : {255, 4000, kMaxWeight})
    expect_windows(one, drawn_model(5, {{60, 200}, {8, 8}, 2, 2, weight}), 0, 3, found);
  EXPECT_GT(found, 1000U);
}

// Memory that served a model with cells serves one without, and the other way round.
TEST_P(CensusKernel, ModelsWithAndWithoutCellsShareAScratch) {
  const Case one{{24, 24}, {3, 1, 90, 40}};
  const Image<std::uint8_t> picture = one.picture(4);
  const std::int32_t lowest[] = {0};
  ScanScratch scratch;
  for (const int most_cell : {1, 2, 1}) {
    const Model model = drawn_model(6, {{4, 9, 30}, one.window, 1, most_cell});
    std::vector<Accepted> expected, got;
    reference::scan_tile(model, lowest, picture.view(), one.tile, expected);
    scan_tile(PackedModel(model, lowest), picture.view(), one.tile, 2, scratch, got);
    EXPECT_EQ(got, expected);
    EXPECT_GT(got.size(), 50U);
  }
}

TEST(CensusPacking, WeightsThatRejectAloneFitBytesToo) {
  Model model = drawn_model(1, {{2, 1}});
  model.weak[0].weight = kMaxWeight;
  model.stages[0].threshold = 254;
  const std::int32_t lowest[] = {0};
  const PackedModel packed(model, lowest);
  EXPECT_TRUE(packed.fits_bytes(0));
  EXPECT_EQ(packed.packed_stage(0)[0].weight, 255);
  EXPECT_FALSE(packed.fits_bytes(1)) << "the last stage's sum is wanted";
  model.stages[0].threshold = 255;
  EXPECT_FALSE(PackedModel(model, lowest).fits_bytes(0));
}

}  // namespace
}  // namespace sightline::census
