#pragma once
/// Internal to src/media: the devices of this process that decode.

#include <memory>

#include "media/decoder_choice.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {

using BufferPtr = std::unique_ptr<AVBufferRef, FreeByAddress<av_buffer_unref>>;

/// FFmpeg's context of a device (AVHWDeviceContext), opened at the first call and shared by all decoders: a
/// CUDA context takes hundreds of megabytes. It stays open to the end of the process, since drivers unload in
/// an order that nobody knows. May hang, if the driver does.
/// @throws DecoderFault (unavailable)
/// Thread-safety: any thread.
BufferPtr open_hardware_device(const DecoderChoice& device);

/// Makes the next `open_hardware_device` open it anew: its context may be broken.
void reopen_hardware_device(const DecoderChoice& device);

/// Makes all later `open_hardware_device` fail: its driver hangs.
void lose_hardware_device(const DecoderChoice& device);

/// Whether nobody has been told so far that the device cannot be used: true once.
bool is_first_report(const DecoderChoice& device);

}  // namespace sightline::media
