#include "pipeline/planning/trace_statistics.hpp"

#include <algorithm>

#include "base/median.hpp"

namespace sightline::pipeline {
namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;

std::int64_t length(const std::vector<Interval>& intervals) {
  std::int64_t sum = 0;
  for (const auto& [start, end] : intervals) sum += end - start;
  return sum;
}

// Both are ordered and without overlap in themselves.
std::int64_t common_length(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    sum += std::max<std::int64_t>(0, std::min(a[i].second, b[k].second) - std::max(a[i].first, b[k].first));
    a[i].second < b[k].second ? ++i : ++k;
  }
  return sum;
}

bool is_on_device(const Span& span) {
  return span.activity == Activity::run && span.processor != 0;
}

// Nanoseconds that a stage takes of its device: where stages of the frame run side by side (several
// detectors' do), they share the time.
std::int64_t own_part(const Span& span, std::span<const Span> frame) {
  std::vector<std::int64_t> ends{span.start, span.end};
  for (const Span& other : frame) {
    if (!is_on_device(other) || other.processor != span.processor) continue;
    for (const std::int64_t end : {other.start, other.end}) {
      if (span.start < end && end < span.end) ends.push_back(end);
    }
  }
  std::ranges::sort(ends);
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const auto sharing = std::ranges::count_if(frame, [&](const Span& other) {
      return is_on_device(other) && other.processor == span.processor && other.start <= ends[i - 1] &&
             ends[i] <= other.end && other.start < other.end;
    });
    sum += (ends[i] - ends[i - 1]) / std::max<std::int64_t>(sharing, 1);
  }
  return sum;
}

}  // namespace

void TraceStatistics::begin(const TraceInfo& info) {
  info_ = info;
  frames_.clear();
  trimmed_.clear();
  spans_.clear();
}

void TraceStatistics::accept(const FrameTrace& trace) {
  frames_.push_back(
      {trace.frame, trace.slot, trace.admitted, trace.delivered, spans_.size(), trace.spans.size()});
  spans_.insert(spans_.end(), trace.spans.begin(), trace.spans.end());
}

void TraceStatistics::trim(std::size_t count) {
  if (frames_.size() < 2 * count + 2) return;
  const auto steps = static_cast<std::ptrdiff_t>(count);
  trimmed_.insert(trimmed_.end(), frames_.begin(), frames_.begin() + steps);
  trimmed_.insert(trimmed_.end(), frames_.end() - steps, frames_.end());
  frames_.erase(frames_.end() - steps, frames_.end());
  frames_.erase(frames_.begin(), frames_.begin() + steps);
}

double TraceStatistics::seconds() const {
  if (frames_.size() < 2) return 0;
  return 1e-9 * static_cast<double>(frames_.back().delivered - frames_.front().delivered);
}

double TraceStatistics::fps() const {
  return seconds() > 0 ? static_cast<double>(frames_.size() - 1) / seconds() : 0;
}

double TraceStatistics::fps_of_bursts() const {
  if (frames_.size() < 2) return 0;
  const auto count = static_cast<double>(frames_.size());
  const double middle = (count - 1) / 2;
  const std::int64_t start = frames_.front().delivered;
  const auto seconds = [&](const Frame& frame) {
    return 1e-9 * static_cast<double>(frame.delivered - start);
  };
  double mean = 0;
  for (const Frame& frame : frames_) mean += seconds(frame) / count;
  double both = 0, times = 0;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const double time = seconds(frames_[i]) - mean;
    both += time * (static_cast<double>(i) - middle);
    times += time * time;
  }
  return times > 0 ? both / times : 0;
}

std::vector<double> TraceStatistics::latencies() const {
  std::vector<double> seconds;
  for (const Frame& frame : frames_)
    seconds.push_back(1e-9 * static_cast<double>(frame.delivered - frame.admitted));
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

std::vector<std::string> TraceStatistics::row_names() const {
  std::vector<std::string> names{"decode"};
  names.insert(names.end(), info_.stages.begin(), info_.stages.end());
  names.insert(names.end(), {"upload", "download", "output"});
  return names;
}

std::optional<std::size_t> TraceStatistics::row_of(const Span& span) const {
  const std::size_t stages = info_.stages.size();
  switch (span.activity) {
    case Activity::decode:
      return 0;
    case Activity::run:
      return 1 + span.stage;
    case Activity::upload:
      return stages + 1;
    case Activity::download:
      return stages + 2;
    case Activity::output:
      return stages + 3;
    case Activity::wait:
      break;
  }
  return std::nullopt;
}

void TraceStatistics::for_each_span(const std::function<void(const Span&)>& visit) const {
  for (const Frame& frame : frames_) {
    for (const Span& span : spans(frame)) visit(span);
  }
}

std::vector<double> TraceStatistics::row_seconds() const {
  std::vector<double> sums(row_names().size(), 0.0);
  for_each_span([&](const Span& span) {
    if (const auto row = row_of(span)) sums[*row] += 1e-9 * static_cast<double>(span.share());
  });
  for (double& sum : sums) sum /= static_cast<double>(std::max<std::size_t>(frames_.size(), 1));
  return sums;
}

std::vector<double> TraceStatistics::row_work() const {
  std::vector<double> sums(row_names().size(), 0.0);
  for_each_span([&](const Span& span) {
    if (const auto row = row_of(span)) sums[*row] += 1e-9 * static_cast<double>(span.work);
  });
  for (double& sum : sums) sum /= static_cast<double>(std::max<std::size_t>(frames_.size(), 1));
  return sums;
}

// All that went on between the first and the last delivery kept: of the frames left out, too.
void TraceStatistics::for_each_inside(const std::function<void(const Span&, Interval)>& visit) const {
  if (frames_.size() < 2) return;
  const std::int64_t from = frames_.front().delivered;
  const std::int64_t to = frames_.back().delivered;
  for (const std::vector<Frame>* frames : {&frames_, &trimmed_}) {
    for (const Frame& frame : *frames) {
      for (const Span& span : spans(frame)) {
        const Interval inside{std::max(span.start, from), std::min(span.end, to)};
        if (inside.first < inside.second) visit(span, inside);
      }
    }
  }
}

// When any of the spans was going on.
std::vector<Interval> TraceStatistics::busy(const std::function<bool(const Span&)>& which) const {
  std::vector<Interval> all;
  for_each_inside([&](const Span& span, Interval inside) {
    if (which(span)) all.push_back(inside);
  });
  std::sort(all.begin(), all.end());
  std::vector<Interval> merged;
  for (const Interval& interval : all) {
    if (!merged.empty() && interval.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, interval.second);
    } else {
      merged.push_back(interval);
    }
  }
  return merged;
}

std::vector<std::vector<double>> TraceStatistics::overlap() const {
  const std::size_t rows = row_names().size();
  std::vector<std::vector<Interval>> intervals;
  for (std::size_t row = 0; row < rows; ++row)
    intervals.push_back(busy([&](const Span& span) { return row_of(span) == row; }));
  std::vector<std::vector<double>> shares(rows, std::vector<double>(rows, 0.0));
  const double all = 1e9 * seconds();
  if (all <= 0) return shares;
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < rows; ++b)
      shares[a][b] = static_cast<double>(common_length(intervals[a], intervals[b])) / all;
  }
  return shares;
}

double TraceStatistics::overlap_factor() const {
  const std::vector<std::vector<double>> shares = overlap();
  double sum = 0;
  for (std::size_t row = 0; row < shares.size(); ++row) sum += shares[row][row];
  return sum;
}

double TraceStatistics::utilisation(std::size_t processor, int threads) const {
  const double all = 1e9 * seconds();
  if (all <= 0) return 0;
  if (processor != 0) {
    return static_cast<double>(length(busy([&](const Span& span) {
             return span.activity == Activity::run && span.processor == processor;
           }))) /
           all;
  }
  double work = 0;
  for_each_inside([&](const Span& span, Interval inside) {
    if (span.processor != 0 || span.activity != Activity::run) return;
    const double share =
        static_cast<double>(inside.second - inside.first) / static_cast<double>(span.end - span.start);
    work += share * static_cast<double>(span.work);
  });
  return std::min(1.0, work / all / threads);
}

void TraceStatistics::add_to(FrameCosts& costs) const {
  // A frame's sum by stage, then the median over frames: one disturbed frame does not count.
  struct Samples {
    std::vector<double> cpu, work, device, upload, download;
  };
  std::vector<Samples> samples(costs.stages.size());
  for (const Frame& frame : frames_) {
    std::vector<std::array<double, 5>> sums(costs.stages.size());
    std::vector<std::array<bool, 5>> seen(costs.stages.size());
    const auto add = [&](std::size_t stage, std::size_t kind, std::int64_t ns) {
      sums[stage][kind] += 1e-9 * static_cast<double>(ns);
      seen[stage][kind] = true;
    };
    for (const Span& span : spans(frame)) {
      const std::int64_t ns = span.end - span.start;
      if (is_on_device(span)) {
        add(span.stage, 2, own_part(span, spans(frame)));
      } else if (span.activity == Activity::run) {
        add(span.stage, 0, ns);
        add(span.stage, 1, span.work);
      } else if (span.activity == Activity::upload) {
        add(span.stage, 3, ns);
      } else if (span.activity == Activity::download) {
        add(span.stage, 4, ns);
      }
    }
    for (std::size_t stage = 0; stage < sums.size(); ++stage) {
      std::vector<double>* const kinds[] = {&samples[stage].cpu, &samples[stage].work, &samples[stage].device,
                                            &samples[stage].upload, &samples[stage].download};
      for (std::size_t kind = 0; kind < 5; ++kind) {
        if (seen[stage][kind]) kinds[kind]->push_back(sums[stage][kind]);
      }
    }
  }
  const auto put = [](const std::vector<double>& values, double& into) {
    if (!values.empty()) into = median(values);
  };
  for (std::size_t stage = 0; stage < samples.size(); ++stage) {
    put(samples[stage].cpu, costs.stages[stage].cpu);
    put(samples[stage].work, costs.stages[stage].work);
    put(samples[stage].device, costs.stages[stage].device);
    put(samples[stage].upload, costs.stages[stage].upload);
    put(samples[stage].download, costs.stages[stage].download);
  }
}

}  // namespace sightline::pipeline
