#include "pipeline/session/display_mailbox.hpp"

#include <utility>

namespace sightline::pipeline {

DisplayMailbox::DisplayMailbox(bool all_frames, std::function<void()> wake)
    : all_frames_(all_frames), wake_(std::move(wake)) {}

void DisplayMailbox::accept(const Frame& frame, const FrameResult& result) {
  {
    const std::lock_guard lock(mutex_);
    objects_ = result.objects;
    searched_ = frame.number();
    if (all_frames_ && !frozen_) return;  // its boxes come with the next frame
    put(frame, true);
  }
  wake_();
}

void DisplayMailbox::captured(const Frame& frame) {
  {
    const std::lock_guard lock(mutex_);
    if (frozen_ || (!all_frames_ && searched_ > 0)) return;
    put(frame, all_frames_);
  }
  wake_();
}

// With the mutex held.
void DisplayMailbox::put(const Frame& frame, bool counts) {
  if (!pending_.empty() && pending_counts_) ++replaced_;
  pending_ = frame;
  pending_counts_ = counts;
}

void DisplayMailbox::freeze(bool frozen) {
  const std::lock_guard lock(mutex_);
  frozen_ = frozen;
}

std::optional<Showable> DisplayMailbox::fetch() {
  const std::lock_guard lock(mutex_);
  if (pending_.empty()) return std::nullopt;
  return Showable{std::exchange(pending_, Frame()), objects_, searched_, pending_counts_};
}

std::int64_t DisplayMailbox::replaced() const {
  const std::lock_guard lock(mutex_);
  return replaced_;
}

}  // namespace sightline::pipeline
