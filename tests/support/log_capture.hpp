#pragma once
// Captures the program's log for a test.

#include <memory>
#include <sstream>
#include <string>

namespace spdlog {
class logger;
}

namespace sightline::test {

/// While this object lives, the log goes here. May be written to from any thread; is read between runs.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::string str() const { return text_.str(); }
  void clear() { text_.str(""); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace sightline::test
