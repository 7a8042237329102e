#include "apps/cli/stop.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "base/error.hpp"

namespace sightline::apps {
namespace {

constexpr unsigned kGrace = 3;           // seconds in which the request must be noticed
constexpr unsigned kFinishingTime = 30;  // seconds in which outputs must be finished

std::atomic<bool> stop_flag{false};
std::atomic<bool> finishing{false};
std::atomic<int> stop_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  stop_flag = true;
  stop_signal = signal;
  std::signal(signal, SIG_DFL);
  alarm(finishing ? kFinishingTime : kGrace);
}

extern "C" void on_end_of_grace(int) {
  constexpr std::string_view kMessage = "error: stopped before all outputs were finished\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(stop_exit_code());
}

}  // namespace

const std::atomic<bool>& stop_requested() {
  static const bool installed = [] {
    std::signal(SIGALRM, on_end_of_grace);
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
    return true;
  }();
  static_cast<void>(installed);
  return stop_flag;
}

void begin_to_finish() {
  finishing = true;
  if (stop_flag) alarm(kFinishingTime);
}

void throw_if_stopped() {
  if (!stop_requested()) return;
  begin_to_finish();
  throw Error(ExitCode::failed, "stopped on request before the first result");
}

int stop_exit_code() {
  return stop_signal == 0 ? 0 : 128 + stop_signal;
}

}  // namespace sightline::apps
