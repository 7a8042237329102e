#include "texture/tiles/slide_picture.hpp"

#include <openslide.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "image/gray.hpp"
#include "texture/tiles/slide_files.hpp"
#include "texture/tiles/tiff_file.hpp"
#include "texture/tiles/tiff_pages.hpp"
#include "texture/tiles/tiff_tags.hpp"

namespace sightline::tiles {

namespace {

constexpr int kSide = 512;  // side of a block, independent of the slide's own tiles

// Aperio's are ordinary TIFF files, unless they are in JPEG 2000.
bool libtiff_decodes(const std::filesystem::path& file) {
  const TiffFile tiff(file, "rm");
  return tiff && TIFFIsCODECConfigured(tiff.tag<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE)) == 1;
}

}  // namespace

bool needs_openslide(const std::filesystem::path& file) {
  if (is_tiff(file)) check_tag_sizes(file);  // OpenSlide's libtiff has no limits
  check_slide_files(file, "");
  const char* vendor = openslide_detect_vendor(file.c_str());
  const std::string_view name = vendor ? vendor : "";
  check_slide_files(file, name);
  if (name.empty() || name == "generic-tiff") return false;
  return name != "aperio" || !libtiff_decodes(file);
}

void SlidePicture::Close::operator()(_openslide* slide) const {
  openslide_close(slide);
}

SlidePicture::SlidePicture(const std::filesystem::path& file, const OpenOptions& options)
    : BlockPicture(file, options.cache_bytes), level_(options.page), slide_(open()) {
  const int levels = openslide_get_level_count(slide_.get());
  if (level_ >= levels) {
    throw Error(ExitCode::input, "'" + info_.name + "' has no page " + std::to_string(level_),
                "its levels of resolution are 0 to " + std::to_string(levels - 1));
  }
  openslide_get_level_dimensions(slide_.get(), level_, &info_.width, &info_.height);
  if (info_.width < 1 || info_.height < 1 || info_.width > std::numeric_limits<int>::max() ||
      info_.height > std::numeric_limits<int>::max())
    throw Error(ExitCode::input, "'" + info_.name + "' contains a picture of an unsupported size");
  scale_ = openslide_get_level_downsample(slide_.get(), level_);
  if (const char* colour =
          openslide_get_property_value(slide_.get(), OPENSLIDE_PROPERTY_NAME_BACKGROUND_COLOR))
    background_ = static_cast<std::uint32_t>(std::strtoul(colour, nullptr, 16));
  const char* vendor = openslide_get_property_value(slide_.get(), OPENSLIDE_PROPERTY_NAME_VENDOR);
  info_.has_colour = true;
  info_.format = std::string("slide, ") + (vendor ? vendor : "unknown vendor");
  info_.block = {kSide, kSide};
}

SlidePicture::Slide SlidePicture::open() const {
  // OpenSlide's libtiff handles would print messages that are reported anyway; this code's handles have their
  // own handlers.
  static std::once_flag silent;
  std::call_once(silent, [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
  });
  Slide slide(fault::strikes(fault::Kind::open, "openslide_open") ? nullptr : openslide_open(file_.c_str()),
              [](_openslide* one) {
                if (one) Close()(one);
              });
  const char* reason =
      slide ? openslide_get_error(slide.get()) : "OpenSlide does not know this kind of slide";
  if (reason)
    throw Error(ExitCode::input, "'" + file_.string() + "' cannot be read as a slide: " + reason,
                "check that it is complete, with all its files");
  return slide;
}

SlidePicture::Slide SlidePicture::current() {
  const std::lock_guard lock(mutex_);
  if (openslide_get_error(slide_.get())) slide_ = open();
  return slide_;
}

// @return why they cannot be read
std::string SlidePicture::read_pixels(_openslide* slide, std::int64_t column, std::int64_t row,
                                      std::vector<std::uint32_t>& pixels) const {
  const Region where = inside(column, row);
  pixels.resize(static_cast<std::size_t>(where.width) * static_cast<std::size_t>(where.height));
  openslide_read_region(slide, pixels.data(), std::llround(static_cast<double>(where.x) * scale_),
                        std::llround(static_cast<double>(where.y) * scale_), level_, where.width,
                        where.height);
  if (fault::strikes(fault::Kind::decode, "openslide_read_region")) return "it cannot be decoded";
  const char* reason = openslide_get_error(slide);
  return reason ? reason : "";
}

void SlidePicture::decode(std::int64_t column, std::int64_t row, bool colour, Block& block) {
  std::vector<std::uint32_t> pixels;
  std::string reason = read_pixels(current().get(), column, row, pixels);
  // A failed handle keeps failing for all its users, so test the block with a new handle.
  if (!reason.empty()) reason = read_pixels(open().get(), column, row, pixels);
  block.resize(info_.block, colour ? 3 : 1);
  const Region where = inside(column, row);
  if (!reason.empty()) {
    std::fill(pixels.begin(), pixels.end(), 0xff000000);
    block.damage.push_back({where, reason});
  }
  // Premultiplied with how much there is of a pixel; the rest is background.
  for (std::uint32_t& pixel : pixels) {
    const std::uint32_t missing = 255 - (pixel >> 24);
    if (missing == 0) continue;
    std::uint32_t mixed = 0;
    for (int shift = 0; shift < 24; shift += 8) {
      const std::uint32_t own = pixel >> shift & 255, behind = background_ >> shift & 255;
      mixed |= std::min<std::uint32_t>(255, own + (missing * behind + 127) / 255) << shift;
    }
    pixel = mixed;
  }
  if (!colour) {
    const PackedView packed{reinterpret_cast<const std::uint8_t*>(pixels.data()), where.width, where.height,
                            std::ptrdiff_t{where.width} * 4, PackedFormat::bgra};
    to_gray(packed, ImageView<std::uint8_t>(block.pixels.data(), where.width, where.height, kSide), 0,
            where.height);
    return;
  }
  for (int y = 0; y < where.height; ++y) {
    std::uint8_t* to = block.pixels.data() + static_cast<std::size_t>(y) * block.row_bytes();
    const std::uint32_t* from = pixels.data() + static_cast<std::size_t>(y) * where.width;
    for (int x = 0; x < where.width; ++x) {
      for (int c = 0; c < 3; ++c) to[3 * x + c] = static_cast<std::uint8_t>(from[x] >> (16 - 8 * c));
    }
  }
}

}  // namespace sightline::tiles
