#include "texture/tiles/picture.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/work_limit.hpp"
#include "texture/tiles/memory_picture.hpp"
#include "texture/tiles/slide_picture.hpp"
#include "texture/tiles/tiff_pages.hpp"
#include "texture/tiles/tiff_picture.hpp"
#include "texture/tiles/turned_picture.hpp"
#include "texture/tiles/whole_tiff.hpp"

namespace sightline::tiles {

const char* to_string(Channel channel) {
  constexpr const char* kNames[] = {"luma", "red", "green", "blue"};
  return kNames[static_cast<std::size_t>(channel)];
}

namespace {

// Decoders name rows and tiles: parts that are damaged in the same way differ in these numbers.
std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

// Makes `a` the rectangle of both, where they make one.
bool join(Region& a, const Region& b) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (a.y == b.y && a.height == b.height && (a.x + a.width == b.x || b.x + b.width == a.x) &&
      std::int64_t{a.width} + b.width <= most) {
    a.x = std::min(a.x, b.x);
    a.width += b.width;
    return true;
  }
  if (a.x == b.x && a.width == b.width && (a.y + a.height == b.y || b.y + b.height == a.y) &&
      std::int64_t{a.height} + b.height <= most) {
    a.y = std::min(a.y, b.y);
    a.height += b.height;
    return true;
  }
  return false;
}

}  // namespace

bool add_damage(std::vector<Damage>& list, Damage part) {
  constexpr std::size_t kMaxRectangles = 100;
  const std::string reason = without_digits(part.reason);
  // A rectangle that has grown may now fit another one.
  const auto is_joined = [&](Damage& one) {
    Region both = part.where;
    if (!join(both, one.where) || without_digits(one.reason) != reason) return false;
    part.where = both;
    return true;
  };
  for (auto found = std::ranges::find_if(list, is_joined); found != list.end();
       found = std::ranges::find_if(list, is_joined)) {
    part.reason = std::move(found->reason);
    list.erase(found);
  }
  if (list.size() == kMaxRectangles) return false;
  list.push_back(std::move(part));
  return true;
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
  // Rows that do not start at a block's first row touch one more block.
  const std::int64_t blocks = (std::int64_t{rows} + info.block.height - 2) / info.block.height + 1;
  return std::min(blocks * info.block.height, info.height) * info.width * (colour ? 3 : 1);
}

namespace {

template <typename Stored>
std::unique_ptr<Picture> upright(std::unique_ptr<Stored> stored) {
  const Turn turn = stored->turn();
  if (turn.is_none()) return stored;
  return std::make_unique<TurnedPicture>(std::move(stored), turn);
}

}  // namespace

std::unique_ptr<Picture> open_tiff(const std::filesystem::path& file, const OpenOptions& options) {
  try {
    return upright(std::make_unique<TiffPicture>(file, options));
  } catch (const KindNotRead&) {
    if (!options.spread_unsigned || !WholeTiff::reads(file, options.page)) throw;
  }
  return upright(std::make_unique<WholeTiff>(file, options.page));
}

std::unique_ptr<Picture> open_picture(const std::filesystem::path& file, const OpenOptions& options) {
  if (options.page < 0) throw Error(ExitCode::usage, "pages are counted from 0");
  if (options.range && options.range->first == options.range->second)
    throw Error(ExitCode::usage, "a range must have two different ends");
  const FileStamp exists(file);
  if (std::filesystem::is_directory(file))
    throw Error(ExitCode::input, "'" + file.string() + "' is a folder", "give a picture");
  if (!std::filesystem::is_regular_file(file))
    throw Error(ExitCode::input, "'" + file.string() + "' is not a regular file",
                "reading a picture needs random access");
  std::optional<WorkLimit> limit(std::in_place, "opening '" + file.string() + "'",
                                 WorkLimit::Limits{.seconds = 60, .bytes = 1 << 30});
  if (needs_openslide(file)) return std::make_unique<SlidePicture>(file, options);
  if (is_tiff(file)) return open_tiff(file, options);
  limit.reset();  // the decoder has its own
  return std::make_unique<MemoryPicture>(file, options);
}

}  // namespace sightline::tiles
