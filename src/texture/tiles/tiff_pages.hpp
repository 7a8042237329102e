#pragma once
/// Which pages of a TIFF file are pictures of their own.

#include <filesystem>

namespace sightline::tiles {

/// By its first bytes.
bool is_tiff(const std::filesystem::path& file);

struct TiffPages {
  int first = 0;            ///< OpenOptions::page of the first picture
  int left_out = 0;         ///< pictures behind it; reduced copies and masks are none
  double pixel_aspect = 1;  ///< of the first picture, upright: width of a pixel by its height
};

/// @throws Error (input) where the file cannot be read, or holds reduced copies alone (as camera raw files)
TiffPages tiff_pages(const std::filesystem::path& file);

}  // namespace sightline::tiles
