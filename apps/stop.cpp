#include "stop.hpp"

#include <csignal>

#include "base/error.hpp"

namespace sightline::apps {
namespace {

std::atomic<bool> stop_flag{false};
std::atomic<int> stop_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  stop_flag = true;
  stop_signal = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& stop_requested() {
  static const bool installed = [] {
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    return true;
  }();
  static_cast<void>(installed);
  return stop_flag;
}

void throw_if_stopped() {
  if (stop_requested()) throw Error(ExitCode::failed, "stopped on request before there was a result");
}

int stop_exit_code() {
  return stop_signal == 0 ? 0 : 128 + stop_signal;
}

}  // namespace sightline::apps
