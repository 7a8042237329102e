#include "pipeline/session/live_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pipeline/session/now.hpp"

namespace sightline::pipeline {
namespace {

constexpr double kSmallest = 1e-5;  // seconds
constexpr double kStep = 1.02;
constexpr std::int64_t kRateWindow = 2 * kSecond;
constexpr std::int64_t kRecent = 5 * kSecond;  // window of recent latencies
constexpr std::size_t kWaiting = 64;           // frames whose other half never comes are forgotten

bool is_work(const Span& span) {
  return span.activity != Activity::wait && span.activity != Activity::output;
}

}  // namespace

void DurationHistogram::add(double seconds) {
  const double step = std::round(std::log(std::max(seconds, kSmallest) / kSmallest) / std::log(kStep));
  ++counts_[std::min(static_cast<std::size_t>(step), kSteps - 1)];
  ++count_;
  largest_ = std::max(largest_, seconds);
}

double DurationHistogram::percentile(double share) const {
  const double rank = std::max(1.0, std::ceil(share * static_cast<double>(count_)));
  if (count_ > 0 && rank >= static_cast<double>(count_)) return largest_;
  std::int64_t below = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    below += counts_[step];
    if (static_cast<double>(below) >= rank)
      return std::min(largest_, kSmallest * std::pow(kStep, static_cast<double>(step)));
  }
  return 0;
}

void LatencyRecord::add(double total, double own) {
  total_.add(total);
  added_.add(std::max(0.0, total - own));
  own_.add(std::min(own, total));
}

LatencySummary LatencyRecord::summary() const {
  LatencySummary summary;
  summary.frames = total_.count();
  if (summary.frames == 0) return summary;
  summary.median = total_.percentile(0.5);
  summary.p95 = total_.percentile(0.95);
  summary.p99 = total_.percentile(0.99);
  summary.largest = total_.largest();
  summary.own = own_.percentile(0.5);
  summary.added_median = added_.percentile(0.5);
  summary.added_p95 = added_.percentile(0.95);
  return summary;
}

void RateMeter::tick(std::int64_t now) {
  times_.push_back(now);
  while (times_.front() <= now - kRateWindow) times_.pop_front();
}

double RateMeter::rate(std::int64_t now) const {
  const auto from = std::upper_bound(times_.begin(), times_.end(), now - kRateWindow);
  const auto count = static_cast<double>(times_.end() - from);
  if (count < 2) return count / 2;
  // Intervals between the first and the last, unless the last is long ago.
  const double span = 1e-9 * static_cast<double>(times_.back() - *from);
  const double silence = 1e-9 * static_cast<double>(now - times_.back());
  const double period = span / (count - 1);
  return silence > 2 * period ? count / (span + silence) : 1 / std::max(period, 1e-9);
}

double working_seconds(std::span<const Span> spans) {
  std::int64_t sum = 0;
  std::int64_t until = 0;  // spans come by their start
  for (const Span& span : spans) {
    if (!is_work(span) || span.end <= until) continue;
    sum += span.end - std::max(span.start, until);
    until = span.end;
  }
  return 1e-9 * static_cast<double>(sum);
}

void LiveStatistics::begin(const TraceInfo& info) {
  const std::lock_guard lock(mutex_);
  info_ = info;
  waiting_.clear();
  work_.clear();
  own_ = 0;
  seen_.assign(info_.processors.size() * rows_per_processor(), false);
}

void LiveStatistics::accept(const FrameTrace& trace) {
  const std::lock_guard lock(mutex_);
  for (const Span& span : trace.spans) {
    const std::size_t row = span.processor * rows_per_processor() + row_of(span);
    if (!is_work(span) || row >= seen_.size()) continue;
    seen_[row] = true;
    work_.push_back({span, trace.frame});
  }
  while (!work_.empty() && work_.front().span.end < trace.delivered - kLongestWindow) work_.pop_front();
  own_ += working_seconds(trace.spans);
  if (!trace.ends_frame) return;
  ++detected_;
  detected_rate_.tick(trace.delivered);
  const double own = std::exchange(own_, 0);
  if (on_screen_) {
    join(trace.frame, {std::nullopt, own}, trace.delivered);
  } else {
    record(1e-9 * static_cast<double>(trace.delivered - trace.admitted), own, trace.delivered);
  }
}

void LiveStatistics::shown(std::int64_t frame, std::int64_t captured, std::int64_t now, bool searched) {
  const std::lock_guard lock(mutex_);
  ++shown_;
  shown_rate_.tick(now);
  const double total = 1e-9 * static_cast<double>(now - captured);
  if (searched) {
    join(frame, {total, std::nullopt}, now);
  } else {
    record(total, 0, now);
  }
}

// A frame may be shown before its trace is complete.
void LiveStatistics::join(std::int64_t frame, const Waiting& part, std::int64_t now) {
  Waiting& both = waiting_[frame];
  if (part.total) both.total = part.total;
  if (part.own) both.own = part.own;
  if (both.total && both.own) {
    record(*both.total, *both.own, now);
    waiting_.erase(frame);
  }
  while (waiting_.size() > kWaiting) waiting_.erase(waiting_.begin());
}

void LiveStatistics::record(double total, double own, std::int64_t now) {
  latest_ = total;
  interval_.add(total, own);
  whole_.add(total, own);
  recent_.push_back({now, total, own});
  while (recent_.front().at < now - kRecent) recent_.pop_front();
}

LiveStatistics::Snapshot LiveStatistics::snapshot(std::int64_t now, std::int64_t window) const {
  const std::lock_guard lock(mutex_);
  Snapshot snapshot;
  snapshot.detected_rate = detected_rate_.rate(now);
  snapshot.shown_rate = shown_rate_.rate(now);
  snapshot.detected = detected_;
  snapshot.shown = shown_;
  snapshot.latest = latest_;
  LatencyRecord recent;
  for (const Recent& one : recent_) {
    if (one.at >= now - kRecent) recent.add(one.total, one.own);
  }
  snapshot.recent = recent.summary();

  const std::size_t rows = rows_per_processor();
  std::vector<std::vector<StageActivity::Interval>> intervals(seen_.size());
  for (const Work& work : work_) {
    const std::size_t row = work.span.processor * rows + row_of(work.span);
    if (work.span.end > now - window) intervals[row].push_back({work.span.start, work.span.end, work.frame});
  }
  for (std::size_t row = 0; row < seen_.size(); ++row) {
    if (!seen_[row]) continue;
    snapshot.stages.push_back({name_of(row % rows), row / rows, std::move(intervals[row])});
  }
  return snapshot;
}

// Rows of a processor: "decode", "upload", the processor's stages, "download".
std::size_t LiveStatistics::rows_per_processor() const {
  return info_.stages.size() + 3;
}

std::size_t LiveStatistics::row_of(const Span& span) const {
  switch (span.activity) {
    case Activity::decode:
      return 0;
    case Activity::upload:
      return 1;
    case Activity::download:
      return rows_per_processor() - 1;
    default:
      return 2 + span.stage;
  }
}

std::string LiveStatistics::name_of(std::size_t row) const {
  if (row == 0) return "decode";
  if (row == 1) return "upload";
  return row - 2 < info_.stages.size() ? info_.stages[row - 2] : "download";
}

LatencySummary LiveStatistics::take_interval() {
  const std::lock_guard lock(mutex_);
  const LatencySummary summary = interval_.summary();
  interval_.clear();
  return summary;
}

LatencySummary LiveStatistics::whole() const {
  const std::lock_guard lock(mutex_);
  return whole_.summary();
}

}  // namespace sightline::pipeline
