#pragma once
/// Limits on a library's work while it opens or decodes untrusted data.

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

namespace sightline {

/// Limits the processor time and memory of the calling thread's work in a library, from the constructor to
/// the destructor. If the library has callbacks, they end the call when `is_passed` is true. If not, nothing
/// but the end of the process ends a computation inside a library: soon after a limit is passed, a watchdog
/// thread ends it with a message and exit code 3 (input), or logs an error, once, as the process policy says.
/// Thread-safety: one thread at a time, and the destructor runs in the thread of the constructor.
class WorkLimit {
 public:
  struct Limits {
    double seconds = 60;     ///< processor time of this thread
    std::int64_t bytes = 0;  ///< growth of the process's resident memory; 0: no limit
  };

  /// @param work  for the message: "opening 'a.png'"
  WorkLimit(std::string work, Limits limits);
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

  /// Sets another memory limit, counted from the constructor on.
  void set_bytes(std::int64_t bytes);
  /// True if a limit is or was passed. Cheap: looks at most every 50 ms.
  bool is_passed();
  /// "opening 'a.png' takes more than 60 s of processor time"; empty if no limit is passed.
  std::string problem() const;

 private:
  friend class Watchdog;
  enum class Passed { nothing, seconds, bytes };
  /// @param slack  factor on the limits
  Passed passed(double slack) const;
  std::string problem(Passed passed) const;

  const std::string work_;
  Limits limits_;
  bool is_told_ = false;  // the watchdog's
  clockid_t clock_{};
  double began_ = 0;           // start on that clock
  std::int64_t resident_ = 0;  // when it began
  std::chrono::steady_clock::time_point looked_;
  Passed passed_ = Passed::nothing;
};

}  // namespace sightline
