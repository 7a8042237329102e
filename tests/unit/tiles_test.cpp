// Tiles of pictures: where they lie, what is around them, and what is decoded for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>

#include "media/gray_png.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"
#include "support/tiff.hpp"
#include "texture/tiles/block_picture.hpp"
#include "texture/tiles/tile_grid.hpp"

namespace sightline::tiles {
namespace {

using test::made_sample;
using testing::ElementsAre;

constexpr BorderRule kRules[] = {BorderRule::wrap, BorderRule::clamp, BorderRule::reflect, BorderRule::skip};

TEST(TileGrid, CoversEachPixelOnce) {
  for (const auto [width, height, tile, halo] :
       {std::array{1, 1, 4, 1}, {7, 5, 3, 2}, {12, 8, 4, 1}, {3, 9, 100, 4}, {4, 4, 1, 2}}) {
    for (const BorderRule rule : kRules) {
      const TileGrid grid(width, height, tile, halo, rule);
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + " " + to_string(rule));
      const bool skip = rule == BorderRule::skip;
      EXPECT_EQ(grid.width(), std::max(skip ? width - 2 * halo : width, 0));
      EXPECT_EQ(grid.height(), std::max(skip ? height - 2 * halo : height, 0));
      std::vector<int> covered(static_cast<std::size_t>(grid.width() * grid.height()));
      for (std::int64_t i = 0; i < grid.count(); ++i) {
        const Region own = grid.tile(i), all = grid.with_halo(i);
        EXPECT_LE(own.width, tile);
        EXPECT_LE(own.height, tile);
        const int shift = skip ? 0 : halo;
        EXPECT_EQ(all, (Region{own.x - shift, own.y - shift, own.width + 2 * halo, own.height + 2 * halo}));
        if (skip) {
          EXPECT_TRUE(all.x >= 0 && all.x + all.width <= width && all.y + all.height <= height);
        }
        for (std::int64_t y = own.y; y < own.y + own.height; ++y) {
          for (std::int64_t x = own.x; x < own.x + own.width; ++x)
            ++covered.at(static_cast<std::size_t>(y * grid.width() + x));
        }
      }
      EXPECT_TRUE(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
    }
  }
}

TEST(TileGrid, CountsBeyond32Bits) {
  const TileGrid grid(2'000'000'000, 2'000'000'000, 1000, 2, BorderRule::wrap);
  EXPECT_EQ(grid.count(), 4'000'000'000'000);
  EXPECT_EQ(grid.tile(grid.count() - 1), (Region{1'999'999'000, 1'999'999'000, 1000, 1000}));
}

TEST(TileGrid, NothingIsLeftOfAPictureThatIsAllBorder) {
  EXPECT_EQ(TileGrid(4, 100, 16, 2, BorderRule::skip).count(), 0);
  EXPECT_EQ(TileGrid(5, 5, 16, 2, BorderRule::skip).count(), 1);
}

/// Pixels of `made_sample`, in blocks; counts how often each is decoded.
class MadeUpPicture : public BlockPicture {
 public:
  MadeUpPicture(const std::filesystem::path& any_file, Size size, Size block, std::size_t cache_bytes)
      : BlockPicture(any_file, cache_bytes) {
    info_.width = size.width;
    info_.height = size.height;
    info_.block = block;
    columns_ = (size.width + block.width - 1) / block.width;
    decoded_ = std::vector<std::atomic<int>>(
        static_cast<std::size_t>(columns_ * ((size.height + block.height - 1) / block.height)));
  }
  int most_often() const { return *std::max_element(decoded_.begin(), decoded_.end()); }
  int least_often() const { return *std::min_element(decoded_.begin(), decoded_.end()); }
  Region damaged;  ///< the block that has this place is said to be damaged

 private:
  void decode(std::int64_t column, std::int64_t row, bool, Block& block) override {
    ++decoded_[static_cast<std::size_t>(row * columns_ + column)];
    block.resize(info_.block, 1);
    const Region where = inside(column, row);
    for (int y = 0; y < info_.block.height; ++y) {
      for (int x = 0; x < info_.block.width; ++x)
        block.pixels[static_cast<std::size_t>(y * info_.block.width + x)] =
            made_sample(where.x + x, where.y + y, 0);
    }
    if (where.x == damaged.x && where.y == damaged.y && damaged.width > 0)
      block.damage.push_back({where, "made up"});
  }

  std::int64_t columns_ = 0;
  std::vector<std::atomic<int>> decoded_;
};

class MadeUpTest : public testing::Test {
 protected:
  MadeUpTest() : file_(folder_ / "any") { test::store(file_, "any"); }
  test::TempDir folder_;
  const std::string file_;
};

using ReadWithBorder = MadeUpTest;

TEST_F(ReadWithBorder, PutsWhatTheRuleSaysOutside) {
  for (const Size size : {Size{1, 1}, {1, 6}, {5, 3}, {16, 11}}) {
    MadeUpPicture picture(file_, size, {4, 4}, 1000);
    for (const BorderRule rule : {BorderRule::wrap, BorderRule::clamp, BorderRule::reflect}) {
      for (const Region& region : {Region{-9, -7, 20, 17}, Region{-2, -2, 3, 3}, Region{0, 0, 1, 1},
                                   Region{size.width - 1, size.height - 1, 9, 9}, Region{40, -60, 6, 5}}) {
        Image<std::uint8_t> plane(region.width, region.height);
        const std::array views{plane.view()};
        EXPECT_TRUE(read_with_border(picture, region, rule, std::array{Channel::luma}, views).empty());
        for (int y = 0; y < region.height; ++y) {
          for (int x = 0; x < region.width; ++x) {
            ASSERT_EQ(plane.view().at(x, y), made_sample(inside_index(region.x + x, size.width, rule),
                                                         inside_index(region.y + y, size.height, rule), 0))
                << size.width << "x" << size.height << ", " << to_string(rule) << " at " << region.x + x
                << ", " << region.y + y;
          }
        }
      }
    }
  }
}

TEST_F(ReadWithBorder, TellsOfDamageOnce) {
  MadeUpPicture picture(file_, {16, 16}, {8, 8}, 1000);
  picture.damaged = {8, 8, 8, 8};
  Image<std::uint8_t> plane(20, 20);
  const std::array views{plane.view()};
  EXPECT_THAT(read_with_border(picture, {-2, -2, 20, 20}, BorderRule::wrap, std::array{Channel::luma}, views),
              ElementsAre(Damage{{8, 8, 8, 8}, "made up"}));
}

using BlockPictureTest = MadeUpTest;

// Rows of tiles with their halo touch most blocks several times. Two rows of blocks, or what a row of tiles
// touches of strips, is all that has to be kept (and what of a tile is in use).
TEST_F(BlockPictureTest, RowByRowEachBlockIsDecodedOnce) {
  constexpr Size kSize{2000, 900};
  for (const Size block : {Size{128, 128}, {2000, 5}, {100, 70}}) {
    for (const auto& [tile, rule] :
         {std::pair{256, BorderRule::clamp}, {300, BorderRule::reflect}, {256, BorderRule::skip}}) {
      const int rows = block.width == kSize.width ? tile + 2 * 2 + 2 * block.height : 2 * block.height;
      const int across = kSize.width + 4 * tile;
      MadeUpPicture picture(file_, kSize, block, static_cast<std::size_t>(across * rows));
      const TileGrid grid(kSize.width, kSize.height, tile, 2, rule);
      Image<std::uint8_t> plane;
      for (std::int64_t i = 0; i < grid.count(); ++i) {
        const Region region = grid.with_halo(i);
        plane.resize(region.width, region.height);
        const std::array views{plane.view()};
        read_with_border(picture, region, rule, std::array{Channel::luma}, views);
        picture.passed(region, 2 * grid.halo());
      }
      EXPECT_EQ(picture.most_often(), 1) << block.width << "x" << block.height << ", tiles of " << tile;
      EXPECT_EQ(picture.least_often(), 1);
    }
  }
}

TEST_F(BlockPictureTest, WorksWithoutRoomForASingleBlock) {
  MadeUpPicture picture(file_, {100, 100}, {32, 32}, 0);
  const Image<std::uint8_t> luma = test::read_luma(picture);
  for (int y = 0; y < 100; ++y) {
    for (int x = 0; x < 100; ++x) ASSERT_EQ(luma.view().at(x, y), made_sample(x, y, 0));
  }
}

void fill(Block& block, int value) {
  block.resize({10, 10}, 1);
  std::fill_n(block.pixels.data(), 100, static_cast<std::uint8_t>(value));
}

TEST(BlockCache, OneDecodesAndTheOthersWait) {
  BlockCache cache(1000);
  std::promise<void> go;
  const std::shared_future<void> may_go = go.get_future().share();
  std::atomic<int> decoded{0};
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto block = cache.get(7, [&](Block& fresh) {
        may_go.wait();
        ++decoded;
        fill(fresh, 7);
      });
      if (block->pixels[99] == 7) ++right;
    });
  }
  go.set_value();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(decoded, 1);
  EXPECT_EQ(right, 4);
}

TEST(BlockCache, WhatFailsMayBeTriedAgain) {
  BlockCache cache(1000);
  EXPECT_THROW(cache.get(1, [](Block&) { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(cache.get(1, [](Block& block) { fill(block, 5); })->pixels[0], 5);
}

TEST(BlockCache, KeepsWhatFitsAndDropsWhatIsSpentFirst) {
  BlockCache cache(400);
  int decoded = 0;
  const auto get = [&](std::int64_t key) {
    const auto block = cache.get(key, [&](Block& fresh) {
      ++decoded;
      fill(fresh, static_cast<int>(key));
    });
    EXPECT_EQ(block->pixels[50], key);
  };
  for (const std::int64_t key : {1, 2, 3, 4}) get(key);
  cache.spent(4);
  get(5);  // instead of 4
  EXPECT_EQ(decoded, 5);
  for (const std::int64_t key : {1, 2, 3, 5}) get(key);
  EXPECT_EQ(decoded, 5);
  get(6);  // instead of 1, which nobody has asked for for longest
  get(2);
  EXPECT_EQ(decoded, 6);
  get(1);
  EXPECT_EQ(decoded, 7);
}

// A block that is in use stays what it is, though its memory goes to others after it.
TEST(BlockCache, BlocksInUseOutliveTheirPlace) {
  BlockCache cache(100);
  const auto first = cache.get(1, [](Block& block) { fill(block, 1); });
  for (int key = 2; key < 20; ++key) cache.get(key, [&](Block& block) { fill(block, key); });
  EXPECT_EQ(first->pixels[0], 1);
  EXPECT_EQ(first->pixels[99], 1);
}

TEST(MemoryPicture, OrdinaryPicturesAreReadByRegions) {
  const test::TempDir folder;
  Image<std::uint8_t> gray(90, 70);
  for (int y = 0; y < 70; ++y) {
    for (int x = 0; x < 90; ++x) gray.view().at(x, y) = made_sample(x, y, 0);
  }
  media::write_gray_png(folder / "a.png", gray.view());
  const auto picture = open_picture(folder / "a.png");
  EXPECT_FALSE(picture->info().has_colour);
  const auto planes = test::read_planes(*picture, {20, 10, 33, 44}, {Channel::luma, Channel::blue});
  for (int y = 0; y < 44; ++y) {
    for (int x = 0; x < 33; ++x) {
      ASSERT_EQ(planes[0].view().at(x, y), made_sample(x + 20, y + 10, 0));
      ASSERT_EQ(planes[1].view().at(x, y), made_sample(x + 20, y + 10, 0));
    }
  }
  OpenOptions options;
  options.page = 1;
  test::expect_error(ExitCode::input, "page 1", [&] { open_picture(folder / "a.png", options); });
}

TEST(TileRows, NeedWholeStripsAndTiles) {
  PictureInfo info;
  info.width = 1000;
  info.height = 5000;
  info.block = {1000, 16};
  EXPECT_EQ(bytes_of_tile_row(info, 64, std::vector{Channel::luma}), 1000 * 80);  // 4 strips, or a part of 5
  EXPECT_EQ(bytes_of_tile_row(info, 65, std::vector{Channel::luma}), 1000 * 80);
  EXPECT_EQ(bytes_of_tile_row(info, 66, std::vector{Channel::luma}), 1000 * 96);
  EXPECT_EQ(bytes_of_tile_row(info, 9000, std::vector{Channel::luma}), 1000 * 5000);
  info.has_colour = true;
  EXPECT_EQ(bytes_of_tile_row(info, 64, std::vector{Channel::luma}), 1000 * 80);
  EXPECT_EQ(bytes_of_tile_row(info, 64, std::vector{Channel::luma, Channel::red}), 3 * 1000 * 80);
  info.block = {1000, 5000};
  EXPECT_EQ(bytes_of_tile_row(info, 64, std::vector{Channel::red}), 0);
}

}  // namespace
}  // namespace sightline::tiles
