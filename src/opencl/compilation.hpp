#pragma once
/// Tells the user of compilations of kernels that take longer than a moment.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace sightline::opencl {

/// Shows how long kernels have been compiled, in seconds; a negative number when that ends or pauses. Called
/// from any thread, by one at a time.
using CompilationDisplay = std::function<void(double seconds)>;

/// Sets the display of all devices, once, before the first is opened. None: the log alone tells.
void set_compilation_display(CompilationDisplay display);

/// Compilations for one device. Their times add up: many short ones are announced like a long one.
/// Thread-safety: any thread.
class CompilationMonitor {
 public:
  /// @param moment  seconds after which the user is told
  explicit CompilationMonitor(std::string device, double moment = 1)
      : device_(std::move(device)), moment_(moment) {}
  CompilationMonitor(const CompilationMonitor&) = delete;
  CompilationMonitor& operator=(const CompilationMonitor&) = delete;
  ~CompilationMonitor() = default;

  /// Something is compiled as long as the result lives, which the monitor must outlive.
  std::shared_ptr<void> begin();
  bool is_compiling() const;

 private:
  void end();
  double seconds() const;
  void watch(const std::stop_token& stop);

  const std::string device_;
  const double moment_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  int running_ = 0;
  std::chrono::steady_clock::time_point since_;  ///< start of the first that is running
  double spent_ = 0;                             ///< seconds of those that have ended
  bool announced_ = false;
  bool shown_ = false;
  std::jthread watcher_;  ///< last: it uses the others
};

}  // namespace sightline::opencl
