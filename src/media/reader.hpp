#pragma once
/// Reader of frames from files, image sequences, folders, streams and generators.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "frame/frame.hpp"
#include "frame/stream_info.hpp"

namespace sightline::media {

class AudioTrack;

/// Requested format of a camera or screen; the device chooses unset values.
struct CaptureOptions {
  Size size;                 ///< pixels; 0x0: unset
  double frame_rate = 0;     ///< frames/s; 0: unset
  std::string pixel_format;  ///< as in `sightline devices --cameras`: mjpeg, yuyv422, h264, ...; empty: unset
};

struct ReadOptions {
  double start = 0;                ///< seconds from the source's start; earlier frames are dropped
  std::optional<double> duration;  ///< seconds from `start`, in each loop; for `loop` = -1 in total
  int loop = 0;                    ///< number of repetitions of the source; -1: endless
  int every = 1;                   ///< deliver every n-th frame, beginning with the first
  int threads = 0;                 ///< decoder threads; 0: FFmpeg's choice
  /// Decoder of videos: `software`; `cuda` or `cuda:1` (NVIDIA's decoder of that device); `vaapi` or
  /// `vaapi:/dev/dri/renderD129`; `auto` (the first of these that is there, if it decodes the beginning of
  /// the source as software does, else software). Frames are the same with every decoder: software decodes
  /// what hardware does not decode exactly, and takes over after a fault of the device.
  std::string decoder = "software";
  /// With `auto`: compare the beginning of the source. Otherwise the device decodes it, for measurements.
  bool tests_device = true;
  /// For live streams. Disables frame threading, which adds a delay of `threads` - 1 frames. Analyses a
  /// network stream for at most 0.25 s before the first frame; an unknown frame rate is then reported as 25.
  /// Uses TCP for RTSP if the server supports it. Sets Frame::times.
  bool low_delay = false;
  /// Maximum time in seconds that opening, or one `read`, waits without data before it throws Error (input).
  /// 0: no limit; none: kNetworkPatience for URLs, no limit for other inputs. Data of streams that are not
  /// read counts, too. A hanging X server cannot be interrupted.
  std::optional<double> patience;
  /// Deliver unreadable or truncated pictures of a folder as frames with a damage(). Otherwise the first one
  /// throws Error (input).
  bool deliver_damaged = false;
  /// Continue after delivering a damaged picture; otherwise the next `read` throws Error (input).
  bool keep_going = false;
  bool recursive = false;   ///< read the pictures in a folder's sub-folders, too
  CaptureOptions capture;   ///< for cameras and screens; Error (usage) for other inputs
  bool keep_audio = false;  ///< fill `Reader::audio()`
  /// Keep the colour of frames whose pixels must be converted (see Frame::view), for processors that read it.
  bool keep_colour = false;
  /// Maximum pixels of one picture; guards against decompression bombs and damaged headers.
  std::int64_t max_pixels = std::int64_t{1} << 27;
  /// Also open HLS playlists. A local one may only name files in its folder and below; one from a server may
  /// only name URLs of that host.
  bool allow_playlists = false;
  std::string netrc;  ///< netrc file with credentials of hosts (see secrets.hpp); empty: none
  /// URLs with secrets, by redacted name (see hide_secrets).
  std::map<std::string, std::string> secret_urls;
  /// Stop flag: set it to true (from any thread or a signal handler) to make blocking reads return; `read`
  /// then ends the stream. Must outlive the reader. May be null.
  const std::atomic<bool>* stop = nullptr;
};

inline constexpr double kNetworkPatience = 10;  ///< seconds

/// Replaces a URL that contains secrets by a redacted name. Stores the URL in `options`, and returns the
/// name, which the Reader then opens. URLs that differ only in their secrets get numbered names (`***2`).
/// Other inputs are returned unchanged.
std::string hide_secrets(const std::string& input, ReadOptions& options);

/// @throws Error (usage) for a text that ReadOptions::decoder does not take
void check_decoder(const std::string& text);

/// Whether the input is live: it sets the pace, and frames that are not taken in time are lost. True for
/// cameras (plugged in or not), screens and network URLs; false for files, folders, patterns, generators and
/// standard input.
bool is_live(const std::string& input);

/// Whether an input is a file that can be opened again, such as to be read in parts.
bool is_regular_file(const std::string& input);

/// A source of frames.
///
/// Input is one of
///   - a file or URL that FFmpeg opens (its first video stream; cover pictures do not count),
///   - a printf pattern of numbered images (`img%03d.png`),
///   - a folder: its images (list_images) at 25 frames/s; sizes may differ,
///   - one image,
///   - a camera: a V4L2 device (`/dev/video0`),
///   - `screen:` and an X11 display with its cursor (`screen:` for $DISPLAY, `screen::99`); an offset
///     (`screen::0.0+100,200`) selects a part of it, with the size CaptureOptions::size,
///   - `lavfi:` and a filter graph (`lavfi:testsrc=duration=2`),
///   - `-`, standard input.
///
/// A file or stream is opened only in formats that contain their pictures. Files that name other files or
/// servers (playlists, manifests, session descriptions) are refused, except by ReadOptions::allow_playlists.
/// Opening times out after 60 s (for standard input and FIFOs, counted from the first byte).
///
/// Errors: the constructor decodes the first frame and throws Error (input) if the input is unusable; from
/// ReadOptions::start on, a folder may have damaged pictures alone, and `info` then has no size. Damaged
/// frames of videos are counted and dropped, or delivered if the decoder could conceal the damage. For
/// damaged pictures see ReadOptions::deliver_damaged.
/// Thread-safety: one thread at a time, except `decode_errors`, `audio` and `info`, which any thread may
/// call.
class Reader {
 public:
  /// @throws Error (input; usage for options out of range; failed if stopped during opening)
  explicit Reader(const std::string& input, const ReadOptions& options = {});
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  /// Reads the next frame; none at the end or when stopped.
  /// @throws Error (input) after 100 consecutive failures, or for a picture of more than `max_pixels`
  std::optional<Frame> read();
  /// Frees the decoder of a file. The next `read` opens it again, and goes on with the first frame at or
  /// after `time` (seconds), whose number becomes `number` + 1. For videos with ReadOptions::loop = 0.
  void continue_at(std::int64_t number, double time);

  const StreamInfo& info() const;
  /// Number of damaged packets and pictures so far.
  std::int64_t decode_errors() const;
  /// Message of the last decode error; empty if there was none. Call it after reading has ended.
  const std::string& last_decode_error() const;
  /// The device that decodes at present, as in ReadOptions::decoder; empty: software does. With `auto`, the
  /// device comes in after the frames on which it is tested.
  std::string device() const;
  /// Whether `device` may change so: software decodes, and tests a device.
  bool tests_device() const;
  /// Audio of the source if it has any and ReadOptions::keep_audio is set, else null. `read` fills it.
  std::shared_ptr<AudioTrack> audio() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether both paths refer to the same existing file (following links). False if either is not a file.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace sightline::media
