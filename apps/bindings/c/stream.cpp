// Streams: a source with a thread of its own, the session of a detector, and a bounded queue of results.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <utility>

#include "apps/bindings/c/call.hpp"
#include "apps/bindings/c/detector.hpp"
#include "apps/bindings/c/tracker.hpp"
#include "base/json_text.hpp"
#include "image/size_text.hpp"
#include "pipeline/runs/open_live.hpp"

namespace sightline::api {
namespace {

using namespace std::chrono_literals;
using StreamClock = std::chrono::steady_clock;

constexpr auto kSlice = 100ms;            // how often a waiting call looks for what is not announced
constexpr double kSecondsForSamples = 5;  // how long a live source may take to show frames for a plan
constexpr double kMostOptionSeconds = 1e6;

/// The options of sl_stream_open.
struct StreamOptions {
  std::string name;  ///< without secrets
  media::ReadOptions reading;
  pipeline::LiveOptions capture;
  bool keeps_all = true;  ///< policy "all"
  int queue = 1;          ///< results that wait
  double rate = 0;
  double importance = 1;
  std::optional<ResultTracker> tracker;
};

Size size_of(const TomlOptions& options, const std::string& text) {
  if (const std::optional<Size> size = to_size(text)) return *size;
  TomlOptions::fail(*options.find("size"), fmt::format("'{}' is not a size", text),
                    "write it as \"1280x720\"");
}

void read_tracking(const TomlOptions& options, StreamOptions& stream) {
  const ConfigNode* const node = options.find("track");
  if (!node) return;
  if (const auto* const table = node->as<ConfigTable>()) {
    stream.tracker.emplace(TomlOptions(*table));
  } else if (options.flag("track").value_or(false)) {
    stream.tracker.emplace(TomlOptions(nullptr));
  }
}

void read_reading(const TomlOptions& options, media::ReadOptions& reading) {
  reading.start = options.number("start", 0, kMostOptionSeconds).value_or(0);
  reading.duration = options.number("duration", 1e-6, kMostOptionSeconds);
  reading.loop = options.whole_number("loop", -1, 1'000'000).value_or(0);
  reading.threads = options.whole_number("threads", 0, 1024).value_or(0);
  reading.decoder = options.text("decoder").value_or(reading.decoder);
  media::check_decoder(reading.decoder);
  reading.recursive = options.flag("recursive").value_or(false);
  reading.keep_going = options.flag("keep_going").value_or(false);
  reading.deliver_damaged = true;
  reading.max_pixels =
      static_cast<std::int64_t>(options.number("max_pixels", 1, 0x1p31).value_or(double(reading.max_pixels)));
  reading.allow_playlists = options.flag("allow_playlists").value_or(false);
  reading.netrc = options.text("netrc").value_or("");
  if (const auto size = options.text("size")) reading.capture.size = size_of(options, *size);
  reading.capture.frame_rate = options.number("fps", 1e-3, 1e4).value_or(0);
  reading.capture.pixel_format = options.text("pixel_format").value_or("");
}

StreamOptions stream_options(const std::string& url, const TomlOptions& options) {
  StreamOptions stream;
  read_reading(options, stream.reading);
  stream.name = media::hide_secrets(url, stream.reading);
  pipeline::LiveOptions& capture = stream.capture;
  capture.live = options.flag("live").value_or(media::is_live(stream.name));
  const std::string policy = options.text("policy").value_or(capture.live ? "newest" : "all");
  if (policy != "newest" && policy != "all")
    TomlOptions::fail(*options.find("policy"), fmt::format("there is no policy '{}'", policy),
                      "give \"newest\" or \"all\"");
  stream.keeps_all = policy == "all";
  capture.drop = stream.keeps_all ? pipeline::DropPolicy::none : pipeline::DropPolicy::oldest;
  stream.queue = options.whole_number("queue", 1, 1000).value_or(stream.keeps_all ? 4 : 1);
  // Plans of schedules want a few frames, and nothing is searched while they are made.
  capture.queue = stream.keeps_all ? pipeline::kPlanFrames : 1;
  capture.every = options.whole_number("every", 1, 1'000'000).value_or(1);
  const std::optional<double> pace = options.number("pace", 0, 1000);
  if (!capture.live) capture.pace = pace.value_or(stream.keeps_all ? 0 : 1);
  for (const char* name : {"give_up", "give_up_after"}) {  // the second, as messages of the program name it
    if (const auto seconds = options.number(name, 0, kMostOptionSeconds)) capture.give_up_after = seconds;
  }
  capture.reopen_after = options.number("timeout", 0.1, kMostOptionSeconds).value_or(capture.reopen_after);
  if (capture.live) {
    for (const char* key : {"pace", "loop", "start"}) {
      if (const ConfigNode* const node = options.find(key))
        TomlOptions::fail(*node, fmt::format("'{}' is for files, and '{}' is live", key, stream.name),
                          "leave it out, or give live = false if it is a file");
    }
  }
  stream.rate = options.number("rate", 1e-6, 1e6).value_or(0);
  stream.importance = options.number("importance", 1e-3, 1e3).value_or(1);
  read_tracking(options, stream);
  options.expect_all_known();
  return stream;
}

/// The source of a detector's stream, the sink of its results, and their queue. With policy "all", frames
/// enter only while there is room for their results. Nothing here waits but `wait_until`.
class Channel final : public FrameSource, public pipeline::Sink {
 public:
  struct Item {
    ResultPtr result;
    Frame frame;
  };

  /// @param capacity  results that wait, and frames that are searched, together; 0: only `queue` results
  /// wait,
  ///                  and newer ones replace them
  Channel(pipeline::LiveSource& source, std::shared_ptr<const DetectorFacts> facts, std::size_t queue,
          std::size_t capacity, std::optional<ResultTracker> tracker)
      : source_(source),
        facts_(std::move(facts)),
        queue_(queue),
        capacity_(capacity),
        tracker_(std::move(tracker)) {}

  // The source, for the session.
  Reading reading() const override { return Reading::announces; }
  std::optional<Frame> read() override { return source_.read(); }
  bool try_read(std::optional<Frame>& frame) override {
    {
      const std::lock_guard lock(mutex_);
      if (capacity_ > 0 && items_.size() + in_search_ >= capacity_) return false;  // `take` announces
    }
    try {
      if (!source_.try_read(frame)) return false;
    } catch (...) {
      end(std::current_exception());
      throw;
    }
    if (!frame) {
      end(nullptr);
    } else {
      const std::lock_guard lock(mutex_);
      ++in_search_;
    }
    return true;
  }
  void on_announcement(std::function<void()> call) override {
    {
      const std::lock_guard lock(mutex_);
      announce_ = call;
    }
    source_.on_announcement(std::move(call));
  }
  std::int64_t decode_errors() const override { return source_.decode_errors(); }
  std::int64_t dropped() const override { return source_.dropped(); }
  std::optional<std::int64_t> frames() const override { return source_.frames(); }

  // The sink. An error must not end the session's other streams, and must not be lost.
  void accept(const Frame& frame, const FrameResult& result) override {
    Item item;
    std::exception_ptr error;
    try {
      item = {make_result(result), frame};
    } catch (...) {
      error = std::current_exception();
    }
    if (add(std::move(item), std::move(error))) return;
    source_.stop();  // results of later frames are not wanted; without the mutex, which announcements take
  }

  // The queue, for one thread.
  std::optional<Item> take() {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item = std::move(items_.front());
    items_.pop_front();
    if (announce_) announce_();
    return item;
  }
  bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return items_.empty();
  }
  /// Ended, and no result will come.
  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return is_over_locked();
  }
  /// The error that ended the stream; null from the second call on.
  std::exception_ptr take_error() {
    const std::lock_guard lock(mutex_);
    return std::exchange(error_, nullptr);
  }
  void wait_until(StreamClock::time_point time) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [&] { return !items_.empty() || is_over_locked() || is_woken_; });
    is_woken_ = false;
  }
  /// Ends a wait; from any thread.
  void wake() {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    changed_.notify_all();
  }
  /// No result will come any more, whatever is counted as being searched.
  void end_now() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    in_search_ = 0;
    changed_.notify_all();
  }
  std::pair<std::size_t, std::int64_t> waiting_and_searched() const {
    const std::lock_guard lock(mutex_);
    return {items_.size(), searched_};
  }

 private:
  ResultPtr make_result(const FrameResult& result) {
    if (tracker_) return tracker_->update(result.time, facts_, result);
    return ResultPtr(new sl_result(facts_, result));
  }
  /// Returns false after an error.
  bool add(Item item, std::exception_ptr error) noexcept {
    Item gone;  // freed without the mutex
    const std::lock_guard lock(mutex_);
    --in_search_;
    ++searched_;
    changed_.notify_all();
    try {
      if (error) std::rethrow_exception(error);
      items_.push_back(std::move(item));
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      has_ended_ = true;
      return false;
    }
    if (capacity_ == 0 && items_.size() > queue_) {
      gone = std::move(items_.front());
      items_.pop_front();
    }
    return true;
  }
  void end(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }
  bool is_over_locked() const { return has_ended_ && in_search_ == 0 && items_.empty(); }

  pipeline::LiveSource& source_;
  const std::shared_ptr<const DetectorFacts> facts_;
  const std::size_t queue_;
  const std::size_t capacity_;
  std::optional<ResultTracker> tracker_;  ///< the sink's

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> announce_;  ///< called with the mutex held
  std::deque<Item> items_;
  std::size_t in_search_ = 0;
  std::int64_t searched_ = 0;
  bool has_ended_ = false;
  bool is_woken_ = false;
  std::exception_ptr error_;
};

/// The last few frames that were captured, until a plan has them.
class Samples {
 public:
  void add(const Frame& frame) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || frame.empty() || frames_.size() >= pipeline::kPlanFrames) return;
    if (frames_.empty() || frames_.back().size() == frame.size()) frames_.push_back(frame);
  }
  std::vector<Frame> take() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
    return std::move(frames_);
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return frames_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Frame> frames_;
  bool is_open_ = true;
};

bool has_ended(const pipeline::CaptureStatus& status) {
  return status.state == pipeline::CaptureState::ended || status.state == pipeline::CaptureState::failed;
}

}  // namespace

/// A stream of a detector, or of none.
class ResultStream {
 public:
  ResultStream(const std::string& url, std::shared_ptr<SharedDetector> detector, StreamOptions options)
      : name_(url), detector_(std::move(detector)) {
    const bool samples = detector_ && detector_->measures_schedules();
    options.capture.name = options.name;
    if (samples) options.capture.on_frame = [this](const Frame& frame) { samples_.add(frame); };
    options.reading.keep_colour = detector_ && reads_colour(detector_->detector());
    source_ = pipeline::open_live(options.name, options.reading, options.capture);
    source_->start();
    if (detector_) choose_schedule();
    const auto queue = static_cast<std::size_t>(options.queue);
    const auto in_flight = static_cast<std::size_t>(detector_ ? detector_->schedule().in_flight : 1);
    auto facts = detector_ ? detector_->facts() : std::make_shared<const DetectorFacts>();
    channel_ = std::make_unique<Channel>(*source_, std::move(facts), queue,
                                         options.keeps_all ? queue + std::max<std::size_t>(in_flight, 1) : 0,
                                         std::move(options.tracker));
    if (!detector_) {
      source_->on_announcement([this] { channel_->wake(); });
      return;
    }
    pipeline::Stream stream;
    stream.source = channel_.get();
    stream.name = name_;
    stream.sinks = {channel_.get()};
    stream.importance = options.importance;
    stream.rate = options.rate;
    stream.tiles = detector_->tiles();
    stream.fails_alone = true;
    id_ = detector_->session().add(detector_->program(), stream);
  }
  ~ResultStream() {
    source_->stop();
    if (!channel_) return;
    if (!id_) {
      source_->on_announcement(nullptr);
      return;
    }
    try {
      detector_->session().remove(*id_);
    } catch (...) {  // the stream has ended all the same
    }
  }
  ResultStream(const ResultStream&) = delete;
  ResultStream& operator=(const ResultStream&) = delete;

  sl_status next(int timeout_ms, sl_result*& result, sl_frame** frame, sl_error* error) {
    const OneAtATime alone(is_busy_, "stream");
    const auto start = StreamClock::now();
    const bool is_limited = timeout_ms >= 0;
    const auto deadline = start + std::chrono::milliseconds(std::max(timeout_ms, 0));
    for (;;) {
      if (is_stopped_) return SL_END;
      if (!detector_) read_one();
      if (!channel_->is_empty()) {
        if (std::exchange(is_lost_, false)) return SL_BACK;
        std::optional<Channel::Item> item = channel_->take();
        if (frame) *frame = item->frame.empty() ? nullptr : new sl_frame{item->frame};
        const std::int64_t number = item->result->result.frame;
        item->result->skipped = std::max<std::int64_t>(number - last_ - 1, 0);
        last_ = number;
        result = item->result.release();
        return SL_OK;
      }
      if (channel_->is_over()) {
        if (const std::exception_ptr problem = channel_->take_error()) std::rethrow_exception(problem);
        return SL_END;
      }
      if (id_ && detector_->session().is_done(*id_)) channel_->end_now();
      if (tell_loss(error)) return SL_LOST;
      const auto now = StreamClock::now();
      if (is_limited && now >= deadline) return SL_TIMEOUT;
      channel_->wait_until(is_limited ? std::min<StreamClock::time_point>(deadline, now + kSlice)
                                      : now + kSlice);
    }
  }

  void stop() {
    is_stopped_ = true;
    source_->stop();
    channel_->wake();
  }

  std::string state() const {
    const pipeline::CaptureStatus status = source_->status();
    const pipeline::CaptureCounts counts = source_->counts();
    const auto [waiting, searched] = channel_->waiting_and_searched();
    std::string dropped;
    for (const pipeline::DropCause cause : pipeline::kDropCauses) {
      dropped += fmt::format("{}{}:{}", dropped.empty() ? "" : ",", json_string(to_string(cause)),
                             counts.dropped(cause));
    }
    return fmt::format(
        R"({{"name":{},"state":{},"reason":{},"captured":{},"left_out":{},"dropped":{{{}}},"damaged":{},)"
        R"("searched":{},"waiting":{},"reopened":{},"rate":{:.3f},"seconds_since_frame":{:.3f},"width":{},)"
        R"("height":{},"codec":{},"pixel_format":{}}})",
        json_string(name_), json_string(to_string(status.state)), json_string(status.reason), counts.captured,
        counts.left_out, dropped, counts.damaged, searched, waiting, status.reopened, status.frame_rate,
        status.since_frame, status.info.size.width, status.info.size.height, json_string(status.info.codec),
        json_string(status.info.pixel_format));
  }

 private:
  // As the program does: with the first frames of the first stream.
  void choose_schedule() {
    if (!detector_->measures_schedules()) return;
    const auto give_up = StreamClock::now() + std::chrono::duration<double>(kSecondsForSamples);
    while (samples_.size() == 0 && !has_ended(source_->status()) && StreamClock::now() < give_up)
      std::this_thread::sleep_for(5ms);
    detector_->choose_schedule(samples_.take(), source_->frames());
  }

  // Without a detector, the caller's own thread moves a frame into the queue.
  void read_one() {
    std::optional<Frame> frame;
    if (!channel_->is_empty() || channel_->is_over() || !channel_->try_read(frame) || !frame) return;
    FrameResult result;
    result.source = name_;
    result.frame = frame->number();
    result.time = frame->time();
    result.width = frame->size().width;
    result.height = frame->size().height;
    result.picture = frame->name();
    result.status = frame->damage().empty() ? FrameStatus::skipped : FrameStatus::failed;
    result.message = frame->damage().empty() ? "the stream has no detector" : frame->damage();
    channel_->accept(*frame, result);
  }

  bool tell_loss(sl_error* error) {
    const pipeline::CaptureStatus status = source_->status();
    if (is_lost_ || status.state != pipeline::CaptureState::reopening) return false;
    is_lost_ = true;
    fill(error, {SL_LOST, status.reason, name_, "wait: the source is opened again; see the option give_up"});
    return true;
  }

  const std::string name_;
  const std::shared_ptr<SharedDetector> detector_;  ///< null: none
  Samples samples_;
  std::unique_ptr<pipeline::LiveSource> source_;
  std::unique_ptr<Channel> channel_;
  std::optional<pipeline::StreamId> id_;
  std::atomic<bool> is_busy_{false};
  std::atomic<bool> is_stopped_{false};
  bool is_lost_ = false;   ///< told, and not yet back
  std::int64_t last_ = 0;  ///< number of the last frame
};

}  // namespace sightline::api

struct sl_stream {
  std::unique_ptr<sightline::api::ResultStream> stream;
};

using namespace sightline::api;

sl_status sl_stream_open(const char* url, sl_detector* detector, const char* options, sl_stream** stream,
                         sl_error* error) {
  return guarded(error, [&] {
    checked(stream, "stream") = nullptr;
    checked(url, "url");
    const TomlOptions given(options);
    begin_use();
    StreamOptions wanted = stream_options(url, given);
    const std::string name = wanted.name;
    auto made = std::make_unique<sl_stream>();
    made->stream =
        std::make_unique<ResultStream>(name, detector ? detector->shared : nullptr, std::move(wanted));
    *stream = made.release();
  });
}

sl_status sl_stream_next(sl_stream* stream, int timeout_ms, sl_result** result, sl_frame** frame,
                         sl_error* error) {
  return guarded(error, [&] {
    checked(result, "result") = nullptr;
    if (frame) *frame = nullptr;
    return checked(stream, "stream").stream->next(timeout_ms, *result, frame, error);
  });
}

sl_status sl_stream_stop(sl_stream* stream) {
  return guarded(nullptr, [&] { checked(stream, "stream").stream->stop(); });
}

sl_status sl_stream_state(const sl_stream* stream, char** json, sl_error* error) {
  return guarded(error, [&] {
    checked(json, "json") = nullptr;
    *json = copy_text(checked(stream, "stream").stream->state());
  });
}

void sl_stream_free(sl_stream* stream) {
  if (!is_forked()) delete stream;
}
