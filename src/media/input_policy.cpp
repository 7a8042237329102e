#include "media/input_policy.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace sightline::media {

// FFmpeg's names are lists of synonyms, and av_match_list looks for any of the one in the other.
bool is_allowed(const AVInputFormat& format) {
  return av_match_list(format.name, kFormats, ',') > 0;
}

namespace {

bool is_chosen_by_name(const AVInputFormat& format) {
  return std::string_view(format.name) == "image2";
}

}  // namespace

// By name, since older versions of FFmpeg lack some of them.
bool is_allowed(AVCodecID codec, const AVInputFormat& format) {
  constexpr const char* kDrawn = "svg,ansi,bintext,xbin,idf";
  constexpr const char* kPictures =
      "alias_pix,apng,bmp,brender_pix,cri,dds,dpx,exr,fits,gem,gif,jpeg2000,jpegls,jpegxl,ljpeg,mjpeg,pam,"
      "pbm,pcx,pfm,pgm,pgmyuv,pgx,phm,photocd,pictor,png,ppm,psd,qdraw,qoi,radiance_hdr,sgi,sunrast,targa,"
      "tiff,vbn,wbmp,webp,xbm,xpm,xwd";
  const char* const name = avcodec_get_name(codec);
  return is_chosen_by_name(format) ? av_match_name(name, kPictures) > 0 : av_match_name(name, kDrawn) == 0;
}

std::string allowed_decoders(const AVInputFormat& format, AVCodecID except) {
  // Looking through all decoders takes 0.2 ms, and a folder has many pictures.
  static std::mutex mutex;
  static std::map<std::pair<bool, AVCodecID>, std::string> known;
  const std::lock_guard lock(mutex);
  const std::pair key(is_chosen_by_name(format), except);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  std::string names;
  void* position = nullptr;
  while (const AVCodec* const codec = av_codec_iterate(&position)) {
    if (codec->id != except && av_codec_is_decoder(codec) && is_allowed(codec->id, format))
      names += (names.empty() ? "" : ",") + std::string(codec->name);
  }
  return known.emplace(key, std::move(names)).first->second;
}

bool is_reference(const AVInputFormat& format) {
  constexpr std::array kReferences{"hls", "dash", "sdp", "concat", "imf", "webm_dash_manifest", "ffmetadata"};
  return std::ranges::any_of(kReferences,
                             [&](const char* name) { return av_match_list(format.name, name, ',') > 0; });
}

std::string protocols_for(const std::string& url) {
  static const std::map<std::string_view, const char*> known{
      {"rtsp", "tcp,udp,rtp"}, {"rtsps", "tls,tcp"}, {"rtp", "rtp,udp"},
      {"udp", "udp"},          {"tcp", "tcp"},       {"tls", "tls,tcp"},
      {"srt", "srt"},          {"rtmp", "rtmp,tcp"}, {"rtmps", "rtmps,tls,tcp"}};
  const auto found = known.find(std::string_view(url).substr(0, url.find("://")));
  return found == known.end() ? "" : found->second;
}

bool is_beside(const std::string& playlist, const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::canonical(playlist, error).parent_path();
  if (error) return false;
  const fs::path named = fs::canonical(file, error);
  if (error || !fs::is_regular_file(named, error)) return false;
  return std::ranges::mismatch(folder, named).in1 == folder.end();
}

void await_name(const std::string& host, const Interrupted& interrupted) {
  struct Search {
    std::string host;
    gaicb request{};
    std::array<gaicb*, 1> list{&request};
  };
  auto search = std::make_unique<Search>();
  search->host = host;
  search->request.ar_name = search->host.c_str();
  if (getaddrinfo_a(GAI_NOWAIT, search->list.data(), 1, nullptr) != 0) return;
  constexpr timespec kInterval{0, 50'000'000};
  while (gai_error(&search->request) == EAI_INPROGRESS) {
    if (interrupted()) {
      // The search's thread writes to what cannot be cancelled.
      if (gai_cancel(&search->request) == EAI_NOTCANCELED) static_cast<void>(search.release());
      return;
    }
    gai_suspend(search->list.data(), 1, &kInterval);
  }
  if (search->request.ar_result) freeaddrinfo(search->request.ar_result);
}

}  // namespace sightline::media
