#pragma once
/// Reads pictures from files, image sequences, folders, streams and generators.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "media/audio_track.hpp"
#include "media/frame.hpp"
#include "media/stream_info.hpp"

namespace sightline::media {

/// Requested format of a camera or screen; the device chooses what is not set.
struct CaptureOptions {
  Size size;                 ///< 0x0: not asked for
  double frame_rate = 0;     ///< frames/s; 0: not asked for
  std::string pixel_format;  ///< as `sightline devices --cameras` lists them: mjpeg, yuyv422, h264, ...
};

struct ReadOptions {
  double start = 0;                ///< seconds from the source's start; frames before are not delivered
  std::optional<double> duration;  ///< seconds from `start` on, in each loop; of endless loops together
  int loop = 0;                    ///< how many more times to read the source; -1: for ever
  int every = 1;                   ///< deliver the 1st, (1 + every)th, ... frame only
  int threads = 0;                 ///< of the decoder; 0: FFmpeg's choice
  /// For live streams: no frame threading, which delays by threads - 1 frames; what comes over the network is
  /// analysed for a quarter of a second at most before the first frame (the frame rate may then not be known,
  /// and is said to be 25); RTSP goes over TCP where the server has it. Frames have times (Frame::times).
  bool low_delay = false;
  /// Seconds that opening, or one `read`, may go without data before it ends in an Error (input); 0: no
  /// limit; none: kNetworkPatience for URLs, no limit for others. Any data counts, also that of streams which
  /// are not read. An X server that hangs cannot be interrupted.
  std::optional<double> patience;
  /// Whether pictures of a folder that cannot be read whole are delivered as frames with a damage().
  /// Otherwise the first one ends the reading with an Error (input).
  bool deliver_damaged = false;
  /// Whether reading goes on after such a picture was delivered; otherwise it ends with an Error (input).
  bool keep_going = false;
  bool recursive = false;   ///< read the pictures in a folder's sub-folders, too
  CaptureOptions capture;   ///< for cameras and screens; refused (usage) for other inputs
  bool keep_audio = false;  ///< fill `Reader::audio()`
  std::int64_t max_pixels = std::int64_t{1}
                            << 27;  ///< of one picture; guards against bombs and damaged headers
  /// Open HLS playlists too: a local one may name files of its folder and below, one from a server may name
  /// URLs of that host.
  bool allow_playlists = false;
  std::string netrc;  ///< file with users and passwords of hosts (see secrets.hpp); empty: none
  /// URLs with secrets, by what is shown in their place (see hide_secrets).
  std::map<std::string, std::string> secret_urls;
  /// Set to true (from any thread or a signal handler) to make blocking reads return: `read` then ends the
  /// stream. Must outlive the reader. May be null.
  const std::atomic<bool>* stop = nullptr;
};

inline constexpr double kNetworkPatience = 10;  ///< seconds

/// Takes the secrets out of an input's name: remembers the URL in `options`, and returns what to show, and to
/// open, in its place. Where inputs differ in their secrets alone, the names are numbered (`***2`). Other
/// inputs are returned as they are.
std::string hide_secrets(const std::string& input, ReadOptions& options);

/// Whether the input brings its frames in its own time, and what is not taken is lost: cameras (also such as
/// are not plugged in), screens and URLs of the network, but no file, folder, pattern, generator or standard
/// input.
bool is_live(const std::string& input);

/// A source of frames.
///
/// Input is one of
///   - a file or URL that FFmpeg opens (its first video stream; cover pictures do not count),
///   - a printf pattern of numbered images (`img%03d.png`),
///   - a folder: its images (list_images), each of a size of its own; 25 a second,
///   - one image,
///   - a camera: a V4L2 device (`/dev/video0`),
///   - `screen:` and an X11 display: the whole of it with the cursor, or the part at an offset that
///     CaptureOptions::size gives the size of (`screen:`: the one of $DISPLAY; `screen::99`,
///     `screen::0.0+100,200`),
///   - `lavfi:` and a filter graph (`lavfi:testsrc=duration=2`),
///   - `-`, standard input.
///
/// A file or stream is opened only in formats that hold pictures themselves; one that names other files or
/// servers (playlists, manifests, session descriptions) is refused, but see ReadOptions::allow_playlists.
/// Opening ends after 60 s (from the first byte on, for standard input and FIFOs).
///
/// Errors: what makes the input unusable throws Error (ExitCode::input) from the constructor, which decodes
/// the first frame ahead. Damaged frames of videos are counted and left out (or, where the decoder could
/// conceal the damage, counted and delivered); damaged pictures: see ReadOptions::deliver_damaged.
/// Thread-safety: one thread at a time, but for `decode_errors`, `audio` and `info`, which any thread may
/// call.
class Reader {
 public:
  /// @throws Error (input; usage for options out of range; failed when stopped meanwhile)
  explicit Reader(const std::string& input, const ReadOptions& options = {});
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  /// The next frame; none at the end or when stopped.
  /// @throws Error (input) for 100 failures in a row, or a picture over `max_pixels`
  std::optional<Frame> read();

  const StreamInfo& info() const;
  /// Packets and pictures found damaged so far.
  std::int64_t decode_errors() const;
  /// Message of the last decode error; empty where there was none. Call it when reading has ended.
  const std::string& last_decode_error() const;
  /// The source's sound if there is any and ReadOptions::keep_audio was set, else null. Filled by `read`.
  std::shared_ptr<AudioTrack> audio() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether two paths are one existing file (links followed). False for anything that is not a file.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace sightline::media
