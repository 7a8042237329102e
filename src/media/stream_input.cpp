#include "media/stream_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "media/capture.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kGenerator = "lavfi:";
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

}  // namespace

void StreamInput::FreeIo::operator()(AVIOContext* io) const {
  av_freep(&io->buffer);
  avio_context_free(&io);
}

StreamInput::~StreamInput() = default;

StreamInput::StreamInput(const std::string& input, const std::atomic<bool>* stop, std::int64_t max_pixels)
    : input_(input), stop_(stop) {
  start_ffmpeg();
  std::error_code ignored;
  const fs::file_status status = fs::status(input, ignored);
  if (input == "-") {
    use_standard_input();
    open("", nullptr);
  } else if (input.starts_with(kGenerator)) {
    load_capture(input);
    open(input.substr(kGenerator.size()), av_find_input_format("lavfi"));
  } else if (fs::is_character_file(status) && input.starts_with(kCamera)) {
    load_capture(input);
    open(input, av_find_input_format("v4l2"));
  } else if (fs::exists(status)) {
    if (fs::is_regular_file(status) && fs::file_size(input, ignored) == 0)
      throw Error(ExitCode::input, "'" + input + "' is empty", "check that it was written completely");
    // "file:" so that a colon in the name is not taken for a protocol.
    open("file:" + input, nullptr);
  } else {
    open(input, is_pattern(input) ? av_find_input_format("image2") : nullptr);
  }
  if (is_text_art(*context_->iformat)) fail(AVERROR_INVALIDDATA);

  // The probing decoders need the cap on picture sizes as much as ours does.
  std::vector<Dictionary> limits(context_->nb_streams);
  std::vector<AVDictionary*> raw;
  for (Dictionary& limit : limits) {
    limit.set("max_pixels", std::to_string(max_pixels));
    raw.push_back(*limit.address());
  }
  const int result = avformat_find_stream_info(context_.get(), raw.empty() ? nullptr : raw.data());
  for (std::size_t i = 0; i < limits.size(); ++i) *limits[i].address() = raw[i];  // it may have replaced them
  if (result < 0) fail(result);
}

void StreamInput::open(const std::string& url, const AVInputFormat* format) {
  AVFormatContext* raw = avformat_alloc_context();
  if (!raw) throw std::bad_alloc();
  raw->interrupt_callback = {interrupted, this};
  if (io_) raw->pb = io_.get();
  Dictionary options;
  // An existing file is itself and no pattern, whatever percent signs are in its name.
  if (url.starts_with("file:")) options.set("pattern_type", "none");
  const int result = avformat_open_input(&raw, url.c_str(), format, options.address());
  if (result < 0) fail(result);  // has freed the context
  context_.reset(raw);
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
  constexpr int check_interval_ms = 100;
  for (;;) {
    if (interrupted(self)) return AVERROR_EXIT;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&input, 1, check_interval_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(STDIN_FILENO, buffer, static_cast<std::size_t>(size));
    if (count > 0) return static_cast<int>(count);
    if (count == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
}

int StreamInput::interrupted(void* self) {
  return static_cast<const StreamInput*>(self)->stopped() ? 1 : 0;
}

bool StreamInput::is_single_image() const {
  const std::string_view format = context_->iformat->name;
  if (format == "image2") return !is_pattern(input_);
  return format.ends_with("_pipe") && input_ != "-";
}

void StreamInput::fail(int code) const {
  if (stopped()) throw Error(ExitCode::failed, "opening '" + input_ + "' was stopped");
  const std::string reason = " (" + error_text(code) + ")";
  if (input_ == "-")
    throw Error(ExitCode::input, "standard input is not a video that can be read" + reason,
                "MP4 files must have their index in front to be piped; MPEG-TS and Matroska can always be");
  if (input_.starts_with(kGenerator))
    throw Error(ExitCode::input, "cannot set up the generator '" + input_ + "'" + reason,
                "check the filter graph, for instance lavfi:testsrc=size=640x480:rate=25");
  if (code == AVERROR(ENOENT))
    throw Error(ExitCode::input, "cannot open '" + input_ + "'" + reason, "check the name and the path");
  if (code == AVERROR(EACCES))
    throw Error(ExitCode::input, "cannot open '" + input_ + "'" + reason, "check its permissions");
  if (code == AVERROR_INVALIDDATA || code == AVERROR_EOF)
    throw Error(ExitCode::input, "'" + input_ + "' is no video or image that can be read" + reason,
                "it may be of another type, damaged, or not written completely");
  throw Error(ExitCode::input, "cannot open '" + input_ + "'" + reason);
}

}  // namespace sightline::media
