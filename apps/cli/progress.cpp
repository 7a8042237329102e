#include "apps/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/duration_text.hpp"

namespace sightline::apps {

void ProgressDisplay::show(const pipeline::Progress& progress) {
  constexpr double kTerminalInterval = 0.1;
  constexpr double kPlainInterval = 5;
  const bool terminal = line_.is_terminal();
  if (!enabled_ || progress.seconds < next_) return;
  if (!terminal && next_ == 0) {  // no line for what ends within the first interval
    next_ = kPlainInterval;
    return;
  }
  next_ = progress.seconds + (terminal ? kTerminalInterval : kPlainInterval);
  const double rate = static_cast<double>(progress.frames) / std::max(progress.seconds, 1e-9);
  const char* const what = pixels_ > 0 ? "tile" : pictures_ ? "picture" : "frame";
  std::string speed;
  if (pixels_ > 0) speed = fmt::format("  {:.1f} Mpixel/s", rate * pixels_ / 1e6);
  if (pixels_ == 0 && !pictures_) speed = fmt::format("  {:.1f} frames/s", rate);
  std::string line;
  if (progress.total && *progress.total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(progress.frames) / static_cast<double>(*progress.total));
    if (terminal) {
      constexpr int kWidth = 24;
      const int filled = static_cast<int>(share * kWidth);
      line += "[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] ";
    }
    const double left =
        std::max(0.0, static_cast<double>(*progress.total - progress.frames)) / std::max(rate, 1e-9);
    line += fmt::format("{:3.0f}%  {} {} of {}{}  {} left", 100 * share, what, progress.frames,
                        *progress.total, speed, duration_text(left));
  } else {
    line += fmt::format("{} {}{}  {}", what, progress.frames, speed, duration_text(progress.seconds));
  }
  if (terminal) {
    line_.show(line);
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

void ProgressDisplay::end() {
  line_.erase();
  next_ = 0;
}

}  // namespace sightline::apps
