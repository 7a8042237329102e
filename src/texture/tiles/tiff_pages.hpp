#pragma once
/// Finds the pages of a TIFF file that are separate pictures.

#include <filesystem>

namespace sightline::tiles {

/// Detects TIFF by a file's first bytes.
bool is_tiff(const std::filesystem::path& file);

struct TiffPages {
  int first = 0;            ///< OpenOptions::page of the first picture
  int left_out = 0;         ///< pictures behind it; reduced copies and masks are none
  double pixel_aspect = 1;  ///< pixel width / height of the first picture, upright
};

/// @throws Error (input) if the file cannot be read, or holds reduced copies alone (as camera raw files)
TiffPages tiff_pages(const std::filesystem::path& file);

}  // namespace sightline::tiles
