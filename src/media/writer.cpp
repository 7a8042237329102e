#include "media/writer.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "media/audio_track.hpp"
#include "media/encoder.hpp"
#include "media/file_io.hpp"
#include "media/fragments.hpp"
#include "media/input_kind.hpp"
#include "media/reader.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;

/// Makes a folder into a pattern of images in it.
std::string resolve(const std::string& output, const WriteOptions& options) {
  const std::string path = without_file_scheme(output);
  if (path.empty()) throw Error(ExitCode::usage, "the name of the output is empty");
  if (!options.input.empty() && is_same_file(path, options.input))
    throw Error(ExitCode::usage, "the output '" + path + "' is the input", "choose another file");
  std::error_code error;
  if (!path.ends_with('/') && !fs::is_directory(path, error)) return path;
  fs::create_directories(path, error);
  if (error) throw Error(ExitCode::failed, "cannot make the folder '" + path + "' (" + error.message() + ")");
  return (fs::path(path) / "%06d.png").string();
}

/// A name of a file, which may have colons in it, rather than a URL.
bool is_plain_path(const std::string& path) {
  return path.find("://") == std::string::npos || !avio_find_protocol_name(path.c_str());
}

const AVOutputFormat& container_for(const std::string& path) {
  start_ffmpeg();
  const AVOutputFormat* container = av_guess_format(nullptr, path.c_str(), nullptr);
  if (!container)
    throw Error(ExitCode::usage, "the type of '" + path + "' cannot be recognised from its name",
                "choose a name that ends in .mp4 or .mkv");
  return *container;
}

/// True if the error is a muxer's refusal of the input rather than a file error.
bool is_refusal(int result) {
  return result == AVERROR(EINVAL) || result == AVERROR(EPERM) || result == AVERROR(ENOSYS) ||
         result == AVERROR_INVALIDDATA || result == AVERROR_PATCHWELCOME;
}

/// Whether a container takes sound of this kind: it is asked for the head of such a file.
bool can_hold(const AVOutputFormat& container, const AVCodecParameters& sound, AVRational time_base) {
  if (avformat_query_codec(&container, sound.codec_id, FF_COMPLIANCE_NORMAL) != 1) return false;
  if (container.flags & AVFMT_NOFILE) return true;  // it would open files of its own
  AVFormatContext* raw = nullptr;
  if (avformat_alloc_output_context2(&raw, &container, nullptr, nullptr) < 0) throw std::bad_alloc();
  const std::unique_ptr<AVFormatContext, FreeByPointer<avformat_free_context>> trial(raw);
  AVStream* const stream = avformat_new_stream(raw, nullptr);
  if (!stream || avcodec_parameters_copy(stream->codecpar, &sound) < 0 || avio_open_dyn_buf(&raw->pb) < 0)
    throw std::bad_alloc();
  stream->codecpar->codec_tag = 0;
  stream->time_base = time_base;
  const bool taken = avformat_write_header(raw, nullptr) >= 0;
  std::uint8_t* head = nullptr;
  avio_close_dyn_buf(raw->pb, &head);
  av_free(head);
  return taken;
}

/// One of image2's.
struct Picture {
  explicit Picture(const char* name) : file(name) {
    if (!file.error()) io.emplace(file.descriptor(), FileIo::Access::write);
  }
  AtomicFile file;
  std::optional<FileIo> io;
};

}  // namespace

struct Writer::Impl {
  Impl(const std::string& path, const StreamInfo& video, const WriteOptions& options)
      : path_(resolve(path, options)),
        encoder_(path_, container_for(path_), video, options),
        audio_(options.audio),
        live_(options.live) {
    AVFormatContext* raw = nullptr;
    if (fault::strikes(fault::Kind::allocate, "avformat_alloc_output_context2") ||
        avformat_alloc_output_context2(&raw, &container_for(path_), nullptr, path_.c_str()) < 0)
      throw std::bad_alloc();
    output_.reset(raw);
    add_video(video);
    if (audio_) add_audio();
    open_file();
    period_ = 1 / av_q2d(encoder_.context().framerate);
  }

  void add_video(const StreamInfo& video) {
    video_ = avformat_new_stream(output_.get(), nullptr);
    if (!video_ || avcodec_parameters_from_context(video_->codecpar, &encoder_.context()) < 0)
      throw std::bad_alloc();
    video_->time_base = encoder_.context().time_base;
    video_->avg_frame_rate = encoder_.context().framerate;
    video_->sample_aspect_ratio = {std::max(video.sample_aspect.num, 0),
                                   std::max(video.sample_aspect.den, 1)};
  }

  void add_audio() {
    const AVCodecParameters& parameters = audio_->parameters();
    if (!can_hold(*output_->oformat, parameters, audio_->time_base())) {
      logger().warn("{}: {} files cannot hold the sound of the input ({}); written without sound", path_,
                    output_->oformat->name, avcodec_get_name(parameters.codec_id));
      audio_.reset();
      return;
    }
    sound_ = avformat_new_stream(output_.get(), nullptr);
    if (!sound_ || avcodec_parameters_copy(sound_->codecpar, &parameters) < 0) throw std::bad_alloc();
    sound_->codecpar->codec_tag = 0;  // the input container's; the output has its own
    sound_->time_base = audio_->time_base();
  }

  void open_output() {
    int result = fault::strikes(fault::Kind::open, "avio_open") ? AVERROR(EACCES) : 0;
    if (result == 0 && !is_plain_path(path_)) {
      result = avio_open(&output_->pb, path_.c_str(), AVIO_FLAG_WRITE);
    } else if (result == 0) {
      // Live output is readable while it is written.
      file_.emplace(path_, Readers::all, live_ ? Naming::at_once : Naming::when_whole);
      result = AVERROR(file_->error().value());
    }
    if (result < 0) {
      throw Error(ExitCode::failed, "cannot write '" + path_ + "' (" + error_text(result) + ")",
                  "check that the folder exists and is writable");
    }
    if (!file_) return;
    io_.emplace(file_->descriptor(), FileIo::Access::write);
    output_->pb = io_->context();
    output_->flags |= AVFMT_FLAG_CUSTOM_IO;
  }

  void open_file() {
    if (!(output_->oformat->flags & AVFMT_NOFILE)) {
      open_output();
    } else {
      check_folder();
      if (is_plain_path(path_) && std::string_view(output_->oformat->name) == "image2") {
        output_->opaque = this;
        output_->io_open = open_picture;
        output_->io_close2 = close_picture;
      }
    }
    Dictionary options;
    if (av_filename_number_test(path_.c_str()) == 0) {
      options.set("update", "1");  // image2: one file
      single_picture_ = std::string_view(output_->oformat->name) == "image2";
    }
    output_->flags |= AVFMT_FLAG_FLUSH_PACKETS;
    if (live_) {
      set_live(options);
    } else if (file_ && file_->is_unfinished() && is_mov(*output_->oformat)) {
      write_in_fragments(options, kFragmentMilliseconds, true);
      in_fragments_ = true;
    }
    const int result = fault::strikes(fault::Kind::write, "avformat_write_header")
                           ? AVERROR(ENOSPC)
                           : avformat_write_header(output_.get(), options.address());
    if (result < 0) {
      settle(false);
      if (is_refusal(result))
        throw Error(ExitCode::usage,
                    "'" + path_ + "' (" + output_->oformat->name + ") cannot hold the output of " +
                        encoder_.context().codec->name + " (" + error_text(result) + ")",
                    "choose a name that ends in .mp4 or .mkv");
      fail(result);
    }
    // Muxers whose head comes later switch off the filters that sound out of MPEG streams needs.
    output_->flags |= AVFMT_FLAG_AUTO_BSF;
  }

  // Makes muxers write early, instead of buffering for seconds or to the end.
  void set_live(Dictionary& options) {
    if (is_mov(*output_->oformat)) write_in_fragments(options, kLiveMilliseconds, false);
    if (has_option(*output_->oformat, "cluster_time_limit"))
      options.set("cluster_time_limit", std::to_string(kLiveMilliseconds));
  }

  // image2 opens its files one by one; that it will not be able to should be known now.
  void check_folder() const {
    const fs::path folder = fs::path(path_).parent_path();
    std::error_code ignored;
    if (!folder.empty() && !fs::is_directory(folder, ignored))
      throw Error(ExitCode::failed,
                  "cannot write '" + path_ + "' (there is no folder '" + folder.string() + "')");
  }

  void write(const Frame& frame, std::span<const Detection> objects, std::span<const std::string> labels) {
    if (closed_ || failed_)
      throw Error(ExitCode::failed, "'" + path_ + "' is closed and takes no more frames");
    if (frame.empty()) return;
    if (single_picture_ && frames_ > 0) {
      failed_ = true;
      picture_.reset();
      throw Error(ExitCode::usage, "'" + path_ + "' is one picture, and there is more than one frame",
                  "write a video, a folder, or numbered pictures (name%04d.png)");
    }
    FittedPicture& picture = encoder_.picture();
    picture.put(frame);
    if (!objects.empty()) {
      mapped_.assign(objects.begin(), objects.end());
      for (Detection& object : mapped_) object.box = picture.map(object.box);
      annotator_.draw(picture.view(), mapped_, labels);
    }
    if (!first_time_) first_time_ = frame.time();
    const double time = frame.time() - *first_time_;
    check(encoder_.encode(time));
    ++frames_;
    write_video();
    write_audio(time + period_);
    if (in_fragments_ && in_file_ == 0 && pictures_ > 0 && time > kPatience) write_first_fragment();
    check_file();
  }

  // The file's head tells when each stream begins: a packet of the video must be there, also one that waits
  // for sound.
  void write_first_fragment() {
    check(av_interleaved_write_frame(output_.get(), nullptr));
    check(av_write_frame(output_.get(), nullptr));
  }

  void write_video() {
    for (;;) {
      const int result = encoder_.receive(*packet_);
      if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return;
      check(result);
      // Says how long the last picture stays; of the others the next one's time does.
      if (packet_->duration == 0)
        packet_->duration =
            std::max<std::int64_t>(std::llround(period_ / av_q2d(encoder_.context().time_base)), 1);
      av_packet_rescale_ts(packet_.get(), encoder_.context().time_base, video_->time_base);
      packet_->stream_index = video_->index;
      write_packet();
      ++pictures_;
    }
  }

  void write_packet() {
    const std::int64_t size = packet_->size;
    const auto stream = static_cast<std::size_t>(packet_->stream_index);
    last_durations_[stream] =
        static_cast<double>(packet_->duration) * av_q2d(output_->streams[stream]->time_base);
    check(fault::strikes(fault::Kind::write, "av_interleaved_write_frame")
              ? AVERROR(ENOSPC)
              : av_interleaved_write_frame(output_.get(), packet_.get()));
    check(picture_result_);
    const std::int64_t in_file = output_->pb ? avio_tell(output_->pb) : 0;
    // Once the muxer has written, only this packet may be pending.
    if (in_file != in_file_) held_back_ = 0;
    in_file_ = in_file;
    held_back_ += size;
  }

  /// Writes the sound up to a time, in seconds from the first picture.
  void write_audio(double until) {
    if (!audio_ || !first_time_) return;
    double time = 0;
    while (audio_->next_time(time) && time - *first_time_ < until && audio_->pop(*packet_)) {
      const std::int64_t shift = std::llround(*first_time_ / av_q2d(audio_->time_base()));
      for (std::int64_t* stamp : {&packet_->pts, &packet_->dts})
        if (*stamp != AV_NOPTS_VALUE) *stamp -= shift;
      // Loops meet within a packet's length; containers want times that rise.
      if (packet_->dts != AV_NOPTS_VALUE) {
        if (last_audio_ != AV_NOPTS_VALUE && packet_->dts <= last_audio_)
          packet_->pts = packet_->dts = last_audio_ + 1;
        last_audio_ = packet_->dts;
      }
      av_packet_rescale_ts(packet_.get(), audio_->time_base(), sound_->time_base);
      packet_->stream_index = sound_->index;
      packet_->pos = -1;
      write_packet();
      ++audio_packets_;
    }
  }

  // If the process is killed, one fragment and the encoder's pending frames are lost.
  static constexpr int kFragmentMilliseconds = 2000, kLiveMilliseconds = 500;
  // Seconds that the first fragment waits for each stream to begin; limited, since it waits in memory.
  static constexpr double kPatience = 10;

  void finish() {
    if (std::exchange(closed_, true)) return;
    std::optional<Error> first;
    const bool reported = failed_;
    try {  // also after a failure: the encoder's pending frames were accepted
      check(encoder_.drain());
      write_video();
      write_audio(std::numeric_limits<double>::infinity());
    } catch (const Error& error) {
      if (!reported) first = error;  // try the trailer anyway: it makes the existing data playable
    }
    int result = fault::strikes(fault::Kind::write, "av_write_trailer") ? AVERROR(ENOSPC)
                                                                        : av_write_trailer(output_.get());
    if (AVIOContext* io = output_->pb; io && !(output_->oformat->flags & AVFMT_NOFILE)) {
      avio_flush(io);
      if (result >= 0) result = io->error;
      in_file_ = std::max(in_file_, avio_size(io));
      held_back_ = 0;
      int closing = 0;
      if (io_) {
        output_->pb = nullptr;
        io_.reset();
      } else {
        closing = avio_closep(&output_->pb);
      }
      if (fault::strikes(fault::Kind::write, "avio_closep")) closing = AVERROR(EIO);
      if (result >= 0) result = closing;
    }
    if (picture_ && !failed_ && result >= 0) result = finish_picture(result);
    picture_.reset();
    settle(result >= 0);
    if (first) throw *first;
    if (result < 0 && !reported) fail(result);
  }

  // Gives the file its name, if it is whole and there is something in it.
  void settle(bool whole) {
    if (!file_) return;  // a URL, or pictures, which are files of their own
    const bool unfinished = file_->is_unfinished();
    if (unfinished && pictures_ == 0) return file_.reset();
    if (whole) {
      if (in_fragments_ && join()) return file_.reset();
      const std::error_code error = file_->finish();
      if (!error) return;
      file_->keep();
      throw Error(ExitCode::failed, "cannot write '" + path_ + "' (" + error.message() + ")",
                  unfinished ? "the video is in '" + file_->place().string() + "'" : "");
    }
    file_->keep();
    if (unfinished) logger().warn("'{}' is left, without its end", file_->place().string());
  }

  // Joins the fragments to a video with one index. If that fails (such as without room for both), the
  // fragments remain a playable video.
  bool join() {
    constexpr std::int64_t kLong = std::int64_t{1} << 30;
    if (in_file_ > kLong) logger().info("'{}' is copied once more, to have one index", path_);
    std::string problem = "no room for another file";
    try {
      AtomicFile joined(path_);
      if (!joined.error() && joined.is_unfinished()) {
        const int result =
            join_fragments(file_->descriptor(), joined.descriptor(), *output_, last_durations_);
        const std::error_code error = result >= 0 ? joined.finish() : std::error_code();
        if (result >= 0 && !error) return true;
        problem = error ? error.message() : error_text(result);
      }
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      problem = error.what();
    }
    logger().debug("'{}' stays in fragments ({})", path_, problem);
    return false;
  }

  // image2 calls this once for each picture. The picture gets its name once it is whole. image2's own option
  // (atomic_writing) has temporary names that others can guess.
  static int open_picture(AVFormatContext* output, AVIOContext** io, const char* name, int,
                          AVDictionary**) noexcept {
    Impl& impl = *static_cast<Impl*>(output->opaque);
    try {
      impl.picture_ = std::make_unique<Picture>(name);
    } catch (const std::exception&) {
      return AVERROR(ENOMEM);
    }
    const std::error_code error = impl.picture_->file.error();
    if (error) return impl.picture_result_ = AVERROR(error.value());
    *io = impl.picture_->io->context();
    return 0;
  }

  static int close_picture(AVFormatContext* output, AVIOContext* io) noexcept {
    Impl& impl = *static_cast<Impl*>(output->opaque);
    avio_flush(io);
    const int written = std::min(io->error, 0);
    impl.picture_->io.reset();
    // A single one is given its name when it is known that no other follows.
    if (written == 0 && impl.single_picture_) return 0;
    return impl.finish_picture(written);
  }

  // `picture_result_` keeps the result, because image2 ignores it.
  int finish_picture(int result) noexcept {
    try {
      if (result == 0) result = AVERROR(picture_->file.finish().value());
    } catch (const std::exception&) {
      picture_problem_ = std::current_exception();
      result = AVERROR(EIO);
    }
    picture_.reset();
    if (result < 0) picture_result_ = result;
    return result;
  }

  void check_file() {
    if (output_->pb && output_->pb->error < 0) fail(output_->pb->error);
  }
  void check(int result) {
    if (result < 0) fail(result);
  }
  [[noreturn]] void fail(int code) {
    failed_ = true;
    picture_.reset();
    if (picture_problem_) std::rethrow_exception(picture_problem_);
    if (picture_result_ < 0) code = picture_result_;
    throw Error(ExitCode::failed, "cannot write '" + path_ + "' (" + error_text(code) + ")",
                code == AVERROR(ENOSPC) ? "make room on the disk or write elsewhere" : "")
        .about(path_);
  }

  const std::string path_;
  VideoEncoder encoder_;
  std::shared_ptr<AudioTrack> audio_;
  const bool live_;
  std::optional<AtomicFile> file_;      // none for pictures and URLs
  std::optional<FileIo> io_;            // I/O of the file
  std::unique_ptr<Picture> picture_;    // picture that image2 is writing
  int picture_result_ = 0;              // code of the last failure
  std::exception_ptr picture_problem_;  // details of that failure, if any
  OutputContextPtr output_;
  AVStream* video_ = nullptr;  // owned by output_
  AVStream* sound_ = nullptr;  // owned by output_
  PacketPtr packet_ = make_av_packet();
  Annotator annotator_;
  std::vector<Detection> mapped_;
  std::optional<double> first_time_;
  double period_ = 0;
  std::int64_t frames_ = 0;
  std::int64_t pictures_ = 0;                                    // pictures in the file
  std::vector<double> last_durations_ = std::vector<double>(2);  // seconds, by stream
  std::int64_t audio_packets_ = 0;
  std::int64_t in_file_ = 0;    // bytes
  std::int64_t held_back_ = 0;  // bytes that the muxer may still have, at most
  std::int64_t last_audio_ = AV_NOPTS_VALUE;
  bool in_fragments_ = false;  // until it is whole
  bool failed_ = false;
  bool closed_ = false;
  bool single_picture_ = false;  // no second frame fits
};

Writer::Writer(const std::string& path, const StreamInfo& video, const WriteOptions& options)
    : impl_(std::make_unique<Impl>(path, video, options)) {}

Writer::~Writer() {
  if (!impl_) return;
  try {
    impl_->finish();
  } catch (const std::exception& error) {
    try {
      logger().error("{}", error.what());
    } catch (...) {  // a destructor must not throw
    }
  }
}

Writer::Writer(Writer&&) noexcept = default;

Writer& Writer::operator=(Writer&& other) noexcept {
  if (this != &other) {
    Writer ended(std::move(*this));  // finishes the file that was being written here
    impl_ = std::move(other.impl_);
  }
  return *this;
}

void Writer::write(const Frame& frame, std::span<const Detection> objects,
                   std::span<const std::string> labels) {
  impl_->write(frame, objects, labels);
}
void Writer::finish() {
  impl_->finish();
}
std::int64_t Writer::frames() const {
  return impl_->frames_;
}
std::int64_t Writer::bytes() const {
  return impl_->in_file_ + impl_->held_back_;
}
std::int64_t Writer::audio_packets() const {
  return impl_->audio_packets_;
}

void check_writing(const std::string& path, const StreamInfo& video, const WriteOptions& options) {
  const VideoEncoder encoder(path, container_for(path), video, options);
}

bool is_picture_name(const std::string& path) {
  return std::string_view(container_for(path).name) == "image2";
}

}  // namespace sightline::media
