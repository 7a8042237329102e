#include "media/audio_track.hpp"

#include <deque>
#include <limits>
#include <mutex>
#include <new>

#include "base/fault.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {

struct AudioTrack::Impl {
  CodecParametersPtr parameters;
  AVRational time_base;
  mutable std::mutex mutex;
  std::deque<PacketPtr> packets;
  std::size_t bytes = 0;
  std::int64_t pushed = 0;
  std::int64_t dropped = 0;
  std::int64_t last_time = std::numeric_limits<std::int64_t>::min();

  PacketPtr take() {
    PacketPtr packet = std::move(packets.front());
    packets.pop_front();
    bytes -= static_cast<std::size_t>(packet->size);
    return packet;
  }
};

AudioTrack::AudioTrack(const AVCodecParameters& parameters, const AVRational& time_base)
    : impl_(std::make_unique<Impl>()) {
  impl_->time_base = time_base;
  impl_->parameters.reset(avcodec_parameters_alloc());
  if (!impl_->parameters || avcodec_parameters_copy(impl_->parameters.get(), &parameters) < 0)
    throw std::bad_alloc();
}

AudioTrack::~AudioTrack() = default;

const AVCodecParameters& AudioTrack::parameters() const {
  return *impl_->parameters;
}
const AVRational& AudioTrack::time_base() const {
  return impl_->time_base;
}

void AudioTrack::push(AVPacket& packet) {
  PacketPtr own = make_av_packet();
  av_packet_move_ref(own.get(), &packet);
  // A packet may point into memory of its demuxer, which can be closed before we are done.
  if (fault::strikes(fault::Kind::allocate, "av_packet_make_refcounted") ||
      av_packet_make_refcounted(own.get()) < 0)
    throw std::bad_alloc();
  const std::lock_guard lock(impl_->mutex);
  const std::int64_t time = own->pts != AV_NOPTS_VALUE ? own->pts : own->dts;
  if (time != AV_NOPTS_VALUE) {
    if (time <= impl_->last_time) return;
    impl_->last_time = time;
  }
  impl_->bytes += static_cast<std::size_t>(own->size);
  impl_->packets.push_back(std::move(own));
  ++impl_->pushed;
  while (impl_->packets.size() > kMaxPackets || (impl_->bytes > kMaxBytes && impl_->packets.size() > 1)) {
    impl_->take();
    ++impl_->dropped;
  }
}

bool AudioTrack::pop(AVPacket& packet) {
  av_packet_unref(&packet);
  const std::lock_guard lock(impl_->mutex);
  if (impl_->packets.empty()) return false;
  av_packet_move_ref(&packet, impl_->take().get());
  return true;
}

bool AudioTrack::next_time(double& seconds) const {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->packets.empty()) return false;
  const AVPacket& packet = *impl_->packets.front();
  const std::int64_t time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  seconds = time == AV_NOPTS_VALUE ? 0 : static_cast<double>(time) * av_q2d(impl_->time_base);
  return true;
}

std::int64_t AudioTrack::pushed() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->pushed;
}

std::int64_t AudioTrack::dropped() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->dropped;
}

}  // namespace sightline::media
