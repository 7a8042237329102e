#include "apps/cli/status_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/columns.hpp"
#include "base/utf8.hpp"

namespace sightline::apps {

StatusLine::StatusLine() : terminal_(sightline::is_terminal(STDERR_FILENO)) {}

void StatusLine::show(std::string_view text) {
  if (!terminal_) return;
  // A longer line would begin a new one with each update.
  const std::string safe = printable(text);
  const std::string_view line = cut_to_columns(safe, terminal_columns(STDERR_FILENO, 80) - 1);
  std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(line.size()), line.data());
  shown_ = true;
}

void StatusLine::erase() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void StatusLine::keep() {
  if (shown_) std::fputs("\n", stderr);
  shown_ = false;
}

}  // namespace sightline::apps
