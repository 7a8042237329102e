#include "base/work_limit.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/memory_use.hpp"
#include "base/process_policy.hpp"
#include "base/utf8.hpp"

namespace sightline {
namespace {

double clock_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

/// Looks after all limits of the process.
class Watchdog {
 public:
  // Never destroyed: its thread may look after limits of threads that end after `main`.
  static Watchdog& instance() {
    static auto* const one = new Watchdog;
    return *one;
  }

  void add(WorkLimit& limit) {
    const std::lock_guard lock(mutex_);
    limits_.push_back(&limit);
    if (!std::exchange(is_running_, true)) std::thread([this] { run(); }).detach();
    if (is_idle_) wake_.notify_one();
  }

  void remove(const WorkLimit& limit) {
    const std::lock_guard lock(mutex_);
    limits_.erase(std::ranges::find(limits_, &limit));
  }

  std::mutex& mutex() { return mutex_; }

 private:
  [[noreturn]] void run() {
    constexpr std::chrono::milliseconds kInterval{100};
    constexpr double kSlack = 1.25;  // the library's callbacks come first
    std::unique_lock lock(mutex_);
    for (;;) {
      is_idle_ = limits_.empty();
      if (is_idle_) {
        wake_.wait(lock);
      } else {
        wake_.wait_for(lock, kInterval);
      }
      for (WorkLimit* const limit : limits_) {
        if (const auto passed = limit->passed(kSlack); passed != WorkLimit::Passed::nothing)
          act(*limit, limit->problem(passed));
      }
    }
  }

  static void act(WorkLimit& limit, const std::string& problem) {
    if (!process_policy().ends_at_work_limit) {
      if (!std::exchange(limit.is_told_, true))
        logger().error("{}; the file is damaged or made to do so", printable(problem));
      return;
    }
    const std::string text =
        "error: " + printable(problem) + ", and is ended; the file is damaged or made to do so\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(static_cast<int>(ExitCode::input));
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<WorkLimit*> limits_;
  bool is_running_ = false;
  bool is_idle_ = false;
};

WorkLimit::WorkLimit(std::string work, Limits limits)
    : work_(std::move(work)), limits_(limits), looked_(std::chrono::steady_clock::now()) {
  pthread_getcpuclockid(pthread_self(), &clock_);
  began_ = clock_seconds(clock_);
  if (limits_.bytes > 0) resident_ = resident_bytes();
  Watchdog::instance().add(*this);
}

WorkLimit::~WorkLimit() {
  Watchdog::instance().remove(*this);
}

void WorkLimit::set_bytes(std::int64_t bytes) {
  const std::lock_guard lock(Watchdog::instance().mutex());
  limits_.bytes = bytes;
}

WorkLimit::Passed WorkLimit::passed(double slack) const {
  constexpr double kShort = 0.2;  // s: in less, a library does not fill much memory; other threads might
  const double seconds = clock_seconds(clock_) - began_;
  if (seconds > slack * limits_.seconds) return Passed::seconds;
  if (limits_.bytes == 0 || seconds < kShort) return Passed::nothing;
  const auto grown = static_cast<double>(resident_bytes() - resident_);
  return grown > slack * static_cast<double>(limits_.bytes) ? Passed::bytes : Passed::nothing;
}

bool WorkLimit::is_passed() {
  constexpr std::chrono::milliseconds kInterval{50};
  const auto now = std::chrono::steady_clock::now();
  if (passed_ == Passed::nothing && now - looked_ >= kInterval) {
    looked_ = now;
    passed_ = passed(1);
  }
  return passed_ != Passed::nothing;
}

std::string WorkLimit::problem() const {
  return passed_ == Passed::nothing ? "" : problem(passed_);
}

std::string WorkLimit::problem(Passed passed) const {
  const std::string amount =
      passed == Passed::seconds
          ? std::to_string(static_cast<std::int64_t>(limits_.seconds)) + " s of processor time"
          : std::to_string(limits_.bytes >> 20) + " MiB of memory";
  return work_ + " takes more than " + amount;
}

}  // namespace sightline
