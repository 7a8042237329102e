#include "media/library_versions.hpp"

#include <algorithm>

#include "media/ffmpeg.hpp"

namespace sightline::media {
namespace {

std::string dotted_version(unsigned version) {
  return std::to_string(AV_VERSION_MAJOR(version)) + "." + std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

}  // namespace

std::vector<LibraryVersion> library_versions() {
  return {{"libavformat", dotted_version(LIBAVFORMAT_VERSION_INT), dotted_version(avformat_version())},
          {"libavcodec", dotted_version(LIBAVCODEC_VERSION_INT), dotted_version(avcodec_version())},
          {"libavutil", dotted_version(LIBAVUTIL_VERSION_INT), dotted_version(avutil_version())},
          {"libswscale", dotted_version(LIBSWSCALE_VERSION_INT), dotted_version(swscale_version())},
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
