#include "texture/tiles/media_tiff.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "base/log.hpp"
#include "base/text.hpp"
#include "texture/tiles/picture.hpp"
#include "texture/tiles/tiff_pages.hpp"

namespace sightline::tiles {
namespace {

// Reads the rows of one row of blocks. Returns the damage.
std::vector<Damage> read_rows(Picture& file, int y, int rows, media::TiffRows to) {
  constexpr std::array kColour{Channel::red, Channel::green, Channel::blue};
  constexpr std::array kGray{Channel::luma};
  const bool colour = file.info().has_colour;
  const auto width = static_cast<int>(file.info().width);
  std::vector<Image<std::uint8_t>> planes;
  std::vector<ImageView<std::uint8_t>> views;
  for (int i = 0; i < (colour ? 3 : 1); ++i) planes.emplace_back(width, rows);
  for (Image<std::uint8_t>& plane : planes) views.push_back(plane.view());
  const std::span<const Channel> channels = colour ? std::span<const Channel>(kColour) : kGray;
  std::vector<Damage> damage = file.read({0, y, width, rows}, channels, views);
  const std::size_t samples = planes.size();
  for (int row = 0; row < rows; ++row) {
    std::uint8_t* const out = to.data + std::ptrdiff_t{y + row} * to.stride;
    for (std::size_t c = 0; c < samples; ++c) {
      const std::uint8_t* const in = views[c].row(row);
      for (int x = 0; x < width; ++x) out[static_cast<std::size_t>(x) * samples + c] = in[x];
    }
  }
  return damage;
}

class MediaTiffReader final : public media::TiffReader {
 public:
  bool is_tiff(const std::string& path) const override { return tiles::is_tiff(path); }

  std::string read(const std::string& path, const std::string& name,
                   const std::function<media::TiffRows(const media::TiffSize&)>& make) const override {
    const TiffPages pages = tiff_pages(path);
    OpenOptions options;
    options.page = pages.first;
    options.spread_unsigned = true;
    const std::unique_ptr<Picture> file = open_tiff(path, options);
    const PictureInfo& info = file->info();
    const media::TiffRows rows = make({info.width, info.height, info.has_colour ? 3 : 1, pages.pixel_aspect});
    const auto width = static_cast<int>(info.width), height = static_cast<int>(info.height);
    if (pages.left_out > 0)
      logger().warn("'{}' has several pages: the first is read, {} skipped; split it with tiffsplit", name,
                    counted(pages.left_out, "page") + (pages.left_out == 1 ? " is" : " are"));
    for (int y = 0; y < height; y += info.block.height) {
      const int count = std::min(info.block.height, height - y);
      const std::vector<Damage> damage = read_rows(*file, y, count, rows);
      file->passed({0, y, width, count}, 0);
      if (!damage.empty())
        return "the picture is damaged or cut short (" + tiles::to_string(damage.front()) + ")";
    }
    return "";
  }
};

}  // namespace

const media::TiffReader& tiff_reader() {
  static const MediaTiffReader reader;
  return reader;
}

}  // namespace sightline::tiles
