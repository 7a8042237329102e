#pragma once
/// Single annotated pictures.

#include <span>
#include <string>

#include "frame/frame.hpp"
#include "frame/frame_result.hpp"
#include "frame/stream_info.hpp"
#include "media/writer.hpp"

namespace sightline::media {

/// Writes a frame at its own size with the objects drawn in, like Writer; replaces an existing file. Uses the
/// colours and the sample aspect of `info`. @throws like Writer
void write_picture(const std::string& path, const Frame& frame, std::span<const Detection> objects,
                   std::span<const std::string> labels, StreamInfo info, WriteOptions options = {});

/// Default file name of pictures.
inline constexpr const char* kPicturePattern = "sightline-%Y%m%d-%H%M%S-%f.png";

/// Writes a frame with the objects drawn in to a new file: a name, a pattern (`%f` is the frame's number) or
/// a folder, as FileNames takes them (base/file_names.hpp); existing files are never replaced. The extension
/// gives the type: PNG, JPEG, etc. Encoding takes well over a frame's time (PNG of 1080 rows): do not call it
/// in a thread that shows frames.
/// @return the file's name
/// @throws Error (usage) for a name that is not a picture's; (failed) if it cannot be written; (input) for a
///         frame that is empty or cannot be converted
std::string save_picture(const std::string& pattern, const Frame& frame, std::span<const Detection> objects,
                         std::span<const std::string> labels);

}  // namespace sightline::media
