#include "texture/tiles/tiff_pages.hpp"

#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "image/turn.hpp"
#include "texture/tiles/tiff_file.hpp"

namespace sightline::tiles {
namespace {

double pixel_aspect_of(const TiffFile& tiff) {
  const double across = tiff.tag<float>(TIFFTAG_XRESOLUTION, 1),
               down = tiff.tag<float>(TIFFTAG_YRESOLUTION, 1);
  const double aspect = across > 0 && down > 0 && std::isfinite(down / across) ? down / across : 1;
  const Turn turn = turn_of_orientation(tiff.tag<std::uint16_t>(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT));
  return turn.transpose ? 1 / aspect : aspect;
}

}  // namespace

bool is_tiff(const std::filesystem::path& file) {
  char head[4] = {};
  std::ifstream(file, std::ios::binary).read(head, sizeof head);
  const std::string_view text(head, sizeof head);
  for (const std::string_view known : {std::string_view("II\x2a\0", 4), std::string_view("MM\0\x2a", 4),
                                       std::string_view("II\x2b\0", 4), std::string_view("MM\0\x2b", 4)}) {
    if (text == known) return true;
  }
  return false;
}

TiffPages tiff_pages(const std::filesystem::path& file) {
  constexpr int kMostPages = 1000;  // limit of pages to examine
  const TiffFile tiff = open_tiff_page(file, 0);
  std::optional<TiffPages> found;
  int pictures = 0;
  for (int page = 0; page < kMostPages; ++page) {
    const auto kind = tiff.tag<std::uint32_t>(TIFFTAG_SUBFILETYPE, 0);
    if ((kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0) {
      if (!found) found = {page, 0, pixel_aspect_of(tiff)};
      ++pictures;
    }
    if (TIFFReadDirectory(tiff.get()) != 1) break;
  }
  if (!found)
    throw Error(ExitCode::input,
                "'" + file.string() + "' contains only a reduced copy of its picture, like camera raw files",
                "convert it to a TIFF or JPEG with the camera's software");
  found->left_out = pictures - 1;
  return *found;
}

}  // namespace sightline::tiles
