#pragma once
/// How far long work has got, for people.

#include <string>

#include "apps/cli/status_line.hpp"
#include "training/progress.hpp"

namespace sightline::apps {

/// One line of standard error that is rewritten on a terminal, and a line a phase elsewhere. Thread-safety:
/// one thread.
class TrainingLine {
 public:
  /// @param enabled  nothing is written otherwise
  explicit TrainingLine(bool enabled) : enabled_(enabled) {}
  void show(const training::TrainingProgress& progress);
  /// Leaves the line, on a terminal.
  void end() { line_.keep(); }

 private:
  bool enabled_;
  StatusLine line_;
  std::string phase_;
};

}  // namespace sightline::apps
