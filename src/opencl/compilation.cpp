#include "opencl/compilation.hpp"

#include <utility>

#include "base/log.hpp"

namespace sightline::opencl {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kInterval = 100ms;

CompilationDisplay& compilation_display() {
  static CompilationDisplay display;
  return display;
}

}  // namespace

void set_compilation_display(CompilationDisplay display) {
  compilation_display() = std::move(display);
}

std::shared_ptr<void> CompilationMonitor::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (running_++ == 0) since_ = Clock::now();
    try {
      if (!watcher_.joinable()) watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
    } catch (const std::exception&) {  // no thread is left: the compilation goes on unannounced
    }
    changed_.notify_all();
  }
  return {static_cast<void*>(this), [this](void*) { end(); }};
}

void CompilationMonitor::end() {
  const std::lock_guard lock(mutex_);
  if (--running_ > 0) return;
  spent_ += std::chrono::duration<double>(Clock::now() - since_).count();
  if (std::exchange(shown_, false)) compilation_display()(-1);
  changed_.notify_all();
}

bool CompilationMonitor::is_compiling() const {
  const std::lock_guard lock(mutex_);
  return running_ > 0;
}

// Call it with the mutex held.
double CompilationMonitor::seconds() const {
  return spent_ + std::chrono::duration<double>(Clock::now() - since_).count();
}

void CompilationMonitor::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return running_ > 0; })) {
    if (seconds() >= moment_) {
      if (!std::exchange(announced_, true)) {
        logger().info(
            "'{}' compiles its kernels: the first start takes longer, later ones use stored kernels",
            device_);
      }
      if (compilation_display()) {
        shown_ = true;
        compilation_display()(seconds());
      }
    }
    changed_.wait_for(lock, stop, kInterval, [&] { return running_ == 0; });
  }
}

}  // namespace sightline::opencl
