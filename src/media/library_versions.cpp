#include "media/library_versions.hpp"

#include <algorithm>

#include "media/ffmpeg.hpp"

namespace sightline::media {
namespace {

std::string text_of(unsigned version) {
  return std::to_string(AV_VERSION_MAJOR(version)) + "." + std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

}  // namespace

std::vector<LibraryVersion> library_versions() {
  return {{"libavformat", text_of(LIBAVFORMAT_VERSION_INT), text_of(avformat_version())},
          {"libavcodec", text_of(LIBAVCODEC_VERSION_INT), text_of(avcodec_version())},
          {"libavutil", text_of(LIBAVUTIL_VERSION_INT), text_of(avutil_version())},
          {"libswscale", text_of(LIBSWSCALE_VERSION_INT), text_of(swscale_version())},
          {"FFmpeg", av_version_info(), ""}};
}

std::vector<std::string> video_encoder_names() {
  std::vector<std::string> names;
  void* place = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&place)) {
    if (codec->type == AVMEDIA_TYPE_VIDEO && av_codec_is_encoder(codec)) names.emplace_back(codec->name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sightline::media
