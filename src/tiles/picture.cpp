#include "tiles/picture.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "tiles/memory_picture.hpp"
#include "tiles/slide_picture.hpp"
#include "tiles/tiff_picture.hpp"

namespace sightline::tiles {

const char* to_string(Channel channel) {
  constexpr const char* kNames[] = {"luma", "red", "green", "blue"};
  return kNames[static_cast<std::size_t>(channel)];
}

std::string to_string(const Damage& damage) {
  const Region& where = damage.where;
  return "x " + std::to_string(where.x) + ", y " + std::to_string(where.y) + ", " +
         std::to_string(where.width) + "x" + std::to_string(where.height) + ": " + damage.reason;
}

std::int64_t bytes_of_tile_row(const PictureInfo& info, int rows, std::span<const Channel> channels) {
  if (info.block.width >= info.width && info.block.height >= info.height) return 0;
  const bool colour =
      info.has_colour && std::ranges::any_of(channels, [](Channel one) { return one != Channel::luma; });
  // Where the first of the rows is not a block's first, there is one block more.
  const std::int64_t blocks = (std::int64_t{rows} + info.block.height - 2) / info.block.height + 1;
  return std::min(blocks * info.block.height, info.height) * info.width * (colour ? 3 : 1);
}

std::unique_ptr<Picture> open_picture(const std::filesystem::path& file, const OpenOptions& options) {
  if (options.page < 0) throw Error(ExitCode::usage, "pages are counted from 0");
  if (options.range && options.range->first == options.range->second)
    throw Error(ExitCode::usage, "a range has two different ends");
  const FileStamp exists(file);
  if (std::filesystem::is_directory(file))
    throw Error(ExitCode::input, "'" + file.string() + "' is a folder", "give a picture");
  if (!std::filesystem::is_regular_file(file))
    throw Error(ExitCode::input, "'" + file.string() + "' is no ordinary file",
                "pictures are read at any place");
  if (needs_openslide(file)) return std::make_unique<SlidePicture>(file, options);
  if (is_tiff(file)) return std::make_unique<TiffPicture>(file, options);
  return std::make_unique<MemoryPicture>(file, options);
}

}  // namespace sightline::tiles
