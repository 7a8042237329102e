#include "media/ffmpeg.hpp"

#include <cstdarg>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/process_policy.hpp"
#include "media/secrets.hpp"
#include "media/stream_input.hpp"

namespace sightline::media {
namespace {

void count_concealment(void* object, std::string_view format) {
  if (!object || *static_cast<const AVClass**>(object) != avcodec_get_class()) return;
  const auto* const context = static_cast<const AVCodecContext*>(object);
  if (!context->opaque || !context->codec || !av_codec_is_decoder(context->codec)) return;
  if (format.starts_with("concealing ")) ++static_cast<Concealments*>(context->opaque)->frames;
}

void note_input_error(void* object, int level) {
  if (level <= AV_LOG_ERROR && object && *static_cast<const AVClass**>(object) == avformat_get_class())
    StreamInput::note_error(*static_cast<const AVFormatContext*>(object));
}

// FFmpeg's log lines are all debug lines. Errors that matter to the user come as return values and are
// reported from there.
void log_message(void* object, int level, const char* format, va_list arguments) {
  count_concealment(object, format);
  note_input_error(object, level);
  if (level > AV_LOG_INFO || !logger().should_log(spdlog::level::debug)) return;
  try {
    char line[1024];
    int print_prefix = 1;
    av_log_format_line2(object, level, format, arguments, line, sizeof line, &print_prefix);
    std::string_view text(line);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    if (!text.empty()) logger().debug("ffmpeg: {}", redacted(text));
  } catch (...) {  // called by C code, which an exception must not cross
  }
}

}  // namespace

void CloseOutput::operator()(AVFormatContext* context) const {
  const bool has_own = (context->flags & AVFMT_FLAG_CUSTOM_IO) != 0;
  if (!has_own && context->oformat && !(context->oformat->flags & AVFMT_NOFILE)) avio_closep(&context->pb);
  avformat_free_context(context);
}

FramePtr make_av_frame() {
  FramePtr frame(av_frame_alloc());
  if (!frame || fault::strikes(fault::Kind::allocate, "av_frame_alloc")) throw std::bad_alloc();
  return frame;
}

PacketPtr make_av_packet() {
  PacketPtr packet(av_packet_alloc());
  if (!packet || fault::strikes(fault::Kind::allocate, "av_packet_alloc")) throw std::bad_alloc();
  return packet;
}

FramePtr make_picture(AVPixelFormat format, int width, int height) {
  FramePtr frame = make_av_frame();
  frame->format = format;
  frame->width = width;
  frame->height = height;
  if (fault::strikes(fault::Kind::allocate, "av_frame_get_buffer") ||
      av_frame_get_buffer(frame.get(), 64) < 0)
    throw std::bad_alloc();
  return frame;
}

bool has_option(const AVOutputFormat& container, const char* name) {
  return container.priv_class && av_opt_find2(const_cast<const AVClass**>(&container.priv_class), name,
                                              nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ, nullptr) != nullptr;
}

std::string error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

void start_ffmpeg() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (process_policy().takes_ffmpeg_messages) av_log_set_callback(log_message);
    avformat_network_init();
  });
}

int best_video_stream(AVFormatContext& context) {
  const int best = av_find_best_stream(&context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  return best >= 0 && (context.streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC) ? -1 : best;
}

std::int64_t start_of(const AVFormatContext& context, const AVStream& stream) {
  if (stream.start_time != AV_NOPTS_VALUE) return stream.start_time;
  if (context.start_time == AV_NOPTS_VALUE) return 0;
  return av_rescale_q(context.start_time, AVRational{1, AV_TIME_BASE}, stream.time_base);
}

}  // namespace sightline::media
