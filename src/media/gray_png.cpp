#include "media/gray_png.hpp"

#include <algorithm>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {
namespace {

void require(int result, const char* step) {
  if (result < 0 || fault::strikes(fault::Kind::encode, "png"))
    throw Error(ExitCode::failed,
                std::string("cannot encode a picture as PNG (") + step + ": " + error_text(result) + ")");
}

}  // namespace

std::string encode_gray_png(GrayView picture) {
  start_ffmpeg();
  const AVCodec* const codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (!codec) throw Error(ExitCode::failed, "this build of FFmpeg has no encoder for PNG");
  const CodecContextPtr context(avcodec_alloc_context3(codec));
  if (!context) throw std::bad_alloc();
  context->width = picture.width();
  context->height = picture.height();
  context->pix_fmt = AV_PIX_FMT_GRAY8;
  context->time_base = {1, 1};
  context->thread_count = 1;
  require(avcodec_open2(context.get(), codec, nullptr), "open");
  const FramePtr frame = make_picture(AV_PIX_FMT_GRAY8, picture.width(), picture.height());
  for (int y = 0; y < picture.height(); ++y)
    std::copy_n(picture.row(y), picture.width(),
                frame->data[0] + static_cast<std::ptrdiff_t>(y) * frame->linesize[0]);
  require(avcodec_send_frame(context.get(), frame.get()), "send");
  const PacketPtr packet = make_av_packet();
  require(avcodec_receive_packet(context.get(), packet.get()), "receive");
  return {reinterpret_cast<const char*>(packet->data), static_cast<std::size_t>(packet->size)};
}

void write_gray_png(const std::filesystem::path& file, GrayView picture) {
  write_whole(file, encode_gray_png(picture), "picture");
}

}  // namespace sightline::media
