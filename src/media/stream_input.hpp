#pragma once
/// Internal to src/media: an opened container, with FFmpeg's blocking calls made interruptible.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/work_limit.hpp"
#include "media/byte_source.hpp"
#include "media/ffmpeg.hpp"
#include "media/input_kind.hpp"
#include "media/playlist_limits.hpp"
#include "media/reader.hpp"

namespace sightline::media {

/// Timeout without data. Thread-safety: one thread at a time.
class Patience {
 public:
  /// @param seconds  0: without end
  explicit Patience(double seconds) { set(seconds); }
  /// Changes the timeout. A passed timeout stays passed.
  void set(double seconds) {
    seconds_ = seconds;
    renew();
  }
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

/// Owns an AVFormatContext for reading, and the byte source under it. Opens only what input_policy.hpp
/// allows.
class StreamInput {
 public:
  /// Opens the input. Ignores the options for decoding.
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
  /// Whether damaged blocks of a Matroska file were skipped since the last call.
  bool take_skipped_blocks() { return std::exchange(skips_blocks_, false); }
  /// Notes that FFmpeg logs an error of an input, or of one that it opened for it: of Matroska files, it skips
  /// damaged blocks up to the next cluster, and only logs that. Needs ProcessPolicy::takes_ffmpeg_messages.
  static void note_error(const AVFormatContext& context);

  AVFormatContext& context() { return *context_; }
  const AVFormatContext& context() const { return *context_; }
  const std::string& name() const { return input_; }  ///< without its secrets: for messages
  InputKind kind() const { return kind_; }
  /// Camera or screen.
  bool is_device() const { return kind_ == InputKind::camera || kind_ == InputKind::screen; }
  bool stopped() const { return stop_ && stop_->load(std::memory_order_relaxed); }
  /// Whether this is a picture, a pattern of numbered ones, or a pipe of them. GIF and APNG are videos.
  bool has_pictures() const;
  /// Whether this is one image file.
  bool is_single_image() const;
  /// Limits for analysing the input or decoding a picture of it. Sizes that are not known yet count as
  /// `max_pixels`.
  WorkLimit::Limits limits_of_picture(std::int64_t max_pixels) const;
  /// @throws Error (input) if these data of a PNG or APNG expand too much; see has_giant_chunks
  void refuse_giant_chunks(AVCodecID codec, std::span<const std::uint8_t> data) const;
  /// The first bytes; where one cannot seek, those that opening has read. Does not move the read position.
  std::vector<std::uint8_t> head(std::size_t most);
  /// Whole content of a single image file, on disk or in memory; empty if unavailable or larger than 1 GiB.
  /// Does not move the read position.
  std::vector<std::uint8_t> content_of_image();
  /// Tells unsupported from damaged input after decoding has failed.
  /// @param code  FFmpeg's error code
  /// @throws Error (input) if the input is of a known kind that is not decoded
  void refuse_unsupported(int code);

 private:
  /// A byte source as FFmpeg sees it.
  struct Io {
    Io(StreamInput& input, std::unique_ptr<ByteSource> source);

    StreamInput& owner;
    const std::unique_ptr<ByteSource> bytes;
    PlaylistLimits limits;
    IoPtr context;
  };
  struct CloseIo {
    void operator()(AVIOContext* io) const { avio_closep(&io); }
  };

  void open(const ReadOptions& options);
  void open_file_or_pattern(const ReadOptions& options);
  void open_file_named(const std::string& path, const ReadOptions& options);
  void open_network(const ReadOptions& options);
  void open_bytes(std::unique_ptr<ByteSource> bytes, const std::string& name, const ReadOptions& options);
  void open_probed(AVIOContext& io, const std::string& name, const ReadOptions& options);
  bool is_held_whole(const AVInputFormat& format) const;
  void hold();
  void open_url(const std::string& url, const AVInputFormat* format, Dictionary& settings);
  void analyse(std::int64_t max_pixels);
  void check_codecs();
  [[noreturn]] void refuse_codec(AVCodecID codec) const;
  bool gives_up();
  bool is_slow_to_open() const;
  void forbid_more_references();
  std::unique_ptr<ByteSource> open_reference(const std::string& url, int& code);
  static int interrupt(void* self);
  static int read_io(void* io, std::uint8_t* buffer, int size);
  static int open_nested(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
                         AVDictionary** settings);
  [[noreturn]] void fail(int code);
  [[noreturn]] void fail_without_data() const;

  using Clock = std::chrono::steady_clock;
  const Interrupted gives_up_ = [this] { return gives_up(); };
  const AVIOInterruptCB interrupt_{interrupt, this};
  const std::string input_;  ///< without its secrets: for messages
  const std::string url_;    ///< URL to open
  const InputKind kind_;
  const std::atomic<bool>* stop_;
  const bool quick_;  ///< no longer analysis than it needs
  Patience patience_;
  bool is_held_ = false;  ///< a picture in memory
  std::optional<Clock::time_point> opening_since_;
  std::optional<WorkLimit> work_limit_;  ///< only while it is opened
  std::string problem_;                  ///< reason why the server sent no content
  bool has_logged_damage_ = false;       ///< of a Matroska file
  bool skips_blocks_ = false;            ///< see take_skipped_blocks
  bool is_refused_ = false;              ///< with the problem as reason, whatever FFmpeg returns
  bool is_playlist_ = false;             ///< files and URLs that it names are opened too
  std::int64_t unseen_ = 0;              ///< bytes of a playlist and its parts since the last packet
  int references_ = 0;                   ///< opened so far
  std::set<std::string> lists_;          ///< local playlists opened so far
  std::shared_ptr<HttpOrigin> origin_;
  std::string protocols_ = "file";
  AVFormatContext* raw_ = nullptr;  ///< the context, while FFmpeg opens it and afterwards
  int (*open_default_)(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) = nullptr;
  std::int64_t bytes_seen_ = 0;  ///< bytes seen of `stream_`
  // Byte sources must outlive the format context: declared before it.
  std::unique_ptr<Io> io_;
  std::unique_ptr<AVIOContext, CloseIo> stream_;  ///< FFmpeg's, for protocols of the network
  std::map<AVIOContext*, std::unique_ptr<Io>> nested_;
  InputContextPtr context_;
};

}  // namespace sightline::media
