// Label images: tiled files larger than memory, which are there as a whole or not at all.
#include "texture/tiles/label_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "support/errors.hpp"
#include "support/temp_dir.hpp"
#include "support/tiff.hpp"
#include "texture/tiles/tile_grid.hpp"

namespace sightline::tiles {
namespace {

namespace fs = std::filesystem;
using test::made_sample;

template <typename T>
T label(std::int64_t x, std::int64_t y) {
  return static_cast<T>(made_sample(x, y, 0) * (sizeof(T) == 1 ? 1 : 257));
}

template <typename T>
void write_tiles(LabelWriter& writer, Size size, int tile) {
  const TileGrid grid(size.width, size.height, tile, 0, BorderRule::clamp);
  Image<T> pixels;
  for (std::int64_t i = 0; i < grid.count(); ++i) {
    const Region own = grid.tile(i);
    pixels.resize(own.width, own.height);
    for (int y = 0; y < own.height; ++y) {
      for (int x = 0; x < own.width; ++x) pixels.view().at(x, y) = label<T>(own.x + x, own.y + y);
    }
    writer.write(own.x, own.y, ImageView<const T>(pixels.view()));
  }
}

class LabelWriterTest : public testing::Test {
 protected:
  std::string file() const { return folder_ / "labels.tif"; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  test::TempDir folder_;
};

TEST_F(LabelWriterTest, WhatIsWrittenIsRead) {
  for (const auto& [size, tile] : {std::pair{Size{1, 1}, 64},
                                   {Size{512, 512}, 512},
                                   {Size{700, 1300}, 300},
                                   {Size{1030, 520}, 1024},
                                   {Size{513, 511}, 37}}) {
    for (const int bits : {8, 16}) {
      LabelWriter writer(file(), size.width, size.height, bits);
      if (bits == 8) {
        write_tiles<std::uint8_t>(writer, size, tile);
      } else {
        write_tiles<std::uint16_t>(writer, size, tile);
      }
      writer.finish();
      OpenOptions options;
      options.range = {0, 65535};
      const auto picture = open_picture(file(), options);
      EXPECT_EQ(picture->info().format, "BigTIFF, deflate, tiles of 512x512");
      std::vector<Damage> damage;
      const Image<std::uint8_t> luma = test::read_luma(*picture, &damage);
      EXPECT_TRUE(damage.empty());
      for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x)
          ASSERT_EQ(luma.view().at(x, y), made_sample(x, y, 0)) << x << ", " << y;
      }
    }
  }
}

TEST_F(LabelWriterTest, HasItsNameOnlyWhenItIsWhole) {
  test::store(file(), "what was there before");
  {
    LabelWriter writer(file(), 600, 600, 8);
    write_tiles<std::uint8_t>(writer, {600, 300}, 300);
    test::expect_error(ExitCode::failed, [&] { writer.finish(); });
  }
  EXPECT_EQ(test::bytes_of(file()), "what was there before");
  EXPECT_EQ(files(), 1u);
}

TEST_F(LabelWriterTest, ADiskThatIsFullIsNamedAndNothingIsLeft) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t room : {rlim_t{8}, rlim_t{100'000}}) {  // the head; some tiles
    const rlimit small{room, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    test::expect_error(ExitCode::failed, file(), [&] {
      LabelWriter writer(file(), 1500, 1500, 8);
      write_tiles<std::uint8_t>(writer, {1500, 1500}, 512);
      writer.finish();
    });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(files(), 0u);
  }
  std::signal(SIGXFSZ, old);
}

TEST_F(LabelWriterTest, WhatCannotBeWrittenIsRefusedAtOnce) {
  test::expect_error(ExitCode::failed, [&] { LabelWriter(folder_ / "none/labels.tif", 10, 10, 8); });
  mkfifo(file().c_str(), 0600);
  test::expect_error(ExitCode::failed, [&] { LabelWriter(file(), 10, 10, 8); });
}

}  // namespace
}  // namespace sightline::tiles
