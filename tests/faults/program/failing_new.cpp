// Stands between the program and its memory: the linker sends what our own code asks for through here
// (--wrap), where the n-th request can be made to fail. What libraries ask for by themselves is not touched,
// nor what comes before main, where nobody can catch an exception.
#include <atomic>
#include <cstddef>
#include <new>

#include "base/fault.hpp"

namespace {

std::atomic<bool> in_main{false};

bool strikes(const char* call) {
  return in_main && sightline::fault::strikes(sightline::fault::Kind::make, call);
}

}  // namespace

// The linker's names.
extern "C" {
int __real_main(int argc, char** argv);                                           // NOLINT
void* __real__Znwm(std::size_t size);                                             // NOLINT
void* __real__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment);  // NOLINT
void* __real__Znam(std::size_t size);                                             // NOLINT
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);              // NOLINT

int __wrap_main(int argc, char** argv) {  // NOLINT
  in_main = true;
  const int code = __real_main(argc, argv);
  in_main = false;
  return code;
}
void* __wrap__Znwm(std::size_t size) {  // NOLINT
  if (strikes("new")) throw std::bad_alloc();
  return __real__Znwm(size);
}
void* __wrap__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment) {  // NOLINT
  if (strikes("new")) throw std::bad_alloc();
  return __real__ZnwmSt11align_val_t(size, alignment);
}
void* __wrap__Znam(std::size_t size) {  // NOLINT
  if (strikes("new[]")) throw std::bad_alloc();
  return __real__Znam(size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {  // NOLINT
  if (strikes("aligned_alloc")) return nullptr;
  return __real_aligned_alloc(alignment, size);
}
}
