// Tiles as frames: in order, whole, and no more of them at once than was said.
#include "texture/tiles/tile_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "support/errors.hpp"
#include "support/tiff.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using sightline::test::expect_error;
using sightline::test::made_sample;
using testing::ElementsAre;
using testing::IsEmpty;
using tiles::Channel;

/// A gray picture in memory, some of whose tiles take longer than others.
class SlowPicture : public tiles::Picture {
 public:
  explicit SlowPicture(Size size) {
    info_.name = "slow";
    info_.width = size.width;
    info_.height = size.height;
  }
  std::function<std::vector<tiles::Damage>(const tiles::Region&)> on_read;
  std::atomic<int> reads{0};

  std::vector<tiles::Damage> read(const tiles::Region& region, std::span<const Channel> channels,
                                  std::span<const ImageView<std::uint8_t>> planes) override {
    const int count = ++reads;
    std::this_thread::sleep_for(std::chrono::microseconds(count * 7919 % 1000));
    for (std::size_t i = 0; i < planes.size(); ++i) {
      for (int y = 0; y < region.height; ++y) {
        for (int x = 0; x < region.width; ++x)
          planes[i].at(x, y) = made_sample(region.x + x, region.y + y,
                                           channels[i] == Channel::luma ? 0 : static_cast<int>(channels[i]));
      }
    }
    return on_read ? on_read(region) : std::vector<tiles::Damage>{};
  }
};

constexpr Size kSize{230, 170};
constexpr int kTile = 32, kHalo = 2;

tiles::TileGrid grid_of(BorderRule border) {
  return {kSize.width, kSize.height, kTile, kHalo, border};
}

TEST(TileSource, EachChannelOfEachTileIsAFrameInOrder) {
  for (const BorderRule border : {BorderRule::wrap, BorderRule::skip}) {
    for (const int threads : {1, 5}) {
      SlowPicture picture(kSize);
      const tiles::TileGrid grid = grid_of(border);
      TileSource source(picture, grid, {.channels = {Channel::luma, Channel::green}, .threads = threads});
      EXPECT_EQ(source.frames(), grid.count() * 2);
      for (std::int64_t number = 1; number <= grid.count() * 2; ++number) {
        const std::optional<Frame> frame = source.read();
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->number(), number);
        const tiles::Region region = grid.with_halo((number - 1) / 2);
        ASSERT_EQ(frame->size(), (Size{region.width, region.height}));
        const GrayView pixels = frame->gray();
        const int channel = number % 2 == 1 ? 0 : static_cast<int>(Channel::green);
        for (int y = 0; y < region.height; ++y) {
          for (int x = 0; x < region.width; ++x) {
            ASSERT_EQ(pixels.at(x, y),
                      made_sample(inside_index(region.x + x, kSize.width, border),
                                  inside_index(region.y + y, kSize.height, border), channel));
          }
        }
      }
      EXPECT_FALSE(source.read());
      EXPECT_FALSE(source.read());
      EXPECT_EQ(source.decode_errors(), 0);
    }
  }
}

TEST(TileSource, SomeTilesAreReadAlone) {
  const tiles::TileGrid grid = grid_of(BorderRule::skip);
  for (const std::int64_t count : {std::int64_t{1}, grid.columns(), grid.count()}) {
    SlowPicture picture(kSize);
    TileSource source(picture, grid, {.threads = 3, .first = grid.columns(), .count = count});
    const std::int64_t end = std::min(grid.columns() + count, grid.count());
    EXPECT_EQ(source.frames(), end - grid.columns());
    for (std::int64_t tile = grid.columns(); tile < end; ++tile) {
      const std::optional<Frame> frame = source.read();
      ASSERT_TRUE(frame);
      EXPECT_EQ(frame->number(), tile + 1);
    }
    EXPECT_FALSE(source.read());
    EXPECT_EQ(picture.reads, end - grid.columns());
  }
}

TEST(TileSource, FramesStayWhatTheyAre) {
  SlowPicture picture(kSize);
  std::vector<Frame> all;
  {
    TileSource source(picture, grid_of(BorderRule::skip), {.threads = 3});
    while (std::optional<Frame> frame = source.read()) all.push_back(*frame);
  }
  const tiles::TileGrid grid = grid_of(BorderRule::skip);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const tiles::Region region = grid.with_halo(static_cast<std::int64_t>(i));
    EXPECT_EQ(all[i].gray().at(region.width - 1, region.height - 1),
              made_sample(region.x + region.width - 1, region.y + region.height - 1, 0));
  }
}

TEST(TileSource, ReadsAheadButNotMoreThanItMay) {
  SlowPicture picture(kSize);
  TileSource source(picture, grid_of(BorderRule::skip), {.threads = 2});
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(picture.reads, 4);
  ASSERT_TRUE(source.read());
  std::this_thread::sleep_for(20ms);
  EXPECT_LE(picture.reads, 5);
}

// A tile shows damage that others show as well: their blocks are larger.
std::vector<tiles::Damage> damage_of(const tiles::Region& region) {
  std::vector<tiles::Damage> damage;
  for (const int x : {40, 150}) {
    const tiles::Region block{x, 50, 20, 20};
    if (region.x < block.x + 20 && region.x + region.width > block.x && region.y < 70 &&
        region.y + region.height > 50)
      damage.push_back({block, "made up"});
  }
  return damage;
}

TEST(TileSource, DamageIsToldOnceInTheOrderOfTiles) {
  for (const int threads : {1, 4}) {
    SlowPicture picture(kSize);
    picture.on_read = damage_of;
    TileSource source(picture, grid_of(BorderRule::clamp), {.threads = threads});
    EXPECT_THAT(source.damage(), IsEmpty());
    while (source.read()) {
    }
    EXPECT_THAT(source.damage(), ElementsAre(tiles::Damage{{40, 50, 20, 20}, "made up"},
                                             tiles::Damage{{150, 50, 20, 20}, "made up"}));
    EXPECT_EQ(source.decode_errors(), 2);
  }
}

TEST(TileSource, StrictEndsAtTheFirstDamage) {
  SlowPicture picture(kSize);
  picture.on_read = damage_of;
  TileSource source(picture, grid_of(BorderRule::clamp), {.threads = 4, .strict = true});
  int frames = 0;
  expect_error(ExitCode::input, "'slow'", [&] {
    while (source.read()) ++frames;
  });
  EXPECT_EQ(frames, 9);  // eight across; the damage is below those, in the second
  EXPECT_FALSE(source.read());
}

TEST(TileSource, AnErrorComesAtItsTilesTurn) {
  SlowPicture picture(kSize);
  picture.on_read = [](const tiles::Region& region) -> std::vector<tiles::Damage> {
    if (region.y >= 62 && region.x >= 30) throw Error(ExitCode::input, "gone");
    return {};
  };
  TileSource source(picture, grid_of(BorderRule::skip), {.threads = 4});
  int frames = 0;
  expect_error(ExitCode::input, "gone", [&] {
    while (source.read()) ++frames;
  });
  EXPECT_EQ(frames, 2 * 8 + 1);
}

TEST(TileSource, StopsWhereItStands) {
  SlowPicture picture({100'000, 100'000});
  std::atomic<bool> stop{false};
  const tiles::TileGrid grid(100'000, 100'000, kTile, kHalo, BorderRule::skip);
  TileSource source(picture, grid, {.threads = 3, .stop = &stop});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(source.read());
  stop = true;
  EXPECT_FALSE(source.read());
  EXPECT_LE(picture.reads, 10 + 6);
}

TEST(TileSource, APictureOfNoTilesHasNoFrames) {
  SlowPicture picture({4, 4});
  TileSource source(picture, {4, 4, 16, 2, BorderRule::skip}, {});
  EXPECT_EQ(source.frames(), 0);
  EXPECT_FALSE(source.read());
}

}  // namespace
}  // namespace sightline::pipeline
