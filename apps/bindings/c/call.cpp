#include "apps/bindings/c/call.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <span>

#include "base/utf8.hpp"
#include "detectors/registry.hpp"

namespace sightline::api {
namespace {

std::atomic<bool> forked{false};

// Copies a text, cut at a character, with a zero behind it.
void copy_cut(std::span<char> to, std::string_view text) noexcept {
  std::size_t size = std::min(text.size(), to.size() - 1);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  std::memcpy(to.data(), text.data(), size);
  to[size] = '\0';
}

sl_status status_of(ExitCode code) {
  switch (code) {
    case ExitCode::usage:
    case ExitCode::model:
      return SL_E_CONFIG;
    case ExitCode::input:
      return SL_E_INPUT;
    case ExitCode::device:
      return SL_E_DEVICE;
    case ExitCode::done:
    case ExitCode::failed:
      break;
  }
  return SL_E_INTERNAL;
}

}  // namespace

void begin_use() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (pthread_atfork(nullptr, nullptr, [] { forked = true; }) != 0) throw std::bad_alloc();
    prepare_log();
    add_family(network::family());
  });
}

KeptHandlers::KeptHandlers() noexcept {
  for (int i = 1; i < kSignals; ++i) sigaction(i, nullptr, &handlers_[static_cast<std::size_t>(i)]);
}

KeptHandlers::~KeptHandlers() {
  for (int i = 1; i < kSignals; ++i) {
    const struct sigaction& before = handlers_[static_cast<std::size_t>(i)];
    struct sigaction now {};
    if (sigaction(i, nullptr, &now) == 0 && now.sa_handler != before.sa_handler)
      sigaction(i, &before, nullptr);
  }
}

bool is_forked() noexcept {
  return forked.load(std::memory_order_relaxed);
}

char* copy_text(std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

void fill(sl_error* error, const CallError& problem) noexcept {
  if (!error) return;
  const std::size_t size = error->struct_size;
  const auto has_room = [&](std::size_t offset, std::size_t bytes) { return size >= offset + bytes; };
  if (has_room(offsetof(sl_error, status), sizeof error->status)) error->status = problem.status;
  if (has_room(offsetof(sl_error, what), sizeof error->what)) copy_cut(error->what, problem.what);
  if (has_room(offsetof(sl_error, where), sizeof error->where)) copy_cut(error->where, problem.where);
  if (has_room(offsetof(sl_error, hint), sizeof error->hint)) copy_cut(error->hint, problem.hint);
}

sl_status report_exception(sl_error* error) noexcept {
  try {
    try {
      throw;
    } catch (const CallError& e) {
      fill(error, e);
      return e.status;
    } catch (const Error& e) {
      const CallError problem{status_of(e.code()), e.fields().problem.text(Words::api), e.fields().object,
                              e.fields().remedy.text(Words::api)};
      fill(error, problem);
      return problem.status;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      fill(error, {SL_E_INTERNAL, e.what()});
      return SL_E_INTERNAL;
    }
  } catch (const std::bad_alloc&) {
    static const CallError kNone{SL_E_MEMORY, "out of memory", "", ""};  // short texts need none
    fill(error, kNone);
    return SL_E_MEMORY;
  } catch (...) {
    return SL_E_INTERNAL;
  }
}

sl_status report_fork(sl_error* error) noexcept {
  try {
    fill(error,
         {SL_E_FORKED, "this process was forked after Sightline was in use, without its threads", "",
          "start new processes instead of forking; Python: multiprocessing.set_start_method('spawn')"});
  } catch (...) {  // no memory for the text
  }
  return SL_E_FORKED;
}

}  // namespace sightline::api
