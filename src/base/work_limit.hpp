#pragma once
/// Limits on what a library may take while it opens or decodes hostile data.

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

namespace sightline {

/// Limits the processor time and memory of the calling thread's work in a library, from the constructor to
/// the destructor. Where the library calls back, `is_passed` tells to end the call. Where it does not, a
/// watchdog thread ends the program with a message and exit code 3 (input), soon after a limit is passed:
/// nothing else ends a computation inside a library.
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
  /// Whether a limit is passed, now or earlier. Cheap: looks every 50 ms at most.
  bool is_passed();
  /// "opening 'a.png' takes more than 60 s of processor time"; empty where no limit is passed.
  std::string problem() const;

 private:
  friend class Watchdog;
  enum class Passed { nothing, seconds, bytes };
  /// @param slack  factor on the limits
  Passed passed(double slack) const;
  std::string problem(Passed passed) const;

  const std::string work_;
  Limits limits_;
  clockid_t clock_{};
  double began_ = 0;           // of that clock
  std::int64_t resident_ = 0;  // when it began
  std::chrono::steady_clock::time_point looked_;
  Passed passed_ = Passed::nothing;
};

}  // namespace sightline
