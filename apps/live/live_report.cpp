#include "apps/live/live_report.hpp"
#include "base/utf8.hpp"

#include <unistd.h>

#include <cstdio>

namespace sightline::apps {

LiveReport::LiveReport(LiveSession& session, double every, double duration, int verbosity)
    : session_(session),
      every_(every),
      duration_(duration),
      enabled_(verbosity >= 0),
      verbose_(verbosity > 0),
      terminal_(isatty(STDERR_FILENO) != 0),
      next_line_(every) {}

bool LiveReport::is_over() const {
  return duration_ > 0 && session_.seconds() >= duration_;
}

void LiveReport::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void LiveReport::tell() {
  const double now = session_.seconds();
  if (!enabled_) return;
  if (every_ > 0 && now >= next_line_) {
    next_line_ += every_;
    clear();
    std::fprintf(stderr, "%s\n", printable(session_.status_line()).c_str());
  } else if (every_ == 0 && terminal_ && now >= next_rewrite_) {
    next_rewrite_ = now + 1;
    std::fprintf(stderr, "\r\033[K%s", printable(session_.status_line()).c_str());
    shown_ = true;
  }
}

void LiveReport::summarise() {
  if (!enabled_) return;
  clear();
  session_.summarise(verbose_);
}

}  // namespace sightline::apps
