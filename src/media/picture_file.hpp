#pragma once
/// Single annotated pictures.

#include <span>
#include <string>

#include "media/frame.hpp"
#include "media/stream_info.hpp"
#include "media/writer.hpp"
#include "processing/frame_result.hpp"

namespace sightline::media {

/// Writes a frame at its own size with the objects drawn in, as Writer does, over what is there. Of `info`
/// the colours and the sample aspect count. @throws as Writer
void write_picture(const std::string& path, const Frame& frame, std::span<const Detection> objects,
                   std::span<const std::string> labels, StreamInfo info, WriteOptions options = {});

/// Default file name of pictures.
inline constexpr const char* kPicturePattern = "sightline-%Y%m%d-%H%M%S-%f.png";

/// Writes a frame with the objects drawn in to a new file: a name, a pattern (`%f` is the frame's number) or
/// a folder, as FileNames takes them (base/file_names.hpp); what is there is never replaced. PNG, JPEG or
/// another type of picture by the extension. Takes as long as encoding a picture does (a PNG of 1080 rows
/// well over a frame's time): not for a thread that shows frames.
/// @return the file's name
/// @throws Error (usage) for a name that is not a picture's; (failed) where it cannot be written; (input) for
///         a frame that is empty or cannot be converted
std::string save_picture(const std::string& pattern, const Frame& frame, std::span<const Detection> objects,
                         std::span<const std::string> labels);

}  // namespace sightline::media
