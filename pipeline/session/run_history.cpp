#include "pipeline/session/run_history.hpp"

#include <algorithm>

namespace sightline::pipeline {

void RunHistory::begin(const TraceInfo& info) {
  const std::lock_guard lock(mutex_);
  kept_.settings = info.settings;
  if (begun_) return;
  begun_ = true;
  start_ = info.start;
}

void RunHistory::accept(const FrameTrace& trace) {
  const std::lock_guard lock(mutex_);
  const double seconds = std::max(0.0, 1e-9 * static_cast<double>(trace.delivered - start_));
  kept_.seconds = std::max(kept_.seconds, seconds);
  const bool turned = kept_.turns.empty() || kept_.turns.back().setting != trace.setting;
  if (turned && kept_.turns.size() < kMostTurns)
    kept_.turns.push_back({kept_.turns.empty() ? 0 : seconds, trace.setting});
  while (seconds >= kept_.interval * kMostPoints) {
    std::vector<std::int64_t> halves((kept_.frames.size() + 1) / 2);
    for (std::size_t i = 0; i < kept_.frames.size(); ++i) halves[i / 2] += kept_.frames[i];
    kept_.frames = std::move(halves);
    kept_.interval *= 2;
  }
  const auto point = static_cast<std::size_t>(seconds / kept_.interval);
  if (point >= kept_.frames.size()) kept_.frames.resize(point + 1);
  kept_.frames[point] += trace.ends_frame;
}

RunHistory::Summary RunHistory::summary() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace sightline::pipeline
