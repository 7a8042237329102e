#include "media/live_packets.hpp"

#include <chrono>
#include <cstring>
#include <new>

namespace sightline::media {

Moment Moment::now() {
  using std::chrono::duration_cast;
  return {
      duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(),
      duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

std::optional<std::int64_t> captured_at(std::int64_t stamp, const Moment& now) {
  constexpr std::int64_t limit = 10'000'000;
  for (const std::int64_t clock : {now.steady / 1000, now.wall})
    if (stamp <= clock && stamp > clock - limit) return now.steady - (clock - stamp) * 1000;
  return std::nullopt;
}

// FFmpeg has had two ways; the headers know one of them at least.
#ifdef AV_CODEC_FLAG_COPY_OPAQUE
void enable_arrivals(AVCodecContext& decoder) {
  decoder.flags |= AV_CODEC_FLAG_COPY_OPAQUE;
}
void set_arrival(AVPacket& packet, AVCodecContext&, std::int64_t nanoseconds) {
  static_assert(sizeof(std::intptr_t) == sizeof nanoseconds);
  packet.opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(nanoseconds));
}
std::int64_t arrival_of(const AVFrame& picture) {
  return reinterpret_cast<std::intptr_t>(picture.opaque);
}
void set_arrival(AVFrame& picture, std::int64_t nanoseconds) {
  picture.opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(nanoseconds));
}
#else
void enable_arrivals(AVCodecContext&) {}
void set_arrival(AVPacket&, AVCodecContext& decoder, std::int64_t nanoseconds) {
  decoder.reordered_opaque = nanoseconds;
}
std::int64_t arrival_of(const AVFrame& picture) {
  return picture.reordered_opaque;
}
void set_arrival(AVFrame& picture, std::int64_t nanoseconds) {
  picture.reordered_opaque = nanoseconds;
}
#endif

int send_data(AVCodecContext& decoder, const AVPacket& packet) {
  if (packet.size == 0 && packet.side_data_elems == 0) return AVERROR_INVALIDDATA;
  return avcodec_send_packet(&decoder, &packet);
}

void PacketCopier::own(AVPacket& packet) {
  const auto size = static_cast<std::size_t>(packet.size);
  const std::size_t needed = size + AV_INPUT_BUFFER_PADDING_SIZE;
  if (needed > room_) {
    pool_.reset(av_buffer_pool_init(needed, nullptr));
    room_ = pool_ ? needed : 0;
  }
  AVBufferRef* copy = pool_ ? av_buffer_pool_get(pool_.get()) : nullptr;
  if (!copy) throw std::bad_alloc();
  if (size > 0) std::memcpy(copy->data, packet.data, size);
  std::memset(copy->data + size, 0, AV_INPUT_BUFFER_PADDING_SIZE);  // decoders read past the end
  av_buffer_unref(&packet.buf);
  packet.buf = copy;
  packet.data = copy->data;
}

}  // namespace sightline::media
