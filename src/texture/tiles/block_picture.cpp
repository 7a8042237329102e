#include "texture/tiles/block_picture.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/work_limit.hpp"
#include "image/gray.hpp"

namespace sightline::tiles {

namespace {

// The end of the last block that reaches to `end`.
std::int64_t whole_blocks(std::int64_t end, std::int64_t block) {
  return (end + block - 1) / block * block;
}

/// Pixels of the block from (x, y) on, which the plane takes at `target`.
void copy_channel(const Block& block, int x, int y, Channel channel, ImageView<std::uint8_t> target) {
  if (block.samples == 3 && channel == Channel::luma) {
    const PackedView source{block.at(x, y), target.width(), target.height(),
                            static_cast<std::ptrdiff_t>(block.row_bytes()), PackedFormat::rgb24};
    to_gray(source, target, 0, target.height());
    return;
  }
  for (int row = 0; row < target.height(); ++row) {
    const std::uint8_t* from = block.at(x, y + row);
    std::uint8_t* to = target.row(row);
    if (block.samples == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(target.width()));
    } else {
      from += static_cast<int>(channel) - static_cast<int>(Channel::red);
      for (int i = 0; i < target.width(); ++i) to[i] = from[3 * i];
    }
  }
}

}  // namespace

FileStamp::FileStamp(const std::filesystem::path& file) {
  struct stat now {};
  if (stat(file.c_str(), &now) != 0) {
    throw Error(ExitCode::input, "cannot open '" + file.string() + "': " + std::strerror(errno),
                "check the name and the path");
  }
  device = now.st_dev;
  node = now.st_ino;
  size = now.st_size;
  seconds = now.st_mtim.tv_sec;
  nanoseconds = now.st_mtim.tv_nsec;
}

BlockPicture::BlockPicture(const std::filesystem::path& file, std::size_t cache_bytes)
    : file_(file), stamp_(file), cache_(cache_bytes) {
  info_.name = file.string();
}

Region BlockPicture::inside(std::int64_t column, std::int64_t row) const {
  const std::int64_t x = column * info_.block.width, y = row * info_.block.height;
  return {x, y, static_cast<int>(std::min<std::int64_t>(info_.block.width, info_.width - x)),
          static_cast<int>(std::min<std::int64_t>(info_.block.height, info_.height - y))};
}

std::int64_t BlockPicture::key(std::int64_t column, std::int64_t row, bool colour) const {
  const std::int64_t columns = (info_.width + info_.block.width - 1) / info_.block.width;
  return (row * columns + column) * 2 + (colour ? 1 : 0);
}

void BlockPicture::passed(const Region& region, int overlap) {
  const std::int64_t block_width = info_.block.width, block_height = info_.block.height;
  const std::int64_t right = std::min(region.x + region.width, info_.width);
  const std::int64_t bottom = std::min(region.y + region.height, info_.height);
  // End of the blocks: at the right and lower edge there are others, or the picture ends.
  const std::int64_t end_x = right < info_.width ? right - overlap : whole_blocks(right, block_width);
  const std::int64_t end_y = bottom < info_.height ? bottom - overlap : whole_blocks(bottom, block_height);
  for (std::int64_t row = std::max<std::int64_t>(region.y, 0) / block_height;
       (row + 1) * block_height <= end_y; ++row) {
    for (std::int64_t column = std::max<std::int64_t>(region.x, 0) / block_width;
         (column + 1) * block_width <= end_x; ++column) {
      cache_.spent(key(column, row, false));
      if (info_.has_colour) cache_.spent(key(column, row, true));
    }
  }
}

std::shared_ptr<const Block> BlockPicture::block_at(std::int64_t column, std::int64_t row, bool colour) {
  return cache_.get(key(column, row, colour), [&](Block& fresh) {
    const WorkLimit limit("decoding a tile of '" + info_.name + "'", {.seconds = 60});
    decode(column, row, colour, fresh);
  });
}

std::vector<Damage> BlockPicture::read(const Region& region, std::span<const Channel> channels,
                                       std::span<const ImageView<std::uint8_t>> planes) {
  const bool colour = info_.has_colour && std::any_of(channels.begin(), channels.end(),
                                                      [](Channel one) { return one != Channel::luma; });
  const auto from_colours = [&](Channel one) { return colour && (one != Channel::luma || !luma_is_apart_); };
  const std::int64_t block_width = info_.block.width, block_height = info_.block.height;
  const std::int64_t right = region.x + region.width, bottom = region.y + region.height;
  const std::int64_t last_column = (right - 1) / block_width, last_row = (bottom - 1) / block_height;
  std::vector<Damage> damage;
  for (std::int64_t row = region.y / block_height; row <= last_row; ++row) {
    for (std::int64_t column = region.x / block_width; column <= last_column; ++column) {
      std::shared_ptr<const Block> colour_block, luma_block;
      const std::int64_t from_x = std::max(region.x, column * block_width);
      const std::int64_t from_y = std::max(region.y, row * block_height);
      const int width = static_cast<int>(std::min(right, (column + 1) * block_width) - from_x);
      const int height = static_cast<int>(std::min(bottom, (row + 1) * block_height) - from_y);
      for (std::size_t i = 0; i < channels.size(); ++i) {
        const ImageView<std::uint8_t> target(
            &planes[i].at(static_cast<int>(from_x - region.x), static_cast<int>(from_y - region.y)), width,
            height, planes[i].stride());
        auto& block = from_colours(channels[i]) ? colour_block : luma_block;
        if (!block) {
          block = block_at(column, row, from_colours(channels[i]));
          damage.insert(damage.end(), block->damage.begin(), block->damage.end());
        }
        copy_channel(*block, static_cast<int>(from_x - column * block_width),
                     static_cast<int>(from_y - row * block_height), channels[i], target);
      }
    }
  }
  if (FileStamp(file_) != stamp_) {
    throw Error(ExitCode::input, "'" + info_.name + "' changed while it was read",
                "do not change the file while it is read");
  }
  return damage;
}

}  // namespace sightline::tiles
