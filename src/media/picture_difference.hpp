#pragma once
/// Internal to src/media: comparison of decoded pictures.

#include <string>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Describes the first difference of two pictures in format, size or planes; empty if they are equal.
std::string picture_difference(const AVFrame& a, const AVFrame& b);

}  // namespace sightline::media
