#pragma once
/// Internal to src/media: packets of live inputs: arrival times, ownership of their memory, and empty
/// packets.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// One moment by the clocks that devices stamp their pictures with.
struct Moment {
  std::int64_t steady = 0;  ///< ns of std::chrono::steady_clock, which is CLOCK_MONOTONIC
  std::int64_t wall = 0;    ///< microseconds since 1970

  static Moment now();
};

/// When a device took a picture, in ns of the steady clock.
/// @param stamp  its time in microseconds, by whichever of the two clocks makes sense of it
/// @return none if neither does: the picture would be from the future, or 10 s old or more
std::optional<std::int64_t> captured_at(std::int64_t stamp, const Moment& now);

/// Makes the decoder pass a packet's arrival on to the picture that it becomes, in whatever order pictures
/// come out. To be called right before the packet is sent. `enable_arrivals` before the decoder is opened.
void enable_arrivals(AVCodecContext& decoder);
void set_arrival(AVPacket& packet, AVCodecContext& decoder, std::int64_t nanoseconds);
std::int64_t arrival_of(const AVFrame& picture);
void set_arrival(AVFrame& picture, std::int64_t nanoseconds);

/// Gives the decoder a packet, unless there is nothing in it: V4L2 drivers deliver pictures that were damaged
/// on their way as empty packets, which a decoder would take for the end of the stream.
/// @return FFmpeg's code; AVERROR_INVALIDDATA for an empty packet
int send_data(AVCodecContext& decoder, const AVPacket& packet);

/// Copies the data of packets that borrow it. V4L2 lends its driver's few buffers, needs them back for the
/// next pictures, and unmaps them when it is closed, even if they are still in use. Thread-safety: one thread
/// at a time; packet data may be freed from any thread.
class PacketCopier {
 public:
  /// Gives the packet its own copy and returns the borrowed buffer.
  void own(AVPacket& packet);

 private:
  using PoolPtr = std::unique_ptr<AVBufferPool, FreeByAddress<av_buffer_pool_uninit>>;
  PoolPtr pool_;
  std::size_t room_ = 0;
};

}  // namespace sightline::media
