#include <array>

#include "base/error.hpp"
#include "memory_file.hpp"
#include "targets.hpp"
#include "texture/tiles/tiff_pages.hpp"
#include "texture/tiles/tiff_picture.hpp"

namespace sightline::fuzz {

void tiles(Bytes bytes) {
  if (bytes.size() > kLargestModel) return;
  const MemoryFile file(bytes);
  if (!tiles::is_tiff(file.path())) return;
  for (const int page : {0, 1}) {
    try {
      tiles::OpenOptions options;
      options.page = page;
      options.range = {0, 1000};
      tiles::TiffPicture picture(file.path(), options);
      const tiles::PictureInfo& info = picture.info();
      // What a few bytes claim to be large is as slow to decode as it says.
      if (std::int64_t{info.block.width} * info.block.height > 1 << 20) continue;
      // The first and the last pixels.
      const int width = static_cast<int>(std::min<std::int64_t>(info.width, 300));
      const int height = static_cast<int>(std::min<std::int64_t>(info.height, 300));
      Image<std::uint8_t> luma(width, height), blue(width, height);
      const std::array views{luma.view(), blue.view()};
      const std::array channels{tiles::Channel::luma, tiles::Channel::blue};
      picture.read({0, 0, width, height}, channels, views);
      picture.read({info.width - width, info.height - height, width, height}, channels, views);
    } catch (const Error&) {
    }
  }
}

}  // namespace sightline::fuzz
