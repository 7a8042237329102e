#include "pipeline/planning/run_window.hpp"

#include <algorithm>

namespace sightline::pipeline {

void WindowMeter::restart(int left_out) {
  *this = {};
  left_out_ = left_out;
}

void WindowMeter::add(const FrameTrace& trace) {
  if (left_out_ > 0) {
    --left_out_;
    return;
  }
  std::int64_t begin = trace.admitted, done = 0;
  int together = 0;  // frames of its largest batch
  for (const Span& span : trace.spans) {
    const std::int64_t length = span.share();
    switch (span.activity) {
      case Activity::decode:
        begin = span.end;
        reading_ += length;
        break;
      case Activity::output:
        writing_ += length;
        break;
      case Activity::wait:
        break;
      case Activity::run:
        (span.processor == 0 ? cpu_ : device_) += span.processor == 0 ? span.work : length;
        if (span.processor != 0) together = std::max(together, span.frames);
        [[fallthrough]];
      default:
        done = std::max(done, span.end);
    }
  }
  // A captured frame waited with its source until it entered.
  if (trace.entered != 0) begin = trace.entered;
  if (done == 0) done = trace.delivered;
  if (start_ == 0) {
    if (!trace.ends_frame) return;
    restart();
    start_ = end_ = trace.delivered;
    processed_ = done;
    return;
  }
  busy_ += std::max<std::int64_t>(0, done - std::max(begin, processed_));
  processed_ = std::max(processed_, done);
  end_ = std::max(end_, trace.delivered);
  together_ += together;
  on_device_ += together > 0 ? 1 : 0;
  ++frames_;
  whole_frames_ += trace.ends_frame;
  is_within_frame_ = !trace.ends_frame;
}

std::optional<RunWindow> WindowMeter::take(const WindowRule& rule) {
  const std::int64_t length = end_ - start_;
  if (is_within_frame_ || length < rule.length ||
      frames_ < (length < 4 * rule.length ? rule.frames : rule.slow_frames))
    return std::nullopt;
  const auto per_frame = [&](std::int64_t ns) { return 1e-9 * static_cast<double>(ns) / frames_; };
  RunWindow window{static_cast<double>(frames_), per_frame(length), per_frame(cpu_), per_frame(device_)};
  window.tiles = static_cast<double>(frames_) / whole_frames_;
  if (busy_ > 0) window.possible_fps = 1 / per_frame(busy_);
  window.idle_share = 1 - per_frame(busy_) / window.seconds;
  if (on_device_ > 0) window.batch = static_cast<double>(together_) / on_device_;
  window.limited_by_outputs = writing_ > reading_;
  const std::int64_t end = end_, processed = processed_;
  restart();
  start_ = end_ = end;
  processed_ = processed;
  return window;
}

}  // namespace sightline::pipeline
