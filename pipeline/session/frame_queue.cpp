#include "pipeline/session/frame_queue.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace sightline::pipeline {
namespace {

/// The stop flag may be set by a signal handler, which cannot notify: it is looked at this often.
constexpr std::chrono::milliseconds kLookInterval{50};

}  // namespace

std::string_view to_string(DropPolicy policy) {
  switch (policy) {
    case DropPolicy::oldest:
      return "oldest";
    case DropPolicy::newest:
      return "newest";
    case DropPolicy::none:
      return "none";
  }
  return "oldest";
}

DropPolicy parse_drop_policy(std::string_view text) {
  for (const DropPolicy policy : {DropPolicy::oldest, DropPolicy::newest, DropPolicy::none}) {
    if (text == to_string(policy)) return policy;
  }
  throw Error(ExitCode::usage, "there is no drop policy '" + std::string(text) + "'",
              "choose oldest, newest or none");
}

std::string_view to_string(DropCause cause) {
  switch (cause) {
    case DropCause::busy:
      return "busy";
    case DropCause::paused:
      return "paused";
    case DropCause::ended:
      return "ended";
  }
  return "busy";
}

std::int64_t CaptureCounts::dropped_in_all() const {
  return std::accumulate(dropped_by.begin(), dropped_by.end(), std::int64_t{0});
}

bool FrameQueue::put_must_wait() const {
  return full() && (paused_ ? options_.hold : options_.drop == DropPolicy::none);
}

CaptureClock::duration FrameQueue::put(Frame frame) {
  std::deque<Frame> gone;  // outlives the lock
  CaptureClock::duration waited{0};
  Lock lock(mutex_);
  look_for_stop();
  if (counts_.captured++ % options_.every != 0) {
    ++counts_.left_out;
    return waited;
  }
  if (!closed_ && put_must_wait()) {
    const CaptureClock::time_point start = CaptureClock::now();
    in_hand_ = true;
    while (!closed_ && put_must_wait()) wait(lock);
    in_hand_ = false;
    waited = CaptureClock::now() - start;
  }
  if (closed_) {
    count(DropCause::ended);
    return waited;
  }
  if (paused_ && !options_.hold) {
    drop_all_but(0, DropCause::paused, gone);
  } else if (full() && options_.drop == DropPolicy::newest) {
    count(DropCause::busy);
    return waited;
  } else if (full()) {
    drop_all_but(static_cast<std::size_t>(options_.capacity) - 1, DropCause::busy, gone);
  }
  frames_.push_back(std::move(frame));
  announce();
  return waited;
}

std::optional<CaptureClock::time_point> FrameQueue::wait_until_due(CaptureClock::time_point due) {
  Lock lock(mutex_);
  for (;;) {
    look_for_stop();
    if (closed_) return std::nullopt;
    const CaptureClock::time_point now = CaptureClock::now();
    if (paused_ && options_.hold) {
      if (steps_ > 0 && frames_.empty()) return now;
      wait(lock);
      due += CaptureClock::now() - now;
    } else if (now >= due) {
      return due;
    } else {
      wait(lock, due);
    }
  }
}

bool FrameQueue::sleep_until(CaptureClock::time_point time) {
  Lock lock(mutex_);
  look_for_stop();
  while (!closed_ && CaptureClock::now() < time) wait(lock, time);
  return !closed_;
}

void FrameQueue::finish(std::exception_ptr error) {
  // Outlives the lock. Not constructed at first, since even an empty deque allocates, and memory may be
  // exhausted.
  std::optional<std::deque<Frame>> gone;
  const Lock lock(mutex_);
  finished_ = true;
  error_ = std::move(error);
  // The end, and above all the error, shall not wait for the end of the pause.
  if (paused_ && !options_.hold) drop_all_but(0, DropCause::paused, gone.emplace());
  announce();
}

std::optional<Frame> FrameQueue::take() {
  std::optional<Frame> frame;
  Lock lock(mutex_);
  while (!take_locked(frame)) wait(lock);
  return frame;
}

bool FrameQueue::try_take(std::optional<Frame>& frame) {
  const Lock lock(mutex_);
  return take_locked(frame);
}

bool FrameQueue::take_locked(std::optional<Frame>& frame) {
  look_for_stop();
  if (closed_) return true;
  if (!frames_.empty() && (!paused_ || steps_ > 0)) {
    frame = std::move(frames_.front());
    frames_.pop_front();
    ++counts_.taken;
    if (paused_) --steps_;
    changed_.notify_all();
    return true;
  }
  if (!finished_ || !frames_.empty()) return false;
  if (error_) std::rethrow_exception(error_);
  return true;
}

void FrameQueue::on_change(std::function<void()> call) {
  const Lock lock(mutex_);
  on_change_ = std::move(call);
}

void FrameQueue::announce() {
  changed_.notify_all();
  if (on_change_) on_change_();
}

void FrameQueue::close() {
  const Lock lock(mutex_);
  close_locked();
}

bool FrameQueue::closed() const {
  const Lock lock(mutex_);
  return closed_;
}

void FrameQueue::set_drop(DropPolicy policy) {
  const Lock lock(mutex_);
  options_.drop = policy;
  changed_.notify_all();
}

DropPolicy FrameQueue::drop() const {
  const Lock lock(mutex_);
  return options_.drop;
}

void FrameQueue::pause(bool paused) {
  std::deque<Frame> gone;  // outlives the lock
  const Lock lock(mutex_);
  pause_locked(paused, gone);
}

bool FrameQueue::paused() const {
  const Lock lock(mutex_);
  return paused_;
}

void FrameQueue::step() {
  std::deque<Frame> gone;  // outlives the lock
  const Lock lock(mutex_);
  pause_locked(true, gone);
  ++steps_;
  announce();
}

CaptureCounts FrameQueue::counts() const {
  const Lock lock(mutex_);
  CaptureCounts counts = counts_;
  counts.waiting = static_cast<std::int64_t>(frames_.size()) + (in_hand_ ? 1 : 0);
  return counts;
}

void FrameQueue::wait(Lock& lock, std::optional<CaptureClock::time_point> until) {
  if (options_.stop) {
    const CaptureClock::time_point look = CaptureClock::now() + kLookInterval;
    changed_.wait_until(lock, until ? std::min(*until, look) : look);
  } else if (until) {
    changed_.wait_until(lock, *until);
  } else {
    changed_.wait(lock);
  }
  look_for_stop();
}

void FrameQueue::look_for_stop() {
  if (options_.stop && options_.stop->load()) close_locked();
}

void FrameQueue::close_locked() {
  if (closed_) return;
  closed_ = true;
  for (std::size_t i = 0; i < frames_.size(); ++i) count(DropCause::ended);
  frames_.clear();
  announce();
}

void FrameQueue::pause_locked(bool paused, std::deque<Frame>& gone) {
  if (paused == paused_) return;
  paused_ = paused;
  steps_ = 0;
  announce();
  if (!options_.hold) drop_all_but(paused ? 1 : 0, DropCause::paused, gone);
}

// Takes the oldest out.
void FrameQueue::drop_all_but(std::size_t keep, DropCause cause, std::deque<Frame>& gone) {
  while (frames_.size() > keep) {
    gone.push_back(std::move(frames_.front()));
    frames_.pop_front();
    count(cause);
  }
}

}  // namespace sightline::pipeline
