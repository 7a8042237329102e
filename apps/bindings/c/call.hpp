#pragma once
/// Calls from C: exceptions become statuses, and nothing is done in a forked copy of the process.

#include <signal.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "apps/bindings/c/sightline.h"
#include "apps/common/toml_options.hpp"
#include "base/error.hpp"

namespace sightline::api {

using apps::TomlOptions;

/// An error with a status of its own, for arguments that are wrong and states that are not allowed.
struct CallError {
  sl_status status = SL_E_ARGUMENT;
  std::string what;
  std::string where = {};
  std::string hint = {};
};

/// Marks the process as one that uses the library: copies that are forked from now on are refused. To be
/// called before the first thread or device is started.
void begin_use();
/// Gives the libraries the log that sl_log directs. Part of `begin_use`: not while they are used.
void prepare_log();
/// Whether this process is a forked copy of one that uses the library: its threads and devices are not here.
bool is_forked() noexcept;

/// Throws CallError for a null pointer.
template <typename T>
T& checked(T* pointer, const char* name) {
  if (!pointer) throw CallError{SL_E_ARGUMENT, std::string(name) + " is NULL"};
  return *pointer;
}

/// A copy that sl_text_free frees.
char* copy_text(std::string_view text);

/// Fills an error of the caller, which may be null, as far as its size says that there is room.
void fill(sl_error* error, const CallError& problem) noexcept;
/// The exception that is being handled, with its status.
sl_status report_exception(sl_error* error) noexcept;
/// That this process was forked.
sl_status report_fork(sl_error* error) noexcept;

/// Does a call's work, which returns nothing or a status.
template <typename Work>
sl_status guarded(sl_error* error, const Work& work) noexcept {
  if (is_forked()) return report_fork(error);
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return SL_OK;
    } else {
      return work();
    }
  } catch (...) {
    return report_exception(error);
  }
}

/// Gives the process its signal handlers back at its end: drivers of OpenCL install their own when they start
/// (PoCL, and LLVM within it), SIGINT's and SIGTERM's among them. A handler that another thread sets
/// meanwhile is lost.
class KeptHandlers {
 public:
  KeptHandlers() noexcept;
  ~KeptHandlers();
  KeptHandlers(const KeptHandlers&) = delete;
  KeptHandlers& operator=(const KeptHandlers&) = delete;

 private:
  static constexpr int kSignals = 32;  ///< without the real-time signals, which no driver takes
  std::array<struct sigaction, kSignals> handlers_{};
};

/// Lets one thread at a time into the calls of an object. Throws CallError (SL_E_STATE) for another.
class OneAtATime {
 public:
  OneAtATime(std::atomic<bool>& busy, const char* object) : busy_(busy) {
    if (busy_.exchange(true, std::memory_order_acquire)) {
      throw CallError{SL_E_STATE,
                      std::string("another thread is in a call of this ") + object,
                      {},
                      std::string("give each thread its own ") + object + ", or use a lock"};
    }
  }
  ~OneAtATime() { busy_.store(false, std::memory_order_release); }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace sightline::api
