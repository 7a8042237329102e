#pragma once
/// A line of standard error that is written over again and again.

#include <string_view>

namespace sightline::apps {

/// Nothing is shown where standard error is no terminal. Thread-safety: one thread at a time.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { erase(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  bool is_terminal() const { return terminal_; }
  /// Replaces the line, cut to the terminal's width; control characters are escaped.
  void show(std::string_view text);
  void erase();
  /// Leaves the line as it is, and goes to the next one.
  void keep();

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace sightline::apps
