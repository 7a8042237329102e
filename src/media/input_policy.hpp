#pragma once
/// Internal to src/media: which formats and protocols an input may use.

#include <string>

#include "media/byte_source.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Formats that hold pictures or video themselves, as FFmpeg's `format_whitelist` takes them. Excludes
/// formats that refer to other files or servers, and text that FFmpeg renders like a terminal.
inline constexpr const char* kFormats =
    "mov,matroska,avi,mpegts,mpeg,mpegvideo,flv,live_flv,kux,asf,asf_o,ogg,nut,nuv,rm,wtv,mxf,gxf,dv,swf,"
    "h261,h263,h264,hevc,vvc,m4v,vc1,vc1test,av1,obu,ivf,dirac,cavsvideo,avs2,avs3,mjpeg,mjpeg_2000,mpjpeg,"
    "dhav,ifv,ipu,yuv4mpegpipe,y4m,smjpeg,vidc,image2,gif,apng,fits,filmstrip,"
    "bmp_pipe,cri_pipe,dds_pipe,dpx_pipe,exr_pipe,gem_pipe,gif_pipe,hdr_pipe,j2k_pipe,jpeg_pipe,jpegls_pipe,"
    "jpegxl_pipe,jpegxl_anim,pam_pipe,pbm_pipe,pcx_pipe,pfm_pipe,pgm_pipe,pgmyuv_pipe,pgx_pipe,phm_pipe,"
    "photocd_pipe,pictor_pipe,png_pipe,ppm_pipe,psd_pipe,qdraw_pipe,qoi_pipe,sgi_pipe,sunrast_pipe,tiff_pipe,"
    "vbn_pipe,webp_pipe,xbm_pipe,xpm_pipe,xwd_pipe";

bool is_allowed(const AVInputFormat& format);

/// Whether streams of this codec may be decoded. Drawings and text are not: FFmpeg renders them, at any cost
/// in time. For `image2`, which chooses the codec by the file's extension, only the pictures among kFormats
/// and the few that have no signature are.
bool is_allowed(AVCodecID codec, const AVInputFormat& format);

/// The decoders that may be used, as `codec_whitelist` takes them.
std::string allowed_decoders(const AVInputFormat& format, AVCodecID except = AV_CODEC_ID_NONE);

/// Whether a format names other files or servers.
bool is_reference(const AVInputFormat& format);

/// The protocols that FFmpeg needs for a URL of the network, as `protocol_whitelist` takes them; empty where
/// Sightline does not open such URLs.
std::string protocols_for(const std::string& url);

/// Whether a local playlist may name the file: a regular one of the playlist's folder or below, links
/// followed.
bool is_beside(const std::string& playlist, const std::string& file);

/// Waits until a host's name is found or is known not to be found, for FFmpeg's own search cannot be
/// interrupted.
void await_name(const std::string& host, const Interrupted& interrupted);

}  // namespace sightline::media
