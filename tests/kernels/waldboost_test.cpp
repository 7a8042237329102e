// The scan's SIMD form against the scalar reference, on random models and pictures, with every instruction
// set that the machine has.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "detectors/waldboost/ranks.hpp"
#include "detectors/waldboost/scan.hpp"
#include "image/integral_sheet.hpp"
#include "kernels/kernel_test.hpp"
#include "kernels/scan_cases.hpp"
#include "support/cascade.hpp"
#include "support/waldboost.hpp"

namespace sightline::waldboost {
namespace {

KERNEL_TEST_SUITE(WaldboostKernel);

// A scratch with canaries behind what lists of so many windows need.
struct GuardedScratch : ScanScratch {
  explicit GuardedScratch(std::size_t tile_windows) : windows(tile_windows) {
    test::guard(codes, kPlaces);
    test::guard(words, kPlaces + kSheetSlack);
    test::guard(places, windows);
    test::guard(sums, windows);
  }
  // Whether the canaries are as they were. (Those of block_sums cannot be told apart: its slack is written.)
  bool is_intact() const {
    return test::is_intact(codes, kPlaces) && test::is_intact(words, kPlaces + kSheetSlack) &&
           test::is_intact(places, windows) && test::is_intact(sums, windows);
  }

  static constexpr std::size_t kPlaces = PackedModel::kPlanes * PackedModel::kPlane;
  std::size_t windows;
};

using Case = test::ScanCase<Tile>;
const std::vector<Case> kCases = test::scan_cases<Tile>(PackedModel::kTileColumns, PackedModel::kTileRows);

TEST_P(WaldboostKernel, CodesAreTheReferences) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.text());
    const Model model = test::random_waldboost(1, 12, one.window);
    const PackedModel packed(model);
    const Image<std::uint8_t> picture = one.picture(3);
    GuardedScratch scratch(1);
    make_codes(packed, picture.view(), one.tile, scratch);
    for (int plane = 0; plane < PackedModel::kPlanes; ++plane) {
      if (!packed.uses_plane(plane)) continue;
      Feature f;
      f.block_width = static_cast<std::uint8_t>(plane % kMaxBlock + 1);
      f.block_height = static_cast<std::uint8_t>(plane / kMaxBlock + 1);
      for (int y = 0; y < one.tile.rows + one.window.height - kGrid * f.block_height; ++y) {
        for (int x = 0; x < one.tile.columns + one.window.width - kGrid * f.block_width; ++x) {
          const auto at =
              static_cast<std::size_t>(plane * PackedModel::kPlane + y * PackedModel::kStride + x);
          ASSERT_EQ(int{scratch.codes[at]},
                    reference::code(model.kind, f, picture.view(), one.tile.x + x, one.tile.y + y))
              << "plane " << plane << " at " << x << ", " << y;
        }
      }
    }
    EXPECT_TRUE(scratch.is_intact());
  }
}

TEST_P(WaldboostKernel, WindowsAreTheReferences) {
  std::map<FeatureKind, std::size_t> found;
  for (const Case& one : kCases) {
    for (const FeatureKind kind : kFeatureKinds) {
      for (const int weak : {1, 25}) {
        SCOPED_TRACE(one.text() + ", " + std::to_string(weak) + " weak classifiers of " + to_string(kind));
        const Model model = test::random_waldboost(2, weak, one.window, kind);
        const PackedModel packed(model);
        const Image<std::uint8_t> picture = one.picture(4);
        for (const std::int32_t lowest : {kNoThreshold, 0, 700}) {
          // The reference adds up all pixels of large cells.
          if (kind == FeatureKind::haar && lowest != 0 && one.tile.columns > 300) continue;
          std::vector<Accepted> expected, got;
          std::vector<std::int64_t> expected_left(static_cast<std::size_t>(weak)), left = expected_left;
          reference::scan_tile(model, picture.view(), one.tile, lowest, expected, expected_left);
          GuardedScratch scratch(static_cast<std::size_t>(one.tile.columns) *
                                 std::min(one.tile.rows, PackedModel::kListRows));
          scan_tile(packed, picture.view(), one.tile, lowest, scratch, got, left);
          ASSERT_EQ(got, expected);
          ASSERT_EQ(left, expected_left);
          EXPECT_TRUE(scratch.is_intact());
          found[kind] += got.size();
        }
      }
    }
  }
  for (const FeatureKind kind : kFeatureKinds) EXPECT_GT(found[kind], 100U) << to_string(kind);
}

// A word of ranks holds all nine: flat pictures have ties, and lowest blocks are everywhere.
TEST_P(WaldboostKernel, RanksAreTheReferences) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.text());
    const Model model = test::random_waldboost(1, 12, one.window, FeatureKind::lrp);
    const PackedModel packed(model);
    const Image<std::uint8_t> picture = one.picture(3);
    GuardedScratch scratch(1);
    make_codes(packed, picture.view(), one.tile, scratch);
    std::vector<Feature> pairs;  // each block is in one of these
    for (int block = 0; block < kBlocks; ++block)
      pairs.push_back({0, 0, 1, 1, std::uint8_t(block), std::uint8_t((block + 1) % kBlocks)});
    for (int plane = 0; plane < PackedModel::kPlanes; ++plane) {
      if (!packed.uses_plane(plane)) continue;
      const int width = plane % kMaxBlock + 1, height = plane / kMaxBlock + 1;
      for (int y = 0; y < one.tile.rows + one.window.height - kGrid * height; ++y) {
        for (int x = 0; x < one.tile.columns + one.window.width - kGrid * width; ++x) {
          Feature f = pairs[static_cast<std::size_t>(x + y) % pairs.size()];
          f.block_width = static_cast<std::uint8_t>(width);
          f.block_height = static_cast<std::uint8_t>(height);
          const std::uint32_t ranks = scratch.words[static_cast<std::size_t>(plane * PackedModel::kPlane +
                                                                             y * PackedModel::kStride + x)];
          ASSERT_EQ(code_of_ranks(true, rank_in(ranks, f.first), rank_in(ranks, f.second)),
                    reference::code(model.kind, f, picture.view(), one.tile.x + x, one.tile.y + y))
              << "plane " << plane << " at " << x << ", " << y;
        }
      }
    }
    EXPECT_TRUE(scratch.is_intact());
  }
}

}  // namespace
}  // namespace sightline::waldboost
