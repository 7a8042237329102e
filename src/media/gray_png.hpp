#pragma once
/// Luma as a picture file, without loss.

#include <filesystem>
#include <string>

#include "image/view.hpp"

namespace sightline::media {

/// A PNG of one byte a pixel. Throws Error (failed) if the encoder refuses, and std::bad_alloc.
std::string encode_gray_png(GrayView picture);

/// Writes it to a file, which has its name once it is whole. Throws Error (failed) with the system's reason.
void write_gray_png(const std::filesystem::path& file, GrayView picture);

}  // namespace sightline::media
