#pragma once
/// Internal to src/media: memory on the host that a device copies pictures to.

#include <cstddef>
#include <memory>

#include "media/ffmpeg.hpp"

namespace sightline::media {

using BufferPoolPtr = std::unique_ptr<AVBufferPool, FreeByAddress<av_buffer_pool_uninit>>;

/// A pool of buffers: page-locked for a CUDA device, which copies several times as fast to them, if its
/// driver has some; else ordinary. Buffers and their device outlive the pool for as long as they are used.
/// @param device  AVHWDeviceContext
/// @throws std::bad_alloc
BufferPoolPtr make_host_pool(const AVBufferRef& device, std::size_t bytes);

}  // namespace sightline::media
