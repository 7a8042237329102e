#pragma once
/// Internal to src/media: the devices of this process that decode.

#include <memory>
#include <string>

#include "media/decoder_choice.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {

using BufferPtr = std::unique_ptr<AVBufferRef, FreeByAddress<av_buffer_unref>>;

/// FFmpeg's context of a device (AVHWDeviceContext), opened at the first call and shared by all decoders: a
/// CUDA context takes hundreds of megabytes. It stays open to the end of the process, since the order
/// in which drivers unload is unknown. Hangs if the driver hangs.
/// @throws DecoderFault (unavailable)
/// Thread-safety: any thread.
BufferPtr open_hardware_device(const DecoderChoice& device);

/// Whether files of an NVIDIA driver are there. Loads nothing, since that takes time and memory.
bool has_nvidia_driver();

/// The NVIDIA driver with its version, as the kernel tells it; empty where it does not.
std::string nvidia_driver();

/// Makes the next `open_hardware_device` open the device again, because its context may be broken.
void reopen_hardware_device(const DecoderChoice& device);

/// Makes all later calls of `open_hardware_device` fail, because the driver hangs.
void lose_hardware_device(const DecoderChoice& device);

/// Returns true once per device: for the first warning that it cannot be used.
bool is_first_report(const DecoderChoice& device);

}  // namespace sightline::media
