#include "apps/train/training_line.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/duration_text.hpp"

namespace sightline::apps {

void TrainingLine::show(const training::TrainingProgress& progress) {
  if (!enabled_) return;
  if (!line_.is_terminal()) {
    if (progress.phase != phase_)
      std::fprintf(stderr, "%6s  %s\n", duration_text(progress.elapsed).c_str(), progress.phase.c_str());
    phase_ = progress.phase;
    return;
  }
  const std::string left =
      progress.left < 0 ? "estimating" : "about " + duration_text(progress.left) + " left";
  line_.show(fmt::format("{:>6}  {:<32} {:3.0f}%  {}{}{}", duration_text(progress.elapsed), progress.phase,
                         100 * progress.fraction, left, progress.detail.empty() ? "" : "  ",
                         progress.detail));
}

}  // namespace sightline::apps
