#include "texture/tiles/whole_tiff.hpp"

#include <array>
#include <cstring>

#include "image/gray.hpp"

namespace sightline::tiles {

bool WholeTiff::reads(const std::filesystem::path& file, int page) {
  const TiffFile tiff = open_tiff_page(file, page);
  std::array<char, 1024> reason{};
  const auto format = tiff.tag<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  return (format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID) &&
         TIFFRGBAImageOK(tiff.get(), reason.data()) == 1;
}

WholeTiff::WholeTiff(const std::filesystem::path& file, int page)
    : tiff_(open_tiff_page(file, page)),
      turn_(turn_of_orientation(tiff_.tag<std::uint16_t>(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT))) {
  info_.name = file.string();
  info_.width = tiff_.tag<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  info_.height = tiff_.tag<std::uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  info_.has_colour = true;
  info_.format = "TIFF, kept in memory";
  info_.block = {static_cast<int>(info_.width), static_cast<int>(info_.height)};
}

void WholeTiff::decode() {
  TIFFSetField(tiff_.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);  // pixels stay as they are stored
  pixels_.resize(static_cast<std::size_t>(info_.width * info_.height));
  tiff_.messages().clear();
  const int done = TIFFReadRGBAImageOriented(tiff_.get(), static_cast<std::uint32_t>(info_.width),
                                             static_cast<std::uint32_t>(info_.height), pixels_.data(),
                                             ORIENTATION_TOPLEFT, 1);
  const TiffMessages& said = tiff_.messages();
  std::string reason = said.error.empty() ? said.decoder_warning : said.error;
  if (done != 1 && reason.empty()) reason = "it cannot be decoded";
  if (!reason.empty()) damage_.push_back({{0, 0, info_.block.width, info_.block.height}, std::move(reason)});
}

std::vector<Damage> WholeTiff::read(const Region& region, std::span<const Channel> channels,
                                    std::span<const ImageView<std::uint8_t>> planes) {
  std::call_once(once_, [this] { decode(); });
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(region.width) * 3);
  for (int y = 0; y < region.height; ++y) {
    const std::uint32_t* const from = pixels_.data() + (region.y + y) * info_.width + region.x;
    for (int x = 0; x < region.width; ++x) {
      std::uint8_t* const to = rgb.data() + std::ptrdiff_t{3} * x;
      to[0] = static_cast<std::uint8_t>(TIFFGetR(from[x]));
      to[1] = static_cast<std::uint8_t>(TIFFGetG(from[x]));
      to[2] = static_cast<std::uint8_t>(TIFFGetB(from[x]));
    }
    const PackedView row{rgb.data(), region.width, 1, std::ptrdiff_t{3} * region.width, PackedFormat::rgb24};
    for (std::size_t i = 0; i < channels.size(); ++i) {
      std::uint8_t* const to = planes[i].row(y);
      if (channels[i] == Channel::luma) {
        to_gray(row, ImageView<std::uint8_t>(to, region.width, 1, region.width), 0, 1);
        continue;
      }
      const auto sample = static_cast<std::size_t>(channels[i]) - static_cast<std::size_t>(Channel::red);
      for (int x = 0; x < region.width; ++x) to[x] = rgb[static_cast<std::size_t>(x) * 3 + sample];
    }
  }
  return damage_;
}

}  // namespace sightline::tiles
