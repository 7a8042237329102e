#pragma once
/// Internal to src/media: FFmpeg's headers, owners for its objects, its error texts, its log.
///
/// This is the only header that includes FFmpeg; public headers use forward declarations.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace sightline::media {

/// Deleter for the FFmpeg functions that take the address of the pointer.
template <auto Free>
struct FreeByAddress {
  template <typename T>
  void operator()(T* object) const {
    Free(&object);
  }
};
/// Deleter for the ones that take the pointer.
template <auto Free>
struct FreeByPointer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using FramePtr = std::unique_ptr<AVFrame, FreeByAddress<av_frame_free>>;
using PacketPtr = std::unique_ptr<AVPacket, FreeByAddress<av_packet_free>>;
using CodecContextPtr = std::unique_ptr<AVCodecContext, FreeByAddress<avcodec_free_context>>;
using CodecParametersPtr = std::unique_ptr<AVCodecParameters, FreeByAddress<avcodec_parameters_free>>;
using InputContextPtr = std::unique_ptr<AVFormatContext, FreeByAddress<avformat_close_input>>;

/// A file being written: closed with its context, where the muxer has not opened it itself.
struct CloseOutput {
  void operator()(AVFormatContext* context) const;
};
using OutputContextPtr = std::unique_ptr<AVFormatContext, CloseOutput>;
using ScaleContextPtr = std::unique_ptr<SwsContext, FreeByPointer<sws_freeContext>>;

/// A context with callbacks, and its buffer.
struct FreeIo {
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
};
using IoPtr = std::unique_ptr<AVIOContext, FreeIo>;

/// @param callbacks  read, write and seek, as avio_alloc_context takes them. @throws std::bad_alloc
template <typename... Callbacks>
IoPtr make_io(int size, bool writes, void* self, Callbacks... callbacks) {
  auto* const buffer = static_cast<unsigned char*>(av_malloc(static_cast<std::size_t>(size)));
  IoPtr io(buffer ? avio_alloc_context(buffer, size, writes, self, callbacks...) : nullptr);
  if (io) return io;
  av_free(buffer);
  throw std::bad_alloc();
}

/// An AVDictionary of options, freed with the object.
class Dictionary {
 public:
  Dictionary() = default;
  ~Dictionary() { av_dict_free(&dictionary_); }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  void set(const char* key, const std::string& value) { av_dict_set(&dictionary_, key, value.c_str(), 0); }
  AVDictionary** address() { return &dictionary_; }

 private:
  AVDictionary* dictionary_ = nullptr;
};

/// Objects that FFmpeg allocates; std::bad_alloc where it cannot.
FramePtr make_av_frame();
PacketPtr make_av_packet();

/// A picture with memory of its own (uninitialised).
FramePtr make_picture(AVPixelFormat format, int width, int height);

/// Whether a container's muxer has an option of its own.
bool has_option(const AVOutputFormat& container, const char* name);

/// FFmpeg's words for one of its error codes.
std::string error_text(int code);

/// What AVCodecContext::opaque of a decoder points to, where it is set: frames in which damage was concealed,
/// counted by the decoder's message. The flags of a frame from several threads tell it only if they are set
/// in time. Needs ProcessPolicy::takes_ffmpeg_messages.
struct Concealments {
  std::atomic<std::int64_t> frames{0};
};

/// Readies the network, and sends FFmpeg's messages to the log at level debug, if the process policy allows
/// it. Idempotent, thread-safe; everything here that opens something calls it first.
void start_ffmpeg();

/// Index of the video stream to read, or below 0. Cover pictures do not count.
int best_video_stream(AVFormatContext& context);

/// The timestamp, in the stream's time base, from which times in seconds count.
std::int64_t start_of(const AVFormatContext& context, const AVStream& stream);

}  // namespace sightline::media
