#include "apps/train/training_line.hpp"

#include <unistd.h>

#include <cstdio>

#include "base/duration_text.hpp"

namespace sightline::apps {

TrainingLine::TrainingLine(bool enabled) : enabled_(enabled), terminal_(isatty(STDERR_FILENO) != 0) {}

void TrainingLine::show(const training::TrainingProgress& progress) {
  if (!enabled_) return;
  if (!terminal_) {
    if (progress.phase != phase_)
      std::fprintf(stderr, "%6s  %s\n", duration_text(progress.elapsed).c_str(), progress.phase.c_str());
    phase_ = progress.phase;
    return;
  }
  const std::string left =
      progress.left < 0 ? "estimating" : "about " + duration_text(progress.left) + " left";
  std::fprintf(stderr, "\r\033[K%6s  %-32s %3.0f%%  %s%s%s", duration_text(progress.elapsed).c_str(),
               progress.phase.c_str(), 100 * progress.fraction, left.c_str(),
               progress.detail.empty() ? "" : "  ", progress.detail.c_str());
}

void TrainingLine::end() const {
  if (enabled_ && terminal_) std::fprintf(stderr, "\n");
}

}  // namespace sightline::apps
