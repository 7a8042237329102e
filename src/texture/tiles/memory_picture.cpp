#include "texture/tiles/memory_picture.hpp"

#include <array>
#include <cstring>

#include "base/error.hpp"
#include "media/reader.hpp"

namespace sightline::tiles {

namespace {

// Levels 16 to 235 over 0 to 255.
void spread_limited_range(ImageView<std::uint8_t> luma) {
  std::array<std::uint8_t, 256> levels{};
  for (int i = 0; i < 256; ++i)
    levels[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(i <= 16    ? 0
                                  : i >= 235 ? 255
                                             : ((i - 16) * 255 + 109) / 219);
  for (int y = 0; y < luma.height(); ++y) {
    for (int x = 0; x < luma.width(); ++x) luma.at(x, y) = levels[luma.at(x, y)];
  }
}

}  // namespace

MemoryPicture::MemoryPicture(const std::filesystem::path& file, const OpenOptions& options) {
  const std::string name = file.string();
  if (options.page != 0) {
    throw Error(ExitCode::input, "'" + name + "' has no page " + std::to_string(options.page),
                "it has only page 0");
  }
  media::Reader reader(name);
  std::optional<Frame> frame = reader.read();
  if (!frame) throw Error(ExitCode::input, "'" + name + "' contains no picture");
  if (reader.read()) {
    throw Error(ExitCode::input, "'" + name + "' is a video, not a picture",
                "extract one of its frames: ffmpeg -ss SECONDS -i '" + name + "' -frames:v 1 frame.png");
  }
  frame_ = std::move(*frame);
  if (options.range && media::sample_bits(frame_) > 8) range_ = options.range;
  luma_ = range_ ? media::to_gray(frame_, range_) : to_gray(frame_);
  if (!range_ && frame_.luma_range() == LumaRange::limited) spread_limited_range(luma_.view());
  info_.name = name;
  info_.width = frame_.size().width;
  info_.height = frame_.size().height;
  info_.has_colour = media::has_colour(frame_);
  info_.format = reader.info().codec + ", kept in memory";
  info_.block = frame_.size();
  info_.uses_range = range_.has_value();
  if (reader.decode_errors() > 0)
    damage_.push_back({{0, 0, info_.block.width, info_.block.height}, "the decoder reported damage"});
}

std::vector<Damage> MemoryPicture::read(const Region& region, std::span<const Channel> channels,
                                        std::span<const ImageView<std::uint8_t>> planes) {
  const auto x = static_cast<int>(region.x), y = static_cast<int>(region.y);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const bool colour = channels[i] != Channel::luma && info_.has_colour;
    if (colour)
      std::call_once(rgb_once_,
                     [this] { rgb_ = range_ ? media::to_rgb(frame_, range_) : media::to_rgb(frame_); });
    for (int row = 0; row < region.height; ++row) {
      std::uint8_t* to = planes[i].row(row);
      if (!colour) {
        std::memcpy(to, luma_.view().row(y + row) + x, static_cast<std::size_t>(region.width));
        continue;
      }
      const std::uint8_t* from = rgb_.data() + ((y + row) * info_.width + x) * 3 +
                                 (static_cast<int>(channels[i]) - static_cast<int>(Channel::red));
      for (int column = 0; column < region.width; ++column) to[column] = from[3 * column];
    }
  }
  return damage_;
}

}  // namespace sightline::tiles
