#include "allocations/allocations.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)

namespace {
void count() {
  sightline::test::allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT: glibc's own names
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT

// operator new ends here, too.
void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t count_of, std::size_t size) {
  count();
  return __libc_calloc(count_of, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
}

#endif
