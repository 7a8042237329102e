#pragma once
/// Internal to src/media: an opened container, with FFmpeg's blocking calls made interruptible.

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "media/ffmpeg.hpp"
#include "media/reader.hpp"

namespace sightline::media {

enum class InputKind { standard_input, generator, camera, screen, network, file };

/// What the input's name says it is; a pattern of images counts as a file, and so does what nothing else
/// fits.
InputKind kind_of(const std::string& input);

/// How long to go on without data.
/// Thread-safety: one thread at a time.
class Patience {
 public:
  /// @param seconds  0: without end
  explicit Patience(double seconds) { set(seconds); }
  /// Another measure from now on. What is exhausted stays so.
  void set(double seconds);
  /// Data came, or waiting for it begins.
  void renew() { since_ = Clock::now(); }
  /// Whether data has been missing for too long, now or ever before.
  bool is_exhausted();
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_ = 0;
  Clock::time_point since_;
  bool exhausted_ = false;
};

/// Owns an AVFormatContext for reading, and the byte source under it for standard input.
class StreamInput {
 public:
  /// Of the options, those for decoding are not regarded.
  /// @throws Error (input; failed when stopped)
  StreamInput(const std::string& input, const ReadOptions& options);
  ~StreamInput();
  StreamInput(const StreamInput&) = delete;
  StreamInput& operator=(const StreamInput&) = delete;

  /// The next packet of any stream. Ends when stopped, and where the input has nothing at the moment it waits
  /// without using a processor.
  /// @return FFmpeg's code; AVERROR_EXIT when stopped
  /// @throws Error (input) when ReadOptions::patience is over
  int read(AVPacket& packet);

  AVFormatContext& context() { return *context_; }
  const AVFormatContext& context() const { return *context_; }
  InputKind kind() const { return kind_; }
  /// Camera or screen.
  bool is_device() const { return kind_ == InputKind::camera || kind_ == InputKind::screen; }
  bool stopped() const { return stop_ && stop_->load(std::memory_order_relaxed); }
  /// Whether this is one image file.
  bool is_single_image() const;

 private:
  void open(const ReadOptions& options);
  void open_device(const char* format, const std::string& url, Dictionary& settings);
  void open_network(const ReadOptions& options);
  void open_url(const std::string& url, const AVInputFormat* format, Dictionary& settings);
  void analyse(std::int64_t max_pixels);
  void use_standard_input();
  bool gives_up();
  static int interrupted(void* self);
  static int read_standard_input(void* self, std::uint8_t* buffer, int size);
  [[noreturn]] void fail(int code);
  [[noreturn]] void fail_camera(int code) const;
  [[noreturn]] void fail_without_data() const;

  const std::string input_;
  const InputKind kind_;
  const std::atomic<bool>* stop_;
  const bool quick_;  ///< no longer analysis than it needs
  Patience patience_;
  bool receiving_ = false;       ///< FFmpeg is reading: the context is there and stays
  std::int64_t bytes_seen_ = 0;  ///< of the context's byte source
  // Custom IO must outlive the format context: declared before it.
  struct FreeIo {
    void operator()(AVIOContext* io) const;
  };
  std::unique_ptr<AVIOContext, FreeIo> io_;
  InputContextPtr context_;
};

}  // namespace sightline::media
