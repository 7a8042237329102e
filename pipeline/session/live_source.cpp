#include "pipeline/session/live_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using Time = CaptureClock::time_point;

/// Delay that a slowly decoding file may catch up on; a longer one shifts its clock.
constexpr CaptureClock::duration kCatchUp = 100ms;

CaptureClock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<CaptureClock::duration>(std::chrono::duration<double>(seconds));
}

double seconds_of(CaptureClock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::int64_t ns(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

LiveOptions checked(LiveOptions options) {
  const auto refuse = [](const Message& problem) { throw Error(ExitCode::usage, problem); };
  constexpr double kMost = 1e6;  // seconds; more would not fit the clock
  const auto is_time = [](double seconds) { return seconds >= 0 && seconds <= kMost; };
  if (options.queue < 1) refuse("the queue for the detector must hold at least 1 frame");
  if (options.every < 1) refuse("every n-th frame needs an n of at least 1");
  if (!(options.pace >= 0 && options.pace <= 1000)) refuse("the pace of a file must be from 0 to 1000");
  if (options.pace > 0 && options.live) refuse("--pace needs a file: a live input has its own pace"_message);
  if (!is_time(options.stall_after) || options.stall_after == 0)
    refuse("the time after which a capture counts as stalled must be above 0 s");
  if (!is_time(options.reopen_after))
    refuse("the time after which a capture is opened again must be 0 s or more");
  if (options.give_up_after && !is_time(*options.give_up_after))
    refuse("the time after which a capture is given up must be 0 s or more");
  if (!is_time(options.first_pause) || !is_time(options.longest_pause))
    refuse("the pauses between attempts to open must be 0 s or more");
  return options;
}

FrameQueueOptions queue_options(const LiveOptions& options) {
  return {options.drop, options.queue, options.every, !options.live, options.stop};
}

}  // namespace

LiveSource::LiveSource(LiveOpener opener, LiveOptions options)
    : opener_(std::move(opener)),
      options_(checked(std::move(options))),
      queue_(queue_options(options_)),
      watch_(options_.stall_after, CaptureClock::now()) {}

LiveSource::~LiveSource() {
  stop();
  if (thread_.joinable()) thread_.join();
}

// Starts to capture. The future is that of the first opening; invalid where it began before.
std::future<void> LiveSource::begin() {
  std::future<void> opening;
  if (thread_.joinable()) return opening;
  opening = first_opening_.get_future();
  thread_ = std::thread([this] { capture(); });
  return opening;
}

void LiveSource::start() {
  std::future<void> opening = begin();
  if (!opening.valid() || options_.give_up_after.value_or(0) > 0) return;
  while (opening.wait_for(50ms) != std::future_status::ready) {
    if (stopping()) stop();
  }
  opening.get();
}

std::optional<Frame> LiveSource::read() {
  start();
  std::optional<Frame> frame = queue_.take();
  if (!frame && queue_.closed()) stop();  // stopped by the flag
  return frame;
}

bool LiveSource::try_read(std::optional<Frame>& frame) {
  begin();
  if (!queue_.try_take(frame)) return false;
  if (!frame && queue_.closed()) stop();  // stopped by the flag
  return true;
}

void LiveSource::stop() {
  stop_ = true;
  queue_.close();
}

CaptureStatus LiveSource::status() const {
  CaptureStatus status = watch_.status(CaptureClock::now());
  status.paused = paused();
  return status;
}

CaptureCounts LiveSource::counts() const {
  CaptureCounts counts = queue_.counts();
  counts.damaged = damaged_;
  return counts;
}

std::optional<std::int64_t> LiveSource::frames() const {
  const std::optional<std::int64_t> all = watch_.status(CaptureClock::now()).info.frames;
  if (options_.live || !all) return std::nullopt;
  return (*all + options_.every - 1) / options_.every;
}

bool LiveSource::stopping() const {
  return stop_ || (options_.stop && options_.stop->load());
}

void LiveSource::capture() {
  std::exception_ptr error;
  try {
    while (capture_once()) {
    }
    watch_.ended();
  } catch (const std::exception& e) {
    watch_.failed(e.what());
    error = std::current_exception();
  }
  if (!opened_before_) error ? first_opening_.set_exception(error) : first_opening_.set_value();
  queue_.finish(error);
}

// Opens the input and captures to its end. Returns whether to reopen it.
bool LiveSource::capture_once() {
  std::string reason;
  std::unique_ptr<LiveInput> input = open(reason);
  if (input) {
    while (std::optional<Frame> frame = read(*input, reason)) release(std::move(*frame));
    if (reason.empty() && is_complete(*input)) return false;
    if (reason.empty()) reason = "the stream ended";
    damaged_before_ = damaged_;
    input.reset();
  }
  return !stopping() && wait_to_reopen(reason);
}

// Null, and the reason, where it may be tried again.
std::unique_ptr<LiveInput> LiveSource::open(std::string& reason) {
  if (stopping()) return nullptr;
  watch_.attempts();
  try {
    std::unique_ptr<LiveInput> input = opener_(stop_);
    opened(*input);
    return input;
  } catch (const std::exception& error) {
    const bool must_succeed = !opened_before_ && !options_.give_up_after;
    if (!stopping() && (must_succeed || !may_retry(error))) throw;
    reason = error.what();
    return nullptr;
  }
}

void LiveSource::opened(const LiveInput& input) {
  watch_.opened(input.info());
  first_of_opening_ = true;
  if (!opened_before_) first_opening_.set_value();
  opened_before_ = true;
}

std::optional<Frame> LiveSource::read(LiveInput& input, std::string& reason) {
  std::optional<Frame> frame;
  if (stopping()) return frame;
  watch_.reads(CaptureClock::now());
  try {
    frame = input.read();
  } catch (const std::exception& error) {
    if (!stopping() && !may_retry(error)) throw;
    reason = error.what();
  }
  damaged_ = damaged_before_ + input.decode_errors();
  if (frame) watch_.frame(CaptureClock::now());
  return frame;
}

bool LiveSource::may_retry(const std::exception& error) const {
  const auto* known = dynamic_cast<const Error*>(&error);
  return options_.live && !(known && known->code() == ExitCode::usage);
}

// A frame of the input's, for those that wait for it.
void LiveSource::release(Frame frame) {
  input_time_ = frame.time();
  if (!options_.live && !hold_until_due(input_time_)) return;
  const Time now = CaptureClock::now();
  FrameTimes times = frame.times();
  if (!options_.live || times.captured == 0) times.captured = ns(now);
  if (!options_.live || times.decoded == 0) times.decoded = ns(now);
  frame = in_sequence(frame, now).stamped(times);
  if (attempt_ > 0) logger().info("'{}' is back", options_.name);
  attempt_ = 0;
  if (options_.on_frame) options_.on_frame(frame);
  const CaptureClock::duration waited = queue_.put(std::move(frame));
  if (play_start_) *play_start_ += waited;
}

// Waits for a file's frame to be due, and for the end of a pause. False when stopped.
bool LiveSource::hold_until_due(double time) {
  const Time now = CaptureClock::now();
  if (options_.pace == 0) return queue_.wait_until_due(now).has_value();
  const auto into_play = duration_of(time / options_.pace);
  if (!play_start_) play_start_ = now - into_play;
  const Time planned = std::max(*play_start_ + into_play, now - kCatchUp);
  const std::optional<Time> due = queue_.wait_until_due(planned);
  if (due) play_start_ = *due - into_play;
  return due.has_value();
}

// With a number and a time that go on from the opening before.
Frame LiveSource::in_sequence(const Frame& frame, Time now) {
  if (std::exchange(first_of_opening_, false) && number_ > 0) {
    number_shift_ = number_ + 1 - frame.number();
    time_shift_ = time_ + std::max(seconds_of(now - released_), 1e-3) - frame.time();
  }
  released_ = now;
  number_ = frame.number() + number_shift_;
  time_ = frame.time() + time_shift_;
  return frame.renumbered(number_).retimed(time_);
}

// Whether the end is the input's own. A live one has none, unless it said before how long it is, as a file
// from a server does.
bool LiveSource::is_complete(const LiveInput& input) const {
  if (!options_.live || stopping()) return true;
  const StreamInfo info = input.info();
  const double rate = info.frame_rate.value();
  const double slack = std::max(0.5, rate > 0 ? 2 / rate : 0);
  return info.duration && !first_of_opening_ && input_time_ >= *info.duration - slack;
}

bool LiveSource::wait_to_reopen(const std::string& reason) {
  const Time now = CaptureClock::now();
  const double pause = reopen_pause(attempt_, options_.first_pause, options_.longest_pause);
  Time next = now + duration_of(pause);
  if (options_.give_up_after) {
    const Time last_attempt = watch_.last_frame() + duration_of(*options_.give_up_after);
    if (now >= last_attempt) {
      const double silence = seconds_of(now - watch_.last_frame());
      throw Error(ExitCode::input,
                  fmt::format("no frame from '{}' for {:.1f} s ({})", options_.name, silence, reason),
                  "check its power, cable and network, or use a longer --give-up-after"_message);
    }
    next = std::min(next, last_attempt);
  }
  watch_.lost(reason, next);
  if (attempt_++ == 0) {
    logger().warn("'{}' is {}: {}; retrying", options_.name, number_ > 0 ? "lost" : "not available yet",
                  reason);
  }
  return queue_.sleep_until(next);
}

}  // namespace sightline::pipeline
