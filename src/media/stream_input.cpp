#include "media/stream_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "media/capture.hpp"
#include "media/content_checks.hpp"
#include "media/input_policy.hpp"
#include "media/picture_sequence.hpp"
#include "media/secrets.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;
constexpr double kPlaylistPatience = 30;  // s: parts are published seconds apart
constexpr std::chrono::seconds kLongestOpening{60};
constexpr std::int64_t kMostMemory = 1 << 30;  // bytes to open an input, besides the pictures to analyse it
constexpr std::size_t kMostHeld = std::size_t{512} << 20;  // bytes
constexpr int kMostStreams = 100;
constexpr int kMostReferences = 200;            // references opened before the first packet
constexpr std::int64_t kMostUnseen = 16 << 20;  // bytes

bool is_pattern(const std::string& input) {
  return av_filename_number_test(input.c_str()) != 0;
}

void set_list(char*& list, const std::string& by) {
  av_free(list);
  list = av_strdup(by.c_str());
  if (!list) throw std::bad_alloc();
}

/// Percent-encoded for the part of a URL before '@'.
std::string url_encoded(const std::string& text) {
  std::string result;
  for (const unsigned char c : text)
    result += std::isalnum(c) ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  return result;
}

bool is_picture(const AVInputFormat& format) {
  const std::string_view name = format.name;
  return name == "image2" || name.ends_with("_pipe");
}

// Whether FFmpeg finds the end of a picture of this format in a stream.
bool has_parser(const AVInputFormat& format) {
  const std::string_view name = format.name;
  const AVCodecDescriptor* const codec =
      avcodec_descriptor_get_by_name(std::string(name.substr(0, name.find("_pipe"))).c_str());
  if (!codec) return name != "image2";  // JPEG and JPEG 2000, under other names
  AVCodecParserContext* const parser = av_parser_init(codec->id);
  av_parser_close(parser);
  return parser != nullptr;
}

}  // namespace

bool Patience::is_exhausted() {
  if (seconds_ > 0 && Clock::now() - since_ > std::chrono::duration<double>(seconds_)) exhausted_ = true;
  return exhausted_;
}

StreamInput::Io::Io(StreamInput& input, std::unique_ptr<ByteSource> source)
    : owner(input), bytes(std::move(source)) {
  const auto seek = [](void* io, std::int64_t offset, int whence) {
    return static_cast<Io*>(io)->bytes->seek(offset, whence);
  };
  context = make_io(1 << 15, false, this, read_io, nullptr, bytes->is_seekable() ? +seek : nullptr);
}

StreamInput::StreamInput(const std::string& input, const ReadOptions& options)
    : input_(redacted(input)),
      url_(options.secret_urls.contains(input) ? options.secret_urls.at(input) : input),
      kind_(kind_of(input)),
      stop_(options.stop),
      quick_(options.low_delay && kind_ == InputKind::network),
      patience_(options.patience.value_or(kind_ == InputKind::network ? kNetworkPatience : 0)) {
  start_ffmpeg();
  work_limit_.emplace("opening '" + input_ + "'", WorkLimit::Limits{kLongestOpening.count(), kMostMemory});
  open(options);
  // Devices provide everything that a decoder needs; the rest is in the first picture.
  if (!is_device()) analyse(options.max_pixels);
  work_limit_.reset();
}

// Closing notifies some servers; one that does not answer must not block.
StreamInput::~StreamInput() {
  patience_.set(1);  // second
}

void StreamInput::open(const ReadOptions& options) {
  if (kind_ == InputKind::standard_input) return open_bytes(open_standard_input(gives_up_), "", options);
  if (kind_ == InputKind::file) return open_file_or_pattern(options);
  opening_since_ = Clock::now();
  if (kind_ == InputKind::network) return open_network(options);
  Dictionary settings;
  std::string url = url_;
  const AVInputFormat& format = capture_format(kind_, url, input_, options.capture, settings);
  open_url(url, &format, settings);
}

void StreamInput::open_file_or_pattern(const ReadOptions& options) {
  std::error_code ignored;
  if (fs::exists(url_, ignored)) return open_file_named(url_, options);
  if (const std::string name = without_file_scheme(url_); name != url_) return open_file_named(name, options);
  if (!is_pattern(url_)) fail(AVERROR(ENOENT));
  Dictionary settings;
  // FFmpeg looks for the first picture among the numbers 0 to 4 alone, and ends at the first that is missing.
  if (const auto sequence = find_sequence(url_)) {
    settings.set("start_number", std::to_string(sequence->first));
    if (sequence->further > 0)
      logger().warn(
          "'{}': picture {} is missing; it and {} with higher numbers are not read; name the folder to "
          "read all of its pictures",
          input_, sequence->end, counted(sequence->further, "picture"));
  }
  open_url(url_, av_find_input_format("image2"), settings);
}

void StreamInput::open_file_named(const std::string& path, const ReadOptions& options) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) {
    opening_since_ = Clock::now();
    if (fs::file_size(path, ignored) == 0)
      throw Error(ExitCode::input, "'" + input_ + "' is empty", "check that it was written completely");
  }
  int code = 0;
  std::unique_ptr<ByteSource> bytes = open_file(path, gives_up_, code);
  if (!bytes) fail(code);
  // With "file:", a colon in it is not taken for a protocol.
  open_bytes(std::move(bytes), "file:" + path, options);
}

void StreamInput::open_bytes(std::unique_ptr<ByteSource> bytes, const std::string& name,
                             const ReadOptions& options) {
  io_ = std::make_unique<Io>(*this, std::move(bytes));
  open_probed(*io_->context, name, options);
}

// Without seeking, FFmpeg reads only picture formats with a parser. A server is asked once.
bool StreamInput::is_held_whole(const AVInputFormat& format) const {
  if (!io_ || is_held_ || !is_picture(format)) return false;
  if (kind_ == InputKind::network && io_->bytes->seek(0, AVSEEK_SIZE) > 0) return true;
  return !io_->bytes->is_seekable() && !has_parser(format);
}

void StreamInput::hold() {
  std::vector<std::uint8_t> content;
  std::vector<std::uint8_t> part(1 << 16);
  for (;;) {
    const int count = avio_read(io_->context.get(), part.data(), static_cast<int>(part.size()));
    if (count == 0 || count == AVERROR_EOF) break;
    if (count < 0) fail(count);
    content.insert(content.end(), part.begin(), part.begin() + count);
    if (content.size() > kMostHeld)
      throw Error(ExitCode::input,
                  "'" + input_ + "' is a picture of more than " + std::to_string(kMostHeld >> 20) +
                      " MiB from a pipe or server",
                  "store it in a file first");
  }
  io_ = std::make_unique<Io>(*this, open_content(std::move(content)));
  is_held_ = true;
}

void StreamInput::open_probed(AVIOContext& io, const std::string& name, const ReadOptions& options) {
  const AVInputFormat* format = nullptr;
  const int score = av_probe_input_buffer2(&io, &format, name.c_str(), nullptr, 0, 0);
  if (score < 0) fail(score);
  if (is_held_whole(*format)) {
    hold();
    return open_probed(*io_->context, "", options);
  }
  // From a picture's name, FFmpeg would choose a format that opens the file itself, which is not allowed. So
  // the content decides.
  if (kind_ == InputKind::network && std::string_view(format->name) == "image2")
    return open_probed(io, "", options);
  Dictionary settings;
  if (is_reference(*format)) {
    const bool is_hls = std::string_view(format->name).starts_with("hls");
    const std::string problem = "'" + input_ + "' is a playlist or manifest (" + format->name +
                                "), which names other files or servers";
    if (!is_hls || (kind_ != InputKind::file && !origin_))
      throw Error(
          ExitCode::input, problem,
          "name the files or streams themselves; HLS playlists may also come from a file or HTTP server");
    if (!options.allow_playlists)
      throw Error(ExitCode::input, problem, "if you trust it, add --allow-playlists=true"_message);
    is_playlist_ = true;
    patience_.set(std::max(patience_.seconds(), kPlaylistPatience));
    // Connections that are kept need FFmpeg's own HTTP.
    settings.set("http_persistent", "0");
    settings.set("http_multiple", "0");
  } else if (!is_allowed(*format)) {
    if (std::string_view(format->name) == "svg_pipe") refuse_codec(AV_CODEC_ID_SVG);
    fail(AVERROR_INVALIDDATA);
  }
  // An existing file is itself and no pattern, whatever percent signs are in its name.
  settings.set("pattern_type", "none");
  open_url(name, format, settings);
}

void StreamInput::open_network(const ReadOptions& options) {
  const std::string host = host_of(url_);
  const std::optional<Credentials> credentials =
      options.netrc.empty() ? std::nullopt : find_credentials(options.netrc, host);
  if (url_.starts_with("http://") || url_.starts_with("https://")) {
    origin_ = std::make_shared<HttpOrigin>(HttpOrigin{host, server_of(url_), credentials});
    int code = 0;
    auto bytes = open_http(url_, origin_, gives_up_, code, problem_);
    if (!bytes) fail(code);
    return open_bytes(std::move(bytes), url_, options);
  }
  protocols_ = protocols_for(url_);
  if (protocols_.empty())
    throw Error(ExitCode::input, "cannot open '" + input_ + "': Sightline does not read such URLs",
                "use http, https, rtsp, rtsps, rtp, udp, tcp, tls, srt, rtmp or rtmps");
  await_name(host, gives_up_);
  std::string url = url_;
  if (credentials) {
    const std::size_t at = url.find("://") + 3;
    url.insert(at, url_encoded(credentials->user) + ':' + url_encoded(credentials->password) + '@');
  }
  Dictionary settings;
  if (url.starts_with("rtsp")) {
    if (options.low_delay) {
      // Lost datagrams cost more pictures than the delay of repeating them. A server without TCP gets UDP.
      settings.set("rtsp_flags", "prefer_tcp");
      // Longer than our own patience, whose message is the better one.
      settings.set("timeout", std::to_string(static_cast<std::int64_t>(
                                  1e6 * (patience_.seconds() > 0 ? patience_.seconds() + 1 : 10))));
    }
    return open_url(url, av_find_input_format("rtsp"), settings);
  }
  if (url.starts_with("rtp:")) return open_url(url, av_find_input_format("rtp"), settings);
  // Falling behind loses packets; it does not end the stream.
  if (options.low_delay && url.starts_with("udp")) settings.set("overrun_nonfatal", "1");
  settings.set("protocol_whitelist", protocols_);
  AVIOContext* opened = nullptr;
  const int result = avio_open2(&opened, url.c_str(), AVIO_FLAG_READ, &interrupt_, settings.address());
  if (result < 0) fail(result);
  stream_.reset(opened);
  open_probed(*opened, "", options);
}

void StreamInput::open_url(const std::string& url, const AVInputFormat* format, Dictionary& settings) {
  if (fault::strikes(fault::Kind::open, "avformat_open_input")) fail(AVERROR(EIO));
  std::unique_ptr<AVFormatContext, FreeByPointer<avformat_free_context>> made(avformat_alloc_context());
  if (!made) throw std::bad_alloc();
  made->opaque = this;
  made->interrupt_callback = interrupt_;
  open_default_ = std::exchange(made->io_open, open_nested);
  made->io_close2 = [](AVFormatContext* context, AVIOContext* io) {
    return static_cast<StreamInput*>(context->opaque)->nested_.erase(io) > 0 ? 0 : avio_close(io);
  };
  // FFmpeg warns of an AVIOContext for a format that opens its files itself; its place is found below.
  AVIOContext* const io = io_ ? io_->context.get() : stream_.get();
  const bool opens_files = (format->flags & AVFMT_NOFILE) != 0;
  made->pb = opens_files ? nullptr : io;
  made->max_streams = kMostStreams;
  if (kind_ != InputKind::generator) set_list(made->protocol_whitelist, protocols_);
  set_list(made->format_whitelist, std::string(kFormats) + ',' + format->name);
  set_list(made->codec_whitelist, allowed_decoders(*format));
  // Waiting for a camera cannot be interrupted, so it is not done in there but in `read`.
  if (kind_ == InputKind::camera) made->flags |= AVFMT_FLAG_NONBLOCK;
  if (quick_) made->max_analyze_duration = AV_TIME_BASE / 4;
  raw_ = made.release();
  const int result = avformat_open_input(&raw_, url.c_str(), format, settings.address());
  if (result < 0) fail(result);  // has freed the context
  context_.reset(raw_);
  if (opens_files && io) {
    context_->pb = io;
    context_->flags |= AVFMT_FLAG_CUSTOM_IO;
  }
  if (is_refused_) fail(AVERROR_INVALIDDATA);
  check_codecs();
}

void StreamInput::check_codecs() {
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    const AVCodecID codec = context_->streams[i]->codecpar->codec_id;
    if (codec != AV_CODEC_ID_NONE && !is_allowed(codec, *context_->iformat)) refuse_codec(codec);
    const AVCodecParameters& stream = *context_->streams[i]->codecpar;
    refuse_giant_chunks(codec, {stream.extradata, static_cast<std::size_t>(stream.extradata_size)});
  }
}

void StreamInput::refuse_giant_chunks(AVCodecID codec, std::span<const std::uint8_t> data) const {
  if ((codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_APNG) && has_giant_chunks(data))
    throw Error(
        ExitCode::input,
        "'" + input_ + "' has a colour profile or texts of more than 32 MiB, or more than 10,000 texts",
        "save the picture without metadata");
}

void StreamInput::refuse_codec(AVCodecID codec) const {
  throw Error(ExitCode::input,
              "'" + input_ + "' holds " + avcodec_get_name(codec) + ", a codec that Sightline does not read",
              "convert it to PNG");
}

WorkLimit::Limits StreamInput::limits_of_picture(std::int64_t max_pixels) const {
  constexpr std::int64_t kBytesPerPixel = 16;
  constexpr std::int64_t kPictures = 4;
  constexpr double kSecondsPerPixel = 0.2e-6;
  std::int64_t most = 0;
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    const AVCodecParameters& stream = *context_->streams[i]->codecpar;
    const std::int64_t pixels = std::int64_t{stream.width} * stream.height;
    if (stream.codec_type == AVMEDIA_TYPE_VIDEO)
      most = std::max(most, pixels > 0 ? std::min(kPictures * pixels, max_pixels) : max_pixels);
  }
  return {static_cast<double>(kLongestOpening.count()) + kSecondsPerPixel * static_cast<double>(most),
          kMostMemory + kBytesPerPixel * most};
}

void StreamInput::analyse(std::int64_t max_pixels) {
  work_limit_->set_bytes(limits_of_picture(max_pixels).bytes);
  // FFmpeg would expand a PNG's texts and profile without a limit. The picture has all needed data.
  const std::string_view format = context_->iformat->name;
  if (format == "image2" || format == "png_pipe")
    set_list(context_->codec_whitelist, allowed_decoders(*context_->iformat, AV_CODEC_ID_PNG));
  // The probing decoders need the cap on picture sizes as much as ours does.
  std::vector<Dictionary> limits(context_->nb_streams);
  std::vector<AVDictionary*> raw;
  for (Dictionary& limit : limits) {
    limit.set("max_pixels", std::to_string(max_pixels));
    raw.push_back(*limit.address());
  }
  patience_.renew();
  has_logged_damage_ = false;
  const int result = fault::strikes(fault::Kind::read, "avformat_find_stream_info")
                         ? AVERROR(EIO)
                         : avformat_find_stream_info(context_.get(), raw.empty() ? nullptr : raw.data());
  skips_blocks_ = has_logged_damage_;
  for (std::size_t i = 0; i < limits.size(); ++i) *limits[i].address() = raw[i];  // it may have replaced them
  if (result < 0) fail(result);
  check_codecs();
}

void StreamInput::note_error(const AVFormatContext& context) {
  if (context.interrupt_callback.callback != interrupt || !context.iformat) return;
  if (std::string_view(context.iformat->name).starts_with("matroska"))
    static_cast<StreamInput*>(context.interrupt_callback.opaque)->has_logged_damage_ = true;
}

int StreamInput::interrupt(void* self) {
  auto& input = *static_cast<StreamInput*>(self);
  input.forbid_more_references();
  return input.gives_up() ? 1 : 0;
}

int StreamInput::read(AVPacket& packet) {
  constexpr auto pause = std::chrono::milliseconds(1);
  patience_.renew();
  for (;;) {
    has_logged_damage_ = false;
    const int result = fault::strikes(fault::Kind::read, "av_read_frame")
                           ? AVERROR(EIO)
                           : av_read_frame(context_.get(), &packet);
    skips_blocks_ |= has_logged_damage_;
    if (result >= 0) {
      unseen_ = 0;
      return result;
    }
    const bool gave_up = gives_up();
    if (stopped()) return AVERROR_EXIT;
    if (is_refused_) fail(AVERROR_INVALIDDATA);
    if (gave_up) fail_without_data();
    if (result != AVERROR(EAGAIN)) return result;
    std::this_thread::sleep_for(pause);
  }
}

int StreamInput::read_io(void* io, std::uint8_t* buffer, int size) {
  auto& self = static_cast<Io*>(io)->owner;
  self.forbid_more_references();
  if (self.gives_up()) return AVERROR_EXIT;
  const int count = static_cast<Io*>(io)->bytes->read(buffer, size);
  if (count <= 0) return count;
  if (!self.opening_since_) self.opening_since_ = Clock::now();
  if (!self.is_playlist_) self.patience_.renew();  // reading a playlist again is no progress
  self.unseen_ += count;
  const bool is_allowed = static_cast<Io*>(io)->limits.allows({buffer, static_cast<std::size_t>(count)});
  if (self.is_playlist_ && !is_allowed) {
    self.problem_ = "the playlist names too many variants or segments";
    self.is_refused_ = true;
    return AVERROR_INVALIDDATA;
  }
  return self.is_playlist_ && self.unseen_ > kMostUnseen ? AVERROR(EFBIG) : count;
}

// FFmpeg passes its lists on to a playlist's entries and to redirect targets. Call it when the format is
// known or the connection is made: from then on, nested playlists and second connections are refused.
void StreamInput::forbid_more_references() {
  if (!raw_ || !raw_->iformat || !work_limit_) return;
  const auto replace = [](char*& list, const char* by) {
    if (list && std::string_view(list) == by) return;
    av_free(list);
    list = av_strdup(by);
  };
  if (is_playlist_) replace(raw_->format_whitelist, kFormats);
  if (url_.starts_with("rtsp")) replace(raw_->protocol_whitelist, "rtp,udp");
}

std::unique_ptr<ByteSource> StreamInput::open_reference(const std::string& url, int& code) {
  code = AVERROR(EPERM);
  if (!is_playlist_ || (work_limit_ && ++references_ > kMostReferences)) return nullptr;
  if (origin_ && !origin_->host.empty() && host_of(url) == origin_->host)
    return open_http(url, origin_, gives_up_, code, problem_);
  const std::string path = url.starts_with("file:") ? url.substr(5) : url;
  const std::string list = without_file_scheme(url_);
  if (kind_ != InputKind::file || !is_beside(list, path)) {
    problem_ = "it names '" + redacted(url) + "', which is outside its own folder or host";
    return nullptr;
  }
  // A local playlist does not grow: without an end mark, it would be read again and again.
  code = AVERROR_EOF;
  const bool is_list = av_match_ext(path.c_str(), "m3u8,m3u") || fs::equivalent(path, list);
  if (is_list && !lists_.insert(path).second) return nullptr;
  return open_file(path, gives_up_, code);
}

int StreamInput::open_nested(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
                             AVDictionary** settings) {
  auto* self = static_cast<StreamInput*>(context->opaque);
  if (self->is_refused_) return AVERROR_EXIT;
  try {
    self->forbid_more_references();
    // FFmpeg opens pictures of a pattern, and picture files that it recognises by their name, itself.
    std::error_code ignored;
    const std::string path = std::string_view(url).starts_with("file:") ? url + 5 : url;
    if (self->kind_ == InputKind::file && std::string_view(context->iformat->name) == "image2" &&
        fs::is_regular_file(path, ignored))
      return self->open_default_(context, io, url, flags, settings);
    int code = 0;
    std::unique_ptr<ByteSource> bytes = self->open_reference(url, code);
    if (!bytes) return code;
    auto nested = std::make_unique<Io>(*self, std::move(bytes));
    *io = nested->context.get();
    self->nested_[*io] = std::move(nested);
    return 0;
  } catch (const std::bad_alloc&) {
    return AVERROR(ENOMEM);
  } catch (...) {  // called by C code, which an exception must not cross
    return AVERROR(EIO);
  }
}

bool StreamInput::is_slow_to_open() const {
  return work_limit_ && opening_since_ && Clock::now() - *opening_since_ > kLongestOpening;
}

bool StreamInput::gives_up() {
  if (stopped() || is_refused_ || is_slow_to_open()) return true;
  if (work_limit_ && work_limit_->is_passed()) return true;
  // Data that FFmpeg discards, such as packets of unused streams, count as well.
  if (stream_ && stream_->bytes_read != bytes_seen_) {
    bytes_seen_ = stream_->bytes_read;
    patience_.renew();
  }
  return patience_.is_exhausted();
}

bool StreamInput::has_pictures() const {
  return is_held_ || is_picture(*context_->iformat);
}

bool StreamInput::is_single_image() const {
  if (is_held_ || !has_pictures()) return is_held_;
  if (std::string_view(context_->iformat->name) == "image2") return !is_pattern(url_);
  return kind_ != InputKind::standard_input;
}

std::vector<std::uint8_t> StreamInput::content_of_image() {
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  AVIOContext* const io = context_->pb;
  if (!is_single_image() || !io || !(io->seekable & AVIO_SEEKABLE_NORMAL)) return {};
  const std::int64_t size = avio_size(io), at = avio_tell(io);
  if (size <= 0 || size > kLargest) return {};
  std::vector<std::uint8_t> content = head(static_cast<std::size_t>(size));
  if (const auto back = avio_seek(io, at, SEEK_SET); back < 0) fail(static_cast<int>(back));
  if (std::ssize(content) != size) return {};  // stopped, or of another size by now
  return content;
}

std::vector<std::uint8_t> StreamInput::head(std::size_t most) {
  AVIOContext* const io = io_ ? io_->context.get() : nullptr;
  if (!io) return {};
  const bool is_seekable = io->seekable & AVIO_SEEKABLE_NORMAL;
  const std::int64_t at = avio_tell(io);
  if (at != 0 && (!is_seekable || avio_seek(io, 0, SEEK_SET) < 0)) return {};
  std::vector<std::uint8_t> bytes(most);
  const auto read_some = is_seekable ? avio_read : avio_read_partial;
  const int count = read_some(io, bytes.data(), static_cast<int>(most));
  bytes.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (is_seekable) avio_seek(io, at, SEEK_SET);
  return bytes;
}

void StreamInput::refuse_unsupported(int code) {
  // Some decoders return -1 for unknown errors, which reads as a lack of permission.
  if (code != AVERROR_INVALIDDATA && code != AVERROR_PATCHWELCOME && code != AVERROR(EPERM)) return;
  if (const std::optional<Unsupported> found = unsupported_kind(head(1 << 16)))
    throw Error(ExitCode::input, "'" + input_ + "' is " + found->kind + ", which is not supported",
                found->remedy);
  if (code == AVERROR_PATCHWELCOME)
    throw Error(ExitCode::input, "'" + input_ + "' has a format that this FFmpeg does not support",
                "convert it, for instance to PNG or H.264");
}

void StreamInput::fail(int code) {
  if (stopped()) throw Error(ExitCode::failed, "opening '" + input_ + "' was stopped");
  if (patience_.is_exhausted()) fail_without_data();
  if (is_slow_to_open())
    throw Error(ExitCode::input, "opening '" + input_ + "' took longer than " +
                                     std::to_string(kLongestOpening.count()) + " s");
  if (work_limit_ && work_limit_->is_passed())
    throw Error(ExitCode::input, work_limit_->problem(), "the file is damaged or malicious");
  if (!problem_.empty()) throw Error(ExitCode::input, "cannot open '" + input_ + "': " + problem_);
  refuse_unsupported(code);
  const std::string reason = " (" + error_text(code) + ")";
  if (kind_ == InputKind::standard_input)
    throw Error(ExitCode::input, "standard input is not a readable video" + reason,
                "use MP4 files with their index in front, or MPEG-TS or Matroska");
  if (kind_ != InputKind::network && kind_ != InputKind::file) throw capture_error(kind_, input_, code);
  if (code == AVERROR_INVALIDDATA || code == AVERROR_EOF)
    throw Error(ExitCode::input, "'" + input_ + "' is not a readable video or image" + reason,
                "it may be of another type, damaged, or not written completely");
  throw Error(ExitCode::input, "cannot open '" + input_ + "'" + reason,
              code == AVERROR(ENOENT)   ? "check the name and the path"
              : code == AVERROR(EACCES) ? "check its permissions"
                                        : "");
}

void StreamInput::fail_without_data() const {
  const bool is_fatal = kind_ == InputKind::network && !quick_;  // `live` reopens an input
  throw Error(ExitCode::input, fmt::format("no data for {:g} s from '{}'", patience_.seconds(), input_),
              is_fatal ? "check the source and the network, or use a larger --timeout"_message : Message());
}

}  // namespace sightline::media
