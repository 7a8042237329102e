#include "media/stream_input.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "media/capture.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kGenerator = "lavfi:";
constexpr std::string_view kScreen = "screen:";
constexpr std::string_view kCamera = "/dev/video";

bool is_pattern(const std::string& input) {
  return av_filename_number_test(input.c_str()) != 0;
}

// FFmpeg renders text files as animations of a terminal; for us they are files without video.
bool is_text_art(const AVInputFormat& format) {
  for (const char* name : {"tty", "bin", "xbin", "adf", "idf"})
    if (std::string_view(format.name) == name) return true;
  return false;
}

// By its number, since udev gives cameras other names too (/dev/v4l/by-id/...).
bool is_video_device(const std::string& path) {
  constexpr unsigned video4linux = 81;
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISCHR(facts.st_mode) && major(facts.st_rdev) == video4linux;
}

bool is_network_url(const std::string& input) {
  const std::size_t end = input.find("://");
  if (end == std::string::npos || end == 0) return false;
  const std::string scheme = input.substr(0, end);
  const bool is_name = std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  return is_name && scheme != "file" && scheme != "pipe" && scheme != "fd";
}

/// The X11 display, as x11grab names it.
std::string display_of(const std::string& input) {
  const std::string rest = input.substr(kScreen.size());
  if (!rest.empty() && !rest.starts_with('+')) return rest;
  const char* display = std::getenv("DISPLAY");
  if (!display || !*display)
    throw Error(ExitCode::input, "there is no screen to capture: DISPLAY is not set",
                "name the X server's display, as in screen::0");
  return display + rest;
}

void ask_for(Dictionary& settings, const CaptureOptions& capture) {
  if (capture.size.width > 0)
    settings.set("video_size",
                 std::to_string(capture.size.width) + "x" + std::to_string(capture.size.height));
  if (capture.frame_rate > 0) settings.set("framerate", std::to_string(capture.frame_rate));
  if (!capture.pixel_format.empty()) settings.set("input_format", capture.pixel_format);
}

std::string microseconds(double seconds) {
  return std::to_string(static_cast<std::int64_t>(seconds * 1e6));
}

}  // namespace

InputKind kind_of(const std::string& input) {
  if (input == "-") return InputKind::standard_input;
  if (input.starts_with(kGenerator)) return InputKind::generator;
  if (input.starts_with(kScreen)) return InputKind::screen;
  if (is_video_device(input)) return InputKind::camera;
  std::error_code ignored;
  if (fs::exists(input, ignored)) return InputKind::file;
  if (input.starts_with(kCamera)) return InputKind::camera;  // one that is not plugged in
  return is_network_url(input) ? InputKind::network : InputKind::file;
}

bool is_live(const std::string& input) {
  const InputKind kind = kind_of(input);
  return kind == InputKind::camera || kind == InputKind::screen || kind == InputKind::network;
}

void Patience::set(double seconds) {
  seconds_ = seconds;
  renew();
}

bool Patience::is_exhausted() {
  if (seconds_ > 0 && Clock::now() - since_ > std::chrono::duration<double>(seconds_)) exhausted_ = true;
  return exhausted_;
}

void StreamInput::FreeIo::operator()(AVIOContext* io) const {
  av_freep(&io->buffer);
  avio_context_free(&io);
}

StreamInput::StreamInput(const std::string& input, const ReadOptions& options)
    : input_(input),
      kind_(kind_of(input)),
      stop_(options.stop),
      quick_(options.low_delay && kind_ == InputKind::network),
      patience_(options.patience) {
  start_ffmpeg();
  open(options);
  if (is_text_art(*context_->iformat)) fail(AVERROR_INVALIDDATA);
  // Devices tell all that a decoder needs; what else there is to know is in the first picture.
  if (!is_device()) analyse(options.max_pixels);
}

// Closing says goodbye to some servers, and one that does not answer must not hold us.
StreamInput::~StreamInput() {
  constexpr double seconds_for_goodbye = 1;
  patience_.set(seconds_for_goodbye);
}

void StreamInput::open(const ReadOptions& options) {
  std::error_code ignored;
  Dictionary settings;
  switch (kind_) {
    case InputKind::standard_input:
      use_standard_input();
      return open_url("", nullptr, settings);
    case InputKind::generator:
      return open_device("lavfi", input_.substr(kGenerator.size()), settings);
    case InputKind::camera:
      ask_for(settings, options.capture);
      return open_device("v4l2", input_, settings);
    case InputKind::screen:
      ask_for(settings, options.capture);
      return open_device("x11grab", display_of(input_), settings);
    case InputKind::network:
      return open_network(options);
    case InputKind::file:
      break;
  }
  if (!fs::exists(input_, ignored))
    return open_url(input_, is_pattern(input_) ? av_find_input_format("image2") : nullptr, settings);
  if (fs::is_regular_file(input_, ignored) && fs::file_size(input_, ignored) == 0)
    throw Error(ExitCode::input, "'" + input_ + "' is empty", "check that it was written completely");
  // An existing file is itself and no pattern, whatever percent signs are in its name; and "file:" so that a
  // colon in it is not taken for a protocol.
  settings.set("pattern_type", "none");
  open_url("file:" + input_, nullptr, settings);
}

void StreamInput::open_device(const char* format, const std::string& url, Dictionary& settings) {
  load_capture(input_);
  const AVInputFormat* const known = av_find_input_format(format);
  if (!known)
    throw Error(ExitCode::input,
                "cannot open '" + input_ + "': this machine's libavdevice is built without " + format);
  open_url(url, known, settings);
}

void StreamInput::open_network(const ReadOptions& options) {
  Dictionary settings;
  if (options.low_delay) {
    if (input_.starts_with("rtsp")) {
      // Lost datagrams cost more pictures than the delay of repeating them. A server without TCP gets UDP.
      settings.set("rtsp_flags", "prefer_tcp");
      // Longer than our own patience, whose message is the better one.
      settings.set("timeout", microseconds(options.patience > 0 ? options.patience + 1 : 10));
    }
    // Falling behind loses packets; it does not end the stream.
    if (input_.starts_with("udp")) settings.set("overrun_nonfatal", "1");
  }
  open_url(input_, nullptr, settings);
}

void StreamInput::open_url(const std::string& url, const AVInputFormat* format, Dictionary& settings) {
  AVFormatContext* raw = avformat_alloc_context();
  if (!raw) throw std::bad_alloc();
  raw->interrupt_callback = {interrupted, this};
  if (io_) raw->pb = io_.get();
  // Waiting for a camera cannot be interrupted, so it is not done in there but in `read`.
  if (kind_ == InputKind::camera) raw->flags |= AVFMT_FLAG_NONBLOCK;
  if (quick_) raw->max_analyze_duration = AV_TIME_BASE / 4;
  if (fault::strikes(fault::Kind::open, "avformat_open_input")) {
    avformat_free_context(raw);
    fail(AVERROR(EIO));
  }
  const int result = avformat_open_input(&raw, url.c_str(), format, settings.address());
  if (result < 0) fail(result);  // has freed the context
  context_.reset(raw);
}

void StreamInput::analyse(std::int64_t max_pixels) {
  // The probing decoders need the cap on picture sizes as much as ours does.
  std::vector<Dictionary> limits(context_->nb_streams);
  std::vector<AVDictionary*> raw;
  for (Dictionary& limit : limits) {
    limit.set("max_pixels", std::to_string(max_pixels));
    raw.push_back(*limit.address());
  }
  patience_.renew();
  receiving_ = true;
  const int result = fault::strikes(fault::Kind::read, "avformat_find_stream_info")
                         ? AVERROR(EIO)
                         : avformat_find_stream_info(context_.get(), raw.empty() ? nullptr : raw.data());
  receiving_ = false;
  for (std::size_t i = 0; i < limits.size(); ++i) *limits[i].address() = raw[i];  // it may have replaced them
  if (result < 0) fail(result);
}

int StreamInput::read(AVPacket& packet) {
  constexpr auto pause = std::chrono::milliseconds(1);
  patience_.renew();
  for (;;) {
    receiving_ = true;
    const int result = fault::strikes(fault::Kind::read, "av_read_frame")
                           ? AVERROR(EIO)
                           : av_read_frame(context_.get(), &packet);
    receiving_ = false;
    if (result >= 0) return result;
    const bool gave_up = gives_up();
    if (stopped()) return AVERROR_EXIT;
    if (gave_up) fail_without_data();
    if (result != AVERROR(EAGAIN)) return result;
    std::this_thread::sleep_for(pause);
  }
}

void StreamInput::use_standard_input() {
  constexpr int size = 1 << 16;
  auto* buffer = static_cast<unsigned char*>(av_malloc(size));
  if (buffer) io_.reset(avio_alloc_context(buffer, size, 0, this, read_standard_input, nullptr, nullptr));
  if (!io_) {
    av_free(buffer);
    throw std::bad_alloc();
  }
}

// FFmpeg's own pipe protocol blocks in read() and cannot be interrupted; we wait with poll.
int StreamInput::read_standard_input(void* self, std::uint8_t* buffer, int size) {
  constexpr int check_interval_ms = 50;
  for (;;) {
    if (interrupted(self)) return AVERROR_EXIT;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&input, 1, check_interval_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (fault::strikes(fault::Kind::read, "read")) return AVERROR(EIO);
    const ssize_t count = ::read(STDIN_FILENO, buffer, static_cast<std::size_t>(size));
    if (count > 0) {
      static_cast<StreamInput*>(self)->patience_.renew();
      return static_cast<int>(count);
    }
    if (count == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
}

bool StreamInput::gives_up() {
  if (stopped()) return true;
  // Data that FFmpeg keeps for itself, such as packets of streams nobody asked for, is data too. While it
  // opens and closes, its byte source may be gone already, and is not looked at.
  const AVIOContext* const io = receiving_ ? context_->pb : nullptr;
  if (io && io->bytes_read != bytes_seen_) {
    bytes_seen_ = io->bytes_read;
    patience_.renew();
  }
  return patience_.is_exhausted();
}

int StreamInput::interrupted(void* self) {
  return static_cast<StreamInput*>(self)->gives_up() ? 1 : 0;
}

bool StreamInput::is_single_image() const {
  const std::string_view format = context_->iformat->name;
  if (format == "image2") return !is_pattern(input_);
  return format.ends_with("_pipe") && kind_ != InputKind::standard_input;
}

void StreamInput::fail(int code) {
  if (stopped()) throw Error(ExitCode::failed, "opening '" + input_ + "' was stopped");
  if (patience_.is_exhausted()) fail_without_data();
  const std::string reason = " (" + error_text(code) + ")";
  switch (kind_) {
    case InputKind::standard_input:
      throw Error(ExitCode::input, "standard input is not a video that can be read" + reason,
                  "MP4 files must have their index in front to be piped; MPEG-TS and Matroska can always be");
    case InputKind::generator:
      throw Error(ExitCode::input, "cannot set up the generator '" + input_ + "'" + reason,
                  "check the filter graph, for instance lavfi:testsrc=size=640x480:rate=25");
    case InputKind::camera:
      fail_camera(code);
    case InputKind::screen:
      throw Error(ExitCode::input, "cannot capture '" + input_ + "'" + reason,
                  code == AVERROR(EINVAL)
                      ? "the part must lie on the screen, and one at an offset needs a size (--size 640x480)"
                      : "check that an X server runs there (echo $DISPLAY) and lets you in");
    case InputKind::network:
    case InputKind::file:
      break;
  }
  if (code == AVERROR(ENOENT))
    throw Error(ExitCode::input, "cannot open '" + input_ + "'" + reason, "check the name and the path");
  if (code == AVERROR(EACCES))
    throw Error(ExitCode::input, "cannot open '" + input_ + "'" + reason, "check its permissions");
  if (code == AVERROR_INVALIDDATA || code == AVERROR_EOF)
    throw Error(ExitCode::input, "'" + input_ + "' is no video or image that can be read" + reason,
                "it may be of another type, damaged, or not written completely");
  throw Error(ExitCode::input, "cannot open '" + input_ + "'" + reason);
}

void StreamInput::fail_camera(int code) const {
  std::string remedy =
      "`sightline devices --cameras` lists the formats, sizes and frame rates of each camera";
  if (code == AVERROR(ENOENT) || code == AVERROR(ENODEV) || code == AVERROR(ENXIO))
    remedy = "check that it is plugged in; `sightline devices --cameras` lists the cameras that are";
  if (code == AVERROR(EACCES) || code == AVERROR(EPERM))
    remedy = "users of cameras must be in the group video: sudo usermod -aG video $USER, then log in again";
  if (code == AVERROR(EBUSY)) remedy = "another program is using it";
  throw Error(ExitCode::input, "cannot open the camera '" + input_ + "' (" + error_text(code) + ")", remedy);
}

void StreamInput::fail_without_data() const {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", patience_.seconds());
  throw Error(ExitCode::input, std::string("no data for ") + seconds + " s from '" + input_ + "'");
}

}  // namespace sightline::media
