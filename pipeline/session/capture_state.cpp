#include "pipeline/session/capture_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/median.hpp"

namespace sightline::pipeline {
namespace {

constexpr double kRateWindowSeconds = 2;   // seconds
constexpr std::size_t kPeriodFrames = 9;   // frames whose median interval is the period
constexpr std::size_t kMaxArrivals = 512;  // bounds memory at absurd rates

double seconds(CaptureClock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::string_view to_string(CaptureState state) {
  switch (state) {
    case CaptureState::opening:
      return "opening";
    case CaptureState::streaming:
      return "streaming";
    case CaptureState::stalled:
      return "stalled";
    case CaptureState::reopening:
      return "reopening";
    case CaptureState::failed:
      return "failed";
    case CaptureState::ended:
      return "ended";
  }
  return "opening";
}

double reopen_pause(int attempt, double first, double longest) {
  return std::min(longest, std::ldexp(first, std::min(attempt, 60)));
}

void CaptureWatch::attempts() {
  const std::lock_guard lock(mutex_);
  reading_.reset();
  next_attempt_ = Time{};
}

void CaptureWatch::opened(const StreamInfo& info) {
  const std::lock_guard lock(mutex_);
  info_ = info;
}

void CaptureWatch::reads(Time at) {
  const std::lock_guard lock(mutex_);
  reading_ = at;
}

void CaptureWatch::frame(Time at) {
  const std::lock_guard lock(mutex_);
  reading_.reset();
  last_frame_ = at;
  if (reopening_) ++reopened_;
  reopening_ = false;
  reason_.clear();
  state_ = CaptureState::streaming;
  arrivals_.push_back(at);
  while (arrivals_.size() > kMaxArrivals ||
         (arrivals_.size() > kPeriodFrames + 1 && seconds(at - arrivals_.front()) > kRateWindowSeconds))
    arrivals_.pop_front();
}

void CaptureWatch::lost(const std::string& reason, Time next_attempt) {
  const std::lock_guard lock(mutex_);
  // A first opening that is tried again is still the first.
  const bool had_frames = state_ != CaptureState::opening;
  state_ = had_frames ? CaptureState::reopening : CaptureState::opening;
  reopening_ = had_frames;
  reason_ = reason;
  reading_.reset();
  next_attempt_ = next_attempt;
  arrivals_.clear();
}

void CaptureWatch::failed(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  state_ = CaptureState::failed;
  reason_ = reason;
  reading_.reset();
  arrivals_.clear();
}

void CaptureWatch::ended() {
  const std::lock_guard lock(mutex_);
  state_ = CaptureState::ended;
  reason_.clear();
  reading_.reset();
  arrivals_.clear();
}

CaptureStatus CaptureWatch::status(Time now) const {
  const std::lock_guard lock(mutex_);
  CaptureStatus status;
  status.state = state_;
  status.reason = reason_;
  status.since_frame = std::max(0.0, seconds(now - last_frame_));
  status.reopened = reopened_;
  status.opened = info_.has_value();
  if (info_) status.info = *info_;
  status.frame_rate = rate_locked(now);
  if (next_attempt_ != Time{} && !reason_.empty())
    status.next_attempt = std::max(0.0, seconds(next_attempt_ - now));
  if (state_ == CaptureState::streaming && reading_) {
    const double silence = seconds(now - std::max(*reading_, last_frame_));
    if (silence >= std::max(stall_after_, 3 * period_locked())) {
      status.state = CaptureState::stalled;
      status.reason = fmt::format("no frame for {:.1f} s", silence);
    }
  }
  return status;
}

CaptureWatch::Time CaptureWatch::last_frame() const {
  const std::lock_guard lock(mutex_);
  return last_frame_;
}

double CaptureWatch::period() const {
  const std::lock_guard lock(mutex_);
  return period_locked();
}

// The median: one gap does not make a slow source.
double CaptureWatch::period_locked() const {
  if (arrivals_.size() < 4) {
    const double rate = info_ ? info_->frame_rate.value() : 0;
    return rate > 0 ? 1 / rate : 1.0 / 25;
  }
  std::vector<double> intervals;
  for (std::size_t i = arrivals_.size() - std::min(arrivals_.size() - 1, kPeriodFrames); i < arrivals_.size();
       ++i)
    intervals.push_back(seconds(arrivals_[i] - arrivals_[i - 1]));
  return median(std::move(intervals));
}

// Over the window; of a slow source over its last two frames. In a silence it sinks, as if the next frame
// came now.
double CaptureWatch::rate_locked(Time now) const {
  if (arrivals_.size() < 2) return 0;
  auto first = std::find_if(arrivals_.begin(), arrivals_.end(),
                            [&](Time at) { return seconds(arrivals_.back() - at) <= kRateWindowSeconds; });
  if (std::distance(first, arrivals_.end()) < 2) first = arrivals_.end() - 2;
  const auto intervals = static_cast<double>(std::distance(first, arrivals_.end()) - 1);
  const double length = seconds(arrivals_.back() - *first);
  if (length <= 0) return 0;
  const double silence = seconds(now - arrivals_.back());
  const double rate = intervals / length;
  return silence * rate > 1 ? 1 / silence : rate;
}

}  // namespace sightline::pipeline
