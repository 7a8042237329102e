#pragma once
/// Tells on standard error how a live run is doing.

#include "apps/cli/status_line.hpp"
#include "apps/live/live_session.hpp"

namespace sightline::apps {

/// On a terminal, one line that is rewritten every second; lines that stay as often as they were asked for;
/// a summary at the end. Thread-safety: one thread.
class LiveReport {
 public:
  /// @param every     seconds between lines that stay; 0: none
  /// @param duration  seconds of the run; 0: no end
  LiveReport(LiveSession& session, double every, double duration, int verbosity);

  bool is_over() const;
  /// To be called often.
  void tell();
  void summarise();

 private:
  LiveSession& session_;
  const double every_;
  const double duration_;
  const bool enabled_;
  const bool verbose_;
  StatusLine line_;
  double next_line_ = 0;
  double next_rewrite_ = 0;
};

}  // namespace sightline::apps
