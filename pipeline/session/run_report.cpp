#include "pipeline/session/run_report.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::size_t kMostSpans = 64;  // that are kept of a device

}  // namespace

void DeviceUse::Busy::add(std::int64_t start, std::int64_t end) {
  start = std::max(start, until);
  if (start >= end) return;
  const auto first = std::ranges::lower_bound(spans, start, {}, [](const auto& span) { return span.second; });
  auto last = first;
  for (; last != spans.end() && last->first <= end; ++last) {
    start = std::min(start, last->first);
    end = std::max(end, last->second);
  }
  spans.insert(spans.erase(first, last), {start, end});
  if (spans.size() <= kMostSpans) return;
  until = spans.front().second;
  covered += until - spans.front().first;
  spans.erase(spans.begin());
}

void DeviceUse::begin(const TraceInfo& info) {
  processors_ = info.processors;
  busy_.assign(processors_.size(), {});
}

void DeviceUse::accept(const FrameTrace& trace) {
  for (const Span& span : trace.spans)
    if (span.activity == Activity::run && span.processor > 0 && span.processor < busy_.size())
      busy_[span.processor].add(span.start, span.end);
}

std::vector<DeviceTime> DeviceUse::times() const {
  std::vector<DeviceTime> times;
  for (std::size_t p = 0; p < busy_.size(); ++p) {
    std::int64_t covered = busy_[p].covered;
    for (const auto& [start, end] : busy_[p].spans) covered += end - start;
    if (covered > 0) times.push_back({processors_[p], 1e-9 * static_cast<double>(covered)});
  }
  return times;
}

RunAccounts::RunAccounts(const TraceInfo& info) : info_(info), accounts_(info.stages.size() + 4) {
  use_.begin(info);
  for (Account& account : accounts_) account.processors.resize(info.processors.size());
  for (const OperatingPoint& setting : info.settings) counts_.settings.push_back({setting, 0});
}

double RunAccounts::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void RunAccounts::add(std::size_t account, const Span& span) {
  Account& to = accounts_[account];
  to.seconds += 1e-9 * static_cast<double>(span.share());
  to.work += 1e-9 * static_cast<double>(span.work);
  if (span.processor < to.processors.size()) to.processors[span.processor] = true;
}

void RunAccounts::count(const FrameResult& result, int index) {
  ++counts_.frames;
  counts_.skipped += result.status == FrameStatus::skipped;
  counts_.objects += result.count();
  const auto setting = static_cast<std::size_t>(index);
  if (result.status == FrameStatus::ok && setting < counts_.settings.size())
    ++counts_.settings[setting].frames;
  if (result.status == FrameStatus::failed && counts_.failed++ == 0) {
    counts_.first_failure = result.message;
    logger().warn("cannot search {}: {}",
                  result.picture.empty() ? fmt::format("frame {}", result.frame) : "'" + result.picture + "'",
                  result.message);
  }
}

void RunAccounts::add(const FrameTrace& trace) {
  use_.accept(trace);
  const std::size_t stages = info_.stages.size();
  for (const Span& span : trace.spans) {
    switch (span.activity) {
      case Activity::decode:
        add(0, span);
        break;
      case Activity::run:
        add(1 + span.stage, span);
        break;
      case Activity::upload:
        add(stages + 1, span);
        break;
      case Activity::download:
        add(stages + 2, span);
        break;
      case Activity::output:
        add(stages + 3, span);
        break;
      case Activity::wait:
        break;
    }
  }
}

Progress RunAccounts::progress() const {
  return {counts_.frames, seconds(), total};
}

RunReport RunAccounts::report() const {
  RunReport report = counts_;
  report.seconds = seconds();
  report.retried = retried;
  const std::size_t stages = info_.stages.size();
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    const Account& account = accounts_[i];
    const bool copy = i == stages + 1 || i == stages + 2;
    if (copy && account.seconds == 0) continue;
    StageTime time;
    time.name = i == 0            ? "decode"
                : i <= stages     ? info_.stages[i - 1]
                : i == stages + 1 ? "upload"
                : i == stages + 2 ? "download"
                                  : "output";
    for (std::size_t p = 0; p < account.processors.size(); ++p) {
      if (!account.processors[p]) continue;
      time.processor += (time.processor.empty() ? "" : " and ") + (p == 0 ? "CPU" : info_.processors[p]);
    }
    time.seconds = account.seconds;
    time.work = account.work;
    report.stages.push_back(std::move(time));
  }
  report.devices = use_.times();
  return report;
}

void RunReport::add(const RunReport& other) {
  frames += other.frames;
  skipped += other.skipped;
  failed += other.failed;
  objects += other.objects;
  decode_errors += other.decode_errors;
  retried += other.retried;
  seconds += other.seconds;
  stopped |= other.stopped;
  sources = std::max(sources, other.sources);
  for (const StageTime& stage : other.stages) {
    const auto same = std::find_if(stages.begin(), stages.end(),
                                   [&](const StageTime& own) { return own.name == stage.name; });
    if (same == stages.end()) {
      stages.push_back(stage);
      continue;
    }
    same->seconds += stage.seconds;
    same->work += stage.work;
  }
  for (const DeviceTime& device : other.devices) {
    const auto same = std::ranges::find(devices, device.name, &DeviceTime::name);
    if (same == devices.end()) {
      devices.push_back(device);
    } else {
      same->seconds += device.seconds;
    }
  }
  const bool first = settings.empty();
  if (first) settings = other.settings;
  for (std::size_t i = 0; !first && i < std::min(settings.size(), other.settings.size()); ++i)
    settings[i].frames += other.settings[i].frames;
  if (first_failure.empty()) first_failure = other.first_failure;
}

}  // namespace sightline::pipeline
