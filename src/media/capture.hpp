#pragma once
/// Internal to src/media: FFmpeg's capture devices and generators (libavdevice), loaded when an input needs
/// them.

#include <string>

namespace sightline::media {

/// The name that the loader knows libavdevice by; empty where Sightline is built without it.
std::string capture_library();

/// Makes the input formats of libavdevice (lavfi, v4l2, ...) known to FFmpeg. It is not linked: it brings
/// some eighty libraries along, whose loading would take longer than all else at the program's start, and few
/// inputs need any of them. It then stays loaded. Idempotent, thread-safe.
/// @param input    for the message
/// @throws Error (input) where the library is not there
void load_capture(const std::string& input, const std::string& library = capture_library());

}  // namespace sightline::media
