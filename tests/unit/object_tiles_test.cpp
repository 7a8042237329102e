// Tiles of pictures, and the objects of tiles that are merged.
#include "detection/tiles.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace sightline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TileOptions kTiles{{100, 80}, 0.2};

std::vector<Box> merged_boxes(TileMerger& merger) {
  std::vector<Box> boxes;
  for (const Detection& one : merger.take()) boxes.push_back(one.box);
  return boxes;
}

TEST(TileSize, HasOneSideOrBoth) {
  EXPECT_EQ(tile_size("640"), (Size{640, 640}));
  EXPECT_EQ(tile_size("640x480"), (Size{640, 480}));
  for (const char* bad : {"", "x", "640x", "63", "640x63", "16385", "-640", "640.5", "640x480x3"})
    EXPECT_FALSE(tile_size(bad)) << bad;
}

TEST(TileLayout, CoversThePictureWithTilesOfOneSize) {
  for (const Size picture : {Size{100, 80}, Size{101, 80}, Size{100, 81}, Size{333, 217}, Size{64, 1000}}) {
    const TileLayout layout(picture, kTiles);
    const Crop whole = layout.place(0);
    EXPECT_EQ(whole.size, picture);
    std::vector<int> covered(static_cast<std::size_t>(picture.width) * picture.height);
    for (std::size_t i = 1; i < layout.count(); ++i) {
      const Crop tile = layout.place(i);
      EXPECT_EQ(tile.size, (Size{std::min(picture.width, 100), std::min(picture.height, 80)}));
      ASSERT_GE(std::min(tile.x, tile.y), 0);
      ASSERT_LE(tile.x + tile.size.width, picture.width);
      ASSERT_LE(tile.y + tile.size.height, picture.height);
      for (int y = tile.y; y < tile.y + tile.size.height; ++y) {
        for (int x = tile.x; x < tile.x + tile.size.width; ++x)
          ++covered[static_cast<std::size_t>(y) * picture.width + x];
      }
      if (i + 1 < layout.count() && layout.place(i + 1).y == tile.y) {
        EXPECT_LE(layout.place(i + 1).x, tile.x + 80);
      }
    }
    const bool holds_all = picture.width <= 100 && picture.height <= 80;
    EXPECT_EQ(layout.count() == 1, holds_all);
    EXPECT_TRUE(holds_all || std::ranges::find(covered, 0) == covered.end());
  }
}

// A picture of two tiles: the whole, (0, 0) and (60, 0).
class MergedTiles : public testing::Test {
 protected:
  void add(std::size_t tile, const Box& box, double score, int label = 0) {
    merger_.add(layout_, tile, {{box, score, label}});
  }
  const TileLayout layout_{{160, 80}, kTiles};
  TileMerger merger_;
};

TEST_F(MergedTiles, KeepTheSurerOfTwoBoxesOfAnObject) {
  ASSERT_EQ(layout_.count(), 3u);
  ASSERT_EQ(layout_.place(2).x, 60);
  add(1, {70, 20, 20, 40}, 1);
  add(2, {10, 21, 20, 40}, 2);
  EXPECT_THAT(merged_boxes(merger_), ElementsAre(Box{70, 21, 20, 40}));
  add(1, {70, 20, 20, 40}, 1);
  add(2, {10, 21, 20, 40}, 1);
  EXPECT_THAT(merged_boxes(merger_), ElementsAre(Box{70, 20, 20, 40}));
  EXPECT_THAT(merger_.take(), IsEmpty());
}

TEST_F(MergedTiles, PreferWholeBoxesToCutOnes) {
  add(0, {80, 20, 40, 40}, 1);
  add(1, {80, 20, 20, 40}, 3);  // ends at the tile's right edge
  add(2, {20, 20, 40, 40}, 0.5);
  EXPECT_THAT(merged_boxes(merger_), ElementsAre(Box{80, 20, 40, 40}));
}

TEST_F(MergedTiles, KeepBoxesAtEdgesOfThePicture) {
  add(0, {0, 0, 80, 80}, 3);
  add(1, {0, 40, 20, 40}, 1);  // in a larger one, but not cut
  EXPECT_EQ(merged_boxes(merger_).size(), 2u);
}

TEST_F(MergedTiles, KeepBoxesOfOneTileAndOfOtherLabels) {
  merger_.add(layout_, 1, {{{70, 20, 20, 40}, 1}, {{70, 20, 20, 40}, 2}, {{70, 20, 20, 40}, 3, 1}});
  add(2, {10, 20, 20, 40}, 0.5, 2);
  EXPECT_EQ(merged_boxes(merger_).size(), 4u);
  // In the order of a detector that has its own.
  merger_.add(layout_, 0, {{{0, 0, 20, 40}, 1}, {{0, 0, 20, 40}, 2, 1}});
  EXPECT_EQ(merger_.take().front().score, 1);
}

TEST_F(MergedTiles, MovePoints) {
  Detection object{{10, 20, 20, 40}, 1};
  DetectionAttributes attributes;
  attributes.landmarks.push_back({"eye", 12, 22});
  object.attributes = attributes;
  merger_.add(layout_, 2, {object});
  EXPECT_EQ(merger_.take().front().attributes->landmarks.front(), (Landmark{"eye", 72, 22}));
}

}  // namespace
}  // namespace sightline
