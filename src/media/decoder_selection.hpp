#pragma once
/// Internal to src/media: which decoder a video gets.

#include <functional>
#include <memory>
#include <string>

#include "media/reader.hpp"
#include "media/video_decoder.hpp"

namespace sightline::media {

/// Opens the decoder that ReadOptions::decoder asks for, if it decodes such streams exactly, with software in
/// its place if it fails; else software. Logs which.
/// @param input          for messages
/// @param open_software  must be callable for as long as the decoder lives
std::unique_ptr<VideoDecoder> open_video_decoder(
    const ReadOptions& options, const std::string& input, const AVStream& stream,
    const std::function<std::unique_ptr<VideoDecoder>()>& open_software);

}  // namespace sightline::media
