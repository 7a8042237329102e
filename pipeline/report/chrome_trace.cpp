#include "pipeline/report/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/json_text.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::size_t kBufferSize = 1 << 16;
/// Threads are numbered from here: viewers take a thread with its process's number for its main thread, and
/// number 0 for the idle process. The first is the lane of the frames.
constexpr int kFrames = 1000;

bool is_copy(Activity activity) {
  return activity == Activity::upload || activity == Activity::download;
}

/// A device's queue runs the stages of a slot one after the other: they share a lane.
bool has_lane_by_stage(const Span& span) {
  return span.activity == Activity::run && span.processor == 0;
}

int process_of(const Span& span) {
  return span.processor + 1;
}

/// Nanoseconds as the format's microseconds, exactly.
std::string microseconds(std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const auto size = static_cast<std::uint64_t>(negative ? -nanoseconds : nanoseconds);
  return fmt::format("{}{}.{:03}", negative ? "-" : "", size / 1000, size % 1000);
}

/// What a lane shows, as a number.
std::uint64_t lane_key(const FrameTrace& trace, const Span& span) {
  const bool by_source = !has_stage(span.activity);
  std::uint64_t key = static_cast<std::uint64_t>(span.activity);
  key = key << 8 | span.processor;
  key = key << 8 | (has_lane_by_stage(span) ? span.stage : 0U);
  key = key << 1 | (by_source ? 1U : 0U);
  return key << 32 | static_cast<std::uint32_t>(by_source ? trace.source : trace.slot);
}

/// Order of the lanes in a process: decoding, uploads, stages, downloads, output, waiting.
int lane_order(const Span& span) {
  switch (span.activity) {
    case Activity::decode:
      return 0;
    case Activity::upload:
      return 1;
    case Activity::run:
      return 2 + (has_lane_by_stage(span) ? span.stage : 0);
    case Activity::download:
      return 258;
    case Activity::output:
      return 259;
    case Activity::wait:
      return 260;
  }
  return 0;
}

}  // namespace

ChromeTraceWriter::ChromeTraceWriter(const std::filesystem::path& path) : path_(path), file_(path) {
  check(fault::strikes(fault::Kind::open, "trace") ? std::make_error_code(std::errc::io_error)
                                                   : file_.error());
  buffer_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  buffer_.reserve(kBufferSize * 2);
}

void ChromeTraceWriter::begin(const TraceInfo& info) {
  info_ = info;
  dropped_.assign(info.sources.size(), 0);
  if (begun_) return;
  begun_ = true;
  origin_ = last_ = info.start;
  write_name("thread", 1, kFrames, "frames", -1);
  for (std::size_t i = 0; i < info.processors.size(); ++i) {
    const std::string& name = info.processors[i];
    const std::string shown = i > 0 || name.starts_with("CPU") ? name : "CPU: " + name;
    write_name("process", static_cast<int>(i) + 1, 0, shown, static_cast<int>(i));
  }
}

void ChromeTraceWriter::accept(const FrameTrace& whole) {
  FrameTrace trace = whole;
  trace.admitted = std::max(trace.admitted, origin_);
  spans_.assign(trace.spans.begin(), trace.spans.end());
  for (Span& span : spans_) {
    span.start = std::max(span.start, origin_);
    span.end = std::max(span.end, span.start);
  }
  trace.spans = spans_;
  places_.clear();
  for (const Span& span : trace.spans) {
    places_.push_back(place(trace, span));
    write_span(trace, span, places_.back());
  }
  write_frame(trace);
  write_arrows(trace);
  write_counters(trace);
  last_ = std::max(last_, trace.delivered);
  ++frames_;
  if (buffer_.size() > kBufferSize) flush();
}

void ChromeTraceWriter::finish() {
  if (finished_) return;
  if (frames_ > 0) write_counter("slots in use", last_, 0);
  buffer_ += "\n]}\n";
  flush();
  check(file_.finish());
  finished_ = true;
}

/// The lane of a span: the first of those that show the same whose last span has ended.
ChromeTraceWriter::Place ChromeTraceWriter::place(const FrameTrace& trace, const Span& span) {
  std::vector<Lane>& lanes = lanes_[lane_key(trace, span)];
  auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.end <= span.start; });
  if (lane == lanes.end()) lane = lanes.insert(lane, new_lane(trace, span, lanes.size()));
  lane->end = std::max(span.start, span.end);
  return {process_of(span), lane->thread};
}

ChromeTraceWriter::Lane ChromeTraceWriter::new_lane(const FrameTrace& trace, const Span& span,
                                                    std::size_t copy) {
  std::string name;
  if (span.activity == Activity::run) {
    name = has_lane_by_stage(span) ? stage_name(span.stage) : "queue";
  } else {
    name = to_string(span.activity);
  }
  const int slot = has_stage(span.activity) ? trace.slot : trace.source;
  name += has_stage(span.activity) ? fmt::format(", slot {}", slot) : source_suffix(trace.source);
  if (copy > 0) name += fmt::format(" ({})", copy + 1);
  const int thread = kFrames + ++threads_;
  const int order = (lane_order(span) * 1024 + std::min(slot, 1023)) * 16 +
                    static_cast<int>(std::min(copy, std::size_t{15}));
  write_name("thread", process_of(span), thread, name, order);
  return {thread, span.start};
}

void ChromeTraceWriter::write_span(const FrameTrace& trace, const Span& span, Place at) {
  const char* activity = to_string(span.activity);
  std::string name = has_stage(span.activity) ? stage_name(span.stage) : activity;
  if (is_copy(span.activity) || span.activity == Activity::wait) name = std::string(activity) + ' ' + name;
  const std::int64_t duration = std::max<std::int64_t>(span.end - span.start, 0);
  std::string more;
  // How many threads worked on it, on average: tells a stage that does not spread from one that does.
  if (span.work > 0 && duration > 0)
    more = fmt::format(",\"threads\":{:.2f}", static_cast<double>(span.work) / static_cast<double>(duration));
  if (span.frames > 1) more += fmt::format(",\"batch\":{}", span.frames);
  if (span.partition > 0) more += ",\"share\":\"device\"";
  event(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{}{},)"
                    R"("args":{{"frame":{},"slot":{}{}}}}})",
                    json_string(name), activity, at.process, at.thread, microseconds(span.start - origin_),
                    microseconds(duration), span.activity == Activity::wait ? R"(,"cname":"grey")" : "",
                    trace.frame, trace.slot, more));
}

/// One event for all frames' track, which viewers group by its name, and in it one with the frame's number.
void ChromeTraceWriter::write_frame(const FrameTrace& trace) {
  const std::string source = source_suffix(trace.source);
  const std::string name = json_string(fmt::format("frame {}{}", trace.frame, source));
  const auto half = [&](const char* phase, std::string_view title, std::int64_t time, std::string_view more) {
    event(fmt::format(R"({{"ph":"{}","cat":"frame","id":"0x{:x}","name":{},"pid":1,"tid":{},"ts":{}{}}})",
                      phase, frames_ + 1, title, kFrames, microseconds(time - origin_), more));
  };
  half("b", "\"frame\"", trace.admitted, "");
  const auto setting = static_cast<std::size_t>(trace.setting);
  const std::string found_by = setting < info_.settings.size()
                                   ? ",\"setting\":" + json_string(info_.settings[setting].name)
                                   : std::string();
  half("b", name, trace.admitted,
       fmt::format(R"(,"args":{{"frame":{},"source":{},"slot":{},"status":"{}"{}}})", trace.frame,
                   trace.source, trace.slot, sightline::to_string(trace.status), found_by));
  const std::int64_t end = std::max(trace.admitted, trace.delivered);
  half("e", name, end, "");
  half("e", "\"frame\"", end, "");
  if (trace.status == FrameStatus::failed) {
    const std::string failure = json_string(fmt::format("frame {}{} failed", trace.frame, source));
    event(fmt::format(R"({{"ph":"i","s":"p","cname":"terrible","name":{},"pid":1,"tid":{},"ts":{}}})",
                      failure, kFrames, microseconds(end - origin_)));
  }
}

/// From span to span of a partition. Where a frame is split, the device's one starts after the last span of
/// the CPU's that had ended by then, and leads to the first of the CPU's that starts after its end.
void ChromeTraceWriter::write_arrows(const FrameTrace& trace) {
  const auto spans = trace.spans;
  constexpr std::size_t kNone = ~std::size_t{0};
  const auto counts = [&](std::size_t i, int partition) {
    return spans[i].activity != Activity::wait && spans[i].end > spans[i].start &&
           spans[i].partition == partition;
  };
  // The last span of a partition before span i; of those that had ended by a time.
  const auto before = [&](std::size_t i, int partition, std::int64_t ended_by) {
    while (i-- > 0) {
      if (counts(i, partition) && spans[i].end <= ended_by) return i;
    }
    return kNone;
  };
  constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::max();
  const std::size_t last_on_device = before(spans.size(), 1, kAnyTime);
  bool joined = last_on_device == kNone;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    for (const int partition : {0, 1}) {
      if (!counts(i, partition)) continue;
      const std::size_t own = before(i, partition, kAnyTime);
      const std::size_t origin = own == kNone && partition == 1 ? before(i, 0, spans[i].start) : own;
      if (origin != kNone) write_arrow(origin, i, spans);
    }
    if (!joined && counts(i, 0) && i > last_on_device && spans[i].start >= spans[last_on_device].end) {
      write_arrow(last_on_device, i, spans);
      joined = true;
    }
  }
}

void ChromeTraceWriter::write_arrow(std::size_t from, std::size_t to, std::span<const Span> spans) {
  ++arrows_;
  const auto half = [&](const char* phase, Place at, std::int64_t time) {
    event(
        fmt::format(R"({{"ph":"{}","bp":"e","cat":"frame","name":"next","id":{},"pid":{},"tid":{},"ts":{}}})",
                    phase, arrows_, at.process, at.thread, microseconds(time - origin_)));
  };
  // Inside the spans: an event at a span's very end belongs to what follows it. The clock of a device may be
  // off a little, so that a span seems to start before its predecessor has ended.
  half("s", places_[from], std::min(spans[from].end - 1, spans[to].start));
  half("f", places_[to], spans[to].start);
}

void ChromeTraceWriter::write_counters(const FrameTrace& trace) {
  write_counter("slots in use", std::max(trace.admitted, trace.entered), trace.slots_in_use);
  const auto source = static_cast<std::size_t>(std::max(trace.source, 0));
  if (source >= dropped_.size()) dropped_.resize(source + 1, 0);
  if (trace.dropped != dropped_[source] || frames_ == 0) {
    dropped_[source] = trace.dropped;
    write_counter("frames dropped" + source_suffix(trace.source), trace.admitted, trace.dropped);
  }
  if (!info_.settings.empty() && trace.setting != setting_) {
    setting_ = trace.setting;
    write_counter("setting (0: most accurate)", trace.admitted, trace.setting, "setting");
  }
}

void ChromeTraceWriter::write_counter(std::string_view name, std::int64_t time, std::int64_t value,
                                      std::string_view unit) {
  event(fmt::format(R"({{"ph":"C","name":{},"pid":1,"ts":{},"args":{{"{}":{}}}}})", json_string(name),
                    microseconds(time - origin_), unit, value));
}

void ChromeTraceWriter::write_name(std::string_view kind, int process, int thread, std::string_view name,
                                   int order) {
  const std::string where = thread == 0 ? fmt::format("\"pid\":{}", process)
                                        : fmt::format("\"pid\":{},\"tid\":{}", process, thread);
  event(fmt::format(R"({{"ph":"M","name":"{}_name",{},"args":{{"name":{}}}}})", kind, where,
                    json_string(name)));
  event(fmt::format(R"({{"ph":"M","name":"{}_sort_index",{},"args":{{"sort_index":{}}}}})", kind, where,
                    order));
}

void ChromeTraceWriter::event(std::string_view text) {
  buffer_ += buffer_.ends_with('[') ? "\n" : ",\n";
  buffer_ += text;
}

void ChromeTraceWriter::flush() {
  const std::error_code error = file_.write(buffer_);
  check(fault::strikes(fault::Kind::write, "trace") ? std::make_error_code(std::errc::io_error) : error);
  buffer_.clear();
}

void ChromeTraceWriter::check(std::error_code error) const {
  if (!error) return;
  throw Error(ExitCode::failed, fmt::format("cannot write trace '{}': {}", path_.string(), error.message()),
              error == std::errc::no_space_on_device ? "free some space or write elsewhere" : "");
}

std::string ChromeTraceWriter::stage_name(int stage) const {
  const auto i = static_cast<std::size_t>(stage);
  return i < info_.stages.size() ? info_.stages[i] : fmt::format("stage {}", stage);
}

std::string ChromeTraceWriter::source_suffix(int source) const {
  if (info_.sources.size() < 2) return {};
  const auto i = static_cast<std::size_t>(source);
  return ", " + (i < info_.sources.size() ? info_.sources[i] : fmt::format("source {}", source));
}

}  // namespace sightline::pipeline
