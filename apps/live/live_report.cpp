#include "apps/live/live_report.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>

#include "base/utf8.hpp"

namespace sightline::apps {

LiveReport::LiveReport(LiveSession& session, double every, double duration, int verbosity)
    : session_(session),
      every_(every),
      duration_(duration),
      enabled_(verbosity >= 0),
      verbose_(verbosity > 0),
      next_line_(every) {}

bool LiveReport::is_over() const {
  return duration_ > 0 && session_.seconds() >= duration_;
}

void LiveReport::tell() {
  const double now = session_.seconds();
  for (const auto& stream : session_.streams()) {
    if (session_.streams().size() == 1) break;  // its error is the run's
    if (const auto failure = stream->new_failure())
      spdlog::warn("{}: {}; the other inputs go on", stream->short_name(), *failure);
  }
  if (!enabled_) return;
  if (every_ > 0 && now >= next_line_) {
    next_line_ += every_;
    line_.erase();
    for (const std::string& line : session_.status_lines())
      std::fprintf(stderr, "%s\n", printable(line).c_str());
  } else if (every_ == 0 && line_.is_terminal() && now >= next_rewrite_) {
    next_rewrite_ = now + 1;
    line_.show(session_.status_line());
  }
}

void LiveReport::summarise() {
  if (!enabled_) return;
  line_.erase();
  session_.summarise(verbose_);
}

}  // namespace sightline::apps
