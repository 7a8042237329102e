#include "media/video_decoder.hpp"

#include <new>

#include "media/live_packets.hpp"

namespace sightline::media {

int SoftwareDecoder::send(AVPacket* packet, std::int64_t arrival) {
  return send_packet(*context_, packet, arrival);
}

int SoftwareDecoder::receive(AVFrame& picture) {
  return avcodec_receive_frame(context_.get(), &picture);
}

void SoftwareDecoder::flush() {
  avcodec_flush_buffers(context_.get());
}

CodecContextPtr make_decoder_context(const AVCodec& codec, const AVCodecParameters& parameters,
                                     AVRational time_base, bool low_delay) {
  CodecContextPtr context(avcodec_alloc_context3(&codec));
  if (!context || avcodec_parameters_to_context(context.get(), &parameters) < 0) throw std::bad_alloc();
  context->pkt_timebase = time_base;
  if (low_delay) context->flags |= AV_CODEC_FLAG_LOW_DELAY;
  enable_arrivals(*context);
  return context;
}

int send_packet(AVCodecContext& context, AVPacket* packet, std::int64_t arrival) {
  if (!packet) return avcodec_send_packet(&context, nullptr);
  set_arrival(*packet, context, arrival);
  return send_data(context, *packet);
}

bool is_damaged(const AVFrame& picture) {
  return picture.decode_error_flags != 0 || (picture.flags & AV_FRAME_FLAG_CORRUPT);
}

}  // namespace sightline::media
