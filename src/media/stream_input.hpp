#pragma once
/// Internal to src/media: an opened container, with FFmpeg's blocking calls made interruptible.

#include <atomic>
#include <string>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Owns an AVFormatContext for reading, and the byte source under it for standard input.
class StreamInput {
 public:
  /// @param stop  makes blocking calls return when set; may be null
  /// @throws Error (input; failed when stopped)
  StreamInput(const std::string& input, const std::atomic<bool>* stop, std::int64_t max_pixels);
  ~StreamInput();
  StreamInput(const StreamInput&) = delete;
  StreamInput& operator=(const StreamInput&) = delete;

  AVFormatContext& context() { return *context_; }
  const AVFormatContext& context() const { return *context_; }
  bool stopped() const { return stop_ && stop_->load(std::memory_order_relaxed); }
  /// Whether this is one image file.
  bool is_single_image() const;

 private:
  void open(const std::string& url, const AVInputFormat* format);
  void use_standard_input();
  static int interrupted(void* self);
  static int read_standard_input(void* self, std::uint8_t* buffer, int size);
  [[noreturn]] void fail(int code) const;

  const std::string input_;
  const std::atomic<bool>* stop_;
  // Custom IO must outlive the format context: declared before it.
  struct FreeIo {
    void operator()(AVIOContext* io) const;
  };
  std::unique_ptr<AVIOContext, FreeIo> io_;
  InputContextPtr context_;
};

}  // namespace sightline::media
