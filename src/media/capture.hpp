#pragma once
/// Internal to src/media: cameras, screens and generators, by FFmpeg's libavdevice, which is loaded when an
/// input needs it.

#include <string>

#include "base/error.hpp"
#include "media/ffmpeg.hpp"
#include "media/input_kind.hpp"
#include "media/reader.hpp"

namespace sightline::media {

/// The name that the loader knows libavdevice by; empty where Sightline is built without it.
std::string capture_library();

/// Makes the input formats of libavdevice (lavfi, v4l2, ...) known to FFmpeg. The library is loaded on demand
/// and stays loaded, because its eighty dependencies would dominate the program's start and few inputs need
/// it. Idempotent, thread-safe.
/// @param input    for the message
/// @throws Error (input) if the library is missing
void load_capture(const std::string& input, const std::string& library = capture_library());

/// FFmpeg's format of a camera, screen or generator.
/// @param url       the input; becomes what this format opens. `name`: without its secrets, for messages
/// @param settings  receives what `capture` asks for
/// @throws Error (input) if this machine cannot capture it
const AVInputFormat& capture_format(InputKind kind, std::string& url, const std::string& name,
                                    const CaptureOptions& capture, Dictionary& settings);

/// The error of such an input that FFmpeg does not open. @param code  FFmpeg's
Error capture_error(InputKind kind, const std::string& name, int code);

}  // namespace sightline::media
