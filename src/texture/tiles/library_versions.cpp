#include "texture/tiles/library_versions.hpp"

#include <libdeflate.h>
#include <openslide.h>
#include <tiffio.h>

#include <cstdio>  // jpeglib.h needs it before itself
#include <string_view>

#include <jpeglib.h>

namespace sightline::tiles {

namespace {

// The number in "LIBTIFF, Version 4.5.0
// Copyright (c) ...".
std::string number_in(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin));
}

// Their headers have the version as it is, without quotes.
#define SIGHTLINE_TEXT_OF(value) #value
#define SIGHTLINE_TEXT(value) SIGHTLINE_TEXT_OF(value)

}  // namespace

std::vector<LibraryVersion> library_versions() {
  return {{"libtiff", number_in(TIFFLIB_VERSION_STR), number_in(TIFFGetVersion())},
          {"libjpeg-turbo", SIGHTLINE_TEXT(LIBJPEG_TURBO_VERSION), ""},
          {"OpenSlide", "", openslide_get_version()},
          {"libdeflate", LIBDEFLATE_VERSION_STRING, ""}};
}

}  // namespace sightline::tiles
