#include "tiles/library_versions.hpp"

#include <libdeflate.h>
#include <openslide.h>
#include <tiffio.h>

#include <string_view>

namespace sightline::tiles {

namespace {

// Of "LIBTIFF, Version 4.5.0\nCopyright (c) ...".
std::string number_in(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin));
}

}  // namespace

std::vector<LibraryVersion> library_versions() {
  return {{"libtiff", number_in(TIFFLIB_VERSION_STR), number_in(TIFFGetVersion())},
          {"OpenSlide", "", openslide_get_version()},
          {"libdeflate", LIBDEFLATE_VERSION_STRING, ""}};
}

}  // namespace sightline::tiles
