#include "media/reader.hpp"

#include <cmath>
#include <deque>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "media/decoded_picture.hpp"
#include "media/input_kind.hpp"
#include "media/scaler.hpp"
#include "media/secrets.hpp"
#include "media/source.hpp"

namespace sightline::media {
namespace {

constexpr double kHalfMicrosecond = 0.5e-6;  // times come from integers: this much is rounding

void check(const ReadOptions& options) {
  const auto refuse = [](const char* problem) { throw Error(ExitCode::usage, problem); };
  if (!(options.start >= 0) || !std::isfinite(options.start))
    refuse("the start of reading must be 0 s or later");
  if (options.duration && !(*options.duration > 0)) refuse("the duration of reading must be above 0 s");
  if (options.every < 1) refuse("every n-th frame needs an n of at least 1");
  if (options.loop < -1) refuse("the number of loops must be -1 (without end), 0 or more");
  if (options.threads < 0) refuse("the number of decoder threads must be 0 (automatic) or more");
  check_decoder(options.decoder);
  if (const double patience = options.patience.value_or(0); !(patience >= 0) || !std::isfinite(patience))
    refuse("the time-out without data must be 0 s (no limit) or more");
  if (options.max_pixels < 1) refuse("the limit on a picture's pixels must be at least 1");
}

/// Throws if the input cannot provide the requested capture options.
void check(const CaptureOptions& capture, const std::string& input) {
  const Size size = capture.size;
  if (size.width < 0 || size.height < 0 || (size.width == 0) != (size.height == 0))
    throw Error(ExitCode::usage, "the size to capture needs a width and a height above 0");
  if (!(capture.frame_rate >= 0) || !std::isfinite(capture.frame_rate))
    throw Error(ExitCode::usage, "the frame rate to capture must be above 0");
  const InputKind kind = kind_of(input);
  const auto refuse = [&](const std::string& what, const char* kinds, const char* parameter) {
    throw Error(ExitCode::usage,
                "cannot set the " + what + " of '" + redacted(input) + "': it is not a " + kinds,
                "leave out " + option(parameter));
  };
  if (kind != InputKind::camera && !capture.pixel_format.empty())
    refuse("pixel format", "camera", "pixel_format");
  if (kind == InputKind::camera || kind == InputKind::screen) return;
  if (size.width > 0) refuse("size", "camera or screen", "size");
  if (capture.frame_rate > 0) refuse("frame rate", "camera or screen", "fps");
}

}  // namespace

struct Reader::Impl {
  Impl(const std::string& input, const ReadOptions& read_options)
      : input_(input), options_(read_options), shown_(redacted(input)), errors_(shown_) {
    check(options_);
    check(options_.capture, input_);
    start_ffmpeg();
    if (input_ == "-" && options_.loop != 0)
      throw Error(ExitCode::usage, "standard input cannot be read more than once",
                  "store it in a file to loop");
    if (options_.duration) end_ = options_.start + *options_.duration;
    open();
    info_ = source_->info();
    source_period_ = info_.frame_rate.num > 0 ? 1 / info_.frame_rate.value() : 1.0 / 25;
    do {  // up to the first frame with pixels, which has the facts of the stream
      std::optional<Frame> frame = next();
      if (!frame && options_.start > 0 && !ahead_.empty()) break;  // earlier pictures have the facts
      if (!frame) explain_nothing();
      ahead_.push_back(std::move(*frame));
    } while (ahead_.back().empty());
    complete_info();
  }

  void open() {
    const SourceContext context{options_, errors_, audio_, loop_shift_};
    source_ = open_source(input_, context);
    if (options_.start > 0 && !source_->seek(options_.start)) source_ = open_source(input_, context);
    in_this_pass_ = 0;
  }

  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  void continue_at(std::int64_t number, double time) {
    source_->release();
    ahead_.clear();
    number_ = number;
    from_ = time;
    is_released_ = true;
    done_ = false;
  }

  std::optional<Frame> next() {
    if (is_released_ && !stopped()) {
      is_released_ = false;
      if (!source_->seek(from_)) source_ = open_source(input_, {options_, errors_, audio_, loop_shift_});
    }
    while (!done_ && !stopped()) {
      std::optional<SourceFrame> found = source_->next();
      if (!found || found->time >= end_ - kHalfMicrosecond) {
        done_ = !begin_again();
        continue;
      }
      if (options_.loop < 0 && found->time + loop_shift_ >= end_ - kHalfMicrosecond) {
        done_ = true;
        continue;
      }
      seen_any_ = true;
      if (found->time < from_ - kHalfMicrosecond) continue;
      ++number_;
      ++in_this_pass_;
      last_time_ = found->time + loop_shift_;
      if ((number_ - 1) % options_.every != 0) continue;
      if (!found->damage.empty())
        return Frame::damaged(std::move(found->damage), number_, last_time_, std::move(found->name));
      try {
        const Frame frame =
            builder_.build(std::move(found->picture), number_, last_time_, std::move(found->name));
        return options_.low_delay ? frame.stamped(found->times) : frame;
      } catch (const Error& error) {
        errors_.add(error.what());
      }
    }
    return std::nullopt;
  }

  bool begin_again() {
    // A pass that gave nothing would be followed by another, for ever.
    if (loops_done_ == options_.loop || in_this_pass_ == 0 || stopped()) return false;
    ++loops_done_;
    loop_shift_ = last_time_ + source_period_ - options_.start;
    open();
    return true;
  }

  [[noreturn]] void explain_nothing() const {
    if (stopped())
      throw Error(ExitCode::failed, "reading '" + shown_ + "' was stopped before its first frame");
    const bool past_end = info_.duration && options_.start >= *info_.duration;
    if (options_.start > 0 && (seen_any_ || past_end || errors_.total() == 0))
      throw Error(ExitCode::input,
                  "'" + shown_ + "' has no frame at or after " + fmt::format("{:g}", options_.start) + " s",
                  "use an earlier --start"_message);
    if (is_live(input_))
      throw Error(ExitCode::input, "'" + shown_ + "' ended before its first frame" +
                                       (errors_.last().empty() ? "" : " (" + errors_.last() + ")"));
    throw Error(ExitCode::input,
                "no frame could be decoded from '" + shown_ + "'" +
                    (errors_.last().empty() ? "" : " (" + errors_.last() + ")"),
                input_ == "-" ? "use MP4 files with their index in front, or MPEG-TS or Matroska"
                              : "check the file with a player, or copy it again");
  }

  void complete_info() {
    if (const std::shared_ptr<const AVFrame> picture = picture_of(ahead_.back())) {
      const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(picture->format));
      info_.size = ahead_.back().size();
      info_.pixel_format = name ? name : "unknown";
      if (picture->sample_aspect_ratio.num > 0 && picture->sample_aspect_ratio.den > 0)
        info_.sample_aspect = {picture->sample_aspect_ratio.num, picture->sample_aspect_ratio.den};
      info_.color = color_tags(*picture);
    }
    if (info_.frame_rate.num <= 0) info_.frame_rate = {25, 1};
    info_.frames = estimate(info_.frames);
    av_reduce(&info_.frame_rate.num, &info_.frame_rate.den, info_.frame_rate.num,
              std::int64_t{info_.frame_rate.den} * options_.every, 1 << 30);
  }

  std::optional<std::int64_t> estimate(std::optional<std::int64_t> frames) const {
    const double rate = info_.frame_rate.value();
    if (!frames && info_.duration) frames = std::llround(*info_.duration * rate);
    if (options_.start > 0 && frames) *frames -= std::llround(std::ceil(options_.start * rate - 1e-6));
    if (options_.duration && (frames || options_.loop == 0)) {
      const double wanted = std::min(std::ceil(*options_.duration * rate - 1e-6), 1e15);
      frames = std::min<std::int64_t>(frames.value_or(std::int64_t{1} << 50), std::llround(wanted));
    }
    if (!frames || options_.loop < 0) return std::nullopt;
    const std::int64_t all = std::max<std::int64_t>(*frames, 1) * (options_.loop + 1);
    return (all + options_.every - 1) / options_.every;
  }

  const std::string input_;
  const ReadOptions options_;
  const std::string shown_;
  DecodeErrors errors_;
  std::shared_ptr<AudioTrack> audio_;
  std::unique_ptr<Source> source_;
  FrameBuilder builder_{options_.keep_colour};
  StreamInfo info_;
  std::deque<Frame> ahead_;
  double from_ = options_.start;  // earlier frames are dropped
  double end_ = std::numeric_limits<double>::infinity();
  double source_period_ = 0;
  double loop_shift_ = 0;
  double last_time_ = 0;
  std::int64_t number_ = 0;
  std::int64_t in_this_pass_ = 0;
  int loops_done_ = 0;
  bool seen_any_ = false;
  bool is_released_ = false;  // the source, until the next frame is read
  bool done_ = false;
};

Reader::Reader(const std::string& input, const ReadOptions& options)
    : impl_(std::make_unique<Impl>(input, options)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

std::optional<Frame> Reader::read() {
  if (impl_->ahead_.empty()) return impl_->next();
  Frame frame = std::move(impl_->ahead_.front());
  impl_->ahead_.pop_front();
  return frame;
}

void Reader::continue_at(std::int64_t number, double time) {
  impl_->continue_at(number, time);
}

const StreamInfo& Reader::info() const {
  return impl_->info_;
}
std::int64_t Reader::decode_errors() const {
  return impl_->errors_.total();
}
const std::string& Reader::last_decode_error() const {
  return impl_->errors_.last();
}
std::string Reader::device() const {
  return impl_->source_->device();
}

bool Reader::tests_device() const {
  return impl_->source_->tests_device();
}
std::shared_ptr<AudioTrack> Reader::audio() const {
  return impl_->audio_;
}

std::string hide_secrets(const std::string& input, ReadOptions& options) {
  const InputKind kind = kind_of(input);
  if (kind != InputKind::network && kind != InputKind::generator) return input;
  const std::string shown = kind == InputKind::network ? redacted_url(input) : redacted(input);
  if (shown == input) return input;
  for (int number = 1;; ++number) {
    std::string name = shown;
    if (number > 1) name.insert(name.rfind(kMask) + kMask.size(), std::to_string(number));
    if (options.secret_urls.emplace(name, input).first->second == input) return name;
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

void DecodeErrors::add(const std::string& reason) {
  ++total_;
  last_ = reason;
  logger().debug("{}: {}", input_, reason);
  if (++in_a_row_ >= kMaxInARow)
    throw Error(
        ExitCode::input,
        std::to_string(kMaxInARow) + " consecutive decode errors in '" + input_ + "' (last: " + reason + ")",
        "the rest of the input is probably damaged; copy it again");
}

void check_picture_size(std::int64_t width, std::int64_t height, const std::string& name,
                        std::int64_t max_pixels) {
  if (width * height <= max_pixels) return;
  throw Error(ExitCode::input,
              "a picture of " + std::to_string(width) + "x" + std::to_string(height) + " pixels in '" + name +
                  "' is larger than the limit of " + std::to_string(max_pixels) + " pixels",
              "use a larger --max-pixels if this size is right"_message);
}

std::unique_ptr<Source> open_source(const std::string& input, const SourceContext& context) {
  std::error_code ignored;
  if (input.empty()) throw Error(ExitCode::usage, "the name of the input is empty");
  if (std::filesystem::is_directory(input, ignored)) return open_folder(input, context);
  return open_stream(input, context);
}

}  // namespace sightline::media
