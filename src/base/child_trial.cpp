#include "base/child_trial.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace sightline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDone = 77;  // unlikely as the exit code of a library that ends the process

[[noreturn]] void work_and_end(const std::function<void()>& work, pid_t parent) {
  setsid();  // Ctrl-C is for the parent; dying of it would look like a crash
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
  // Should the work call `exit`, nothing that the parent still has to do at its own end is done here.
  std::atexit([] { _exit(1); });
  try {
    work();
  } catch (...) {
    _exit(1);
  }
  _exit(kDone);
}

enum class Wait { ended, still_running, unknown };

// Time that a process has had of all processors; 0 where that is not told.
std::chrono::nanoseconds processor_time(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A child hangs if it stands still, or has had much processor time. One that goes on, but gets next to none
// on a busy machine, has ten times the limit.
Wait wait_for(pid_t child, std::chrono::milliseconds limit, int& status) {
  const Clock::time_point start = Clock::now();
  Clock::time_point last_step = start;
  std::chrono::nanoseconds used{};
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return Wait::ended;
    if (ended < 0 && errno != EINTR) return Wait::unknown;
    const Clock::time_point now = Clock::now();
    const std::chrono::nanoseconds time = processor_time(child);
    if (time >= used + std::chrono::milliseconds(1)) {
      used = time;
      last_step = now;
    }
    const bool hangs = used >= limit / 3 || now - last_step >= limit / 3 || now - start >= 10 * limit;
    if (now - start >= limit && hangs) return Wait::still_running;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string seconds_text(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", std::chrono::duration<double>(time).count());
  return text;
}

}  // namespace

std::optional<std::string> try_in_child(const std::function<void()>& work, std::chrono::milliseconds limit) {
#ifdef __SANITIZE_THREAD__
  return std::nullopt;
#endif
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) work_and_end(work, parent);
  int status = 0;
  const Wait outcome = wait_for(child, limit, status);
  if (outcome == Wait::unknown) return std::nullopt;
  if (outcome == Wait::still_running) {
    kill(child, SIGKILL);
    // A process that hangs in the kernel cannot be killed: it is left behind.
    wait_for(child, std::chrono::seconds(5), status);
    return "it did not answer within " + seconds_text(limit);
  }
  if (WIFSIGNALED(status)) return "it crashed (" + std::string(strsignal(WTERMSIG(status))) + ")";
  if (WEXITSTATUS(status) == kDone) return "";
  return "it ended the process, with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace sightline
