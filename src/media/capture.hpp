#pragma once
/// Internal to src/media: FFmpeg's capture devices and generators (libavdevice), loaded when an input needs
/// them.

#include <string>

namespace sightline::media {

/// The name that the loader knows libavdevice by; empty where Sightline is built without it.
std::string capture_library();

/// Makes the input formats of libavdevice (lavfi, v4l2, ...) known to FFmpeg. The library is loaded on demand
/// and stays loaded, because its eighty dependencies would dominate the program's start and few inputs need
/// it. Idempotent, thread-safe.
/// @param input    for the message
/// @throws Error (input) if the library is missing
void load_capture(const std::string& input, const std::string& library = capture_library());

}  // namespace sightline::media
