#pragma once
// Bytes under a name, for what reads files.

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "targets.hpp"

namespace sightline::fuzz {

/// Bytes of a model that is looked at: the fuzzer runs as many inputs a second as are small.
inline constexpr std::size_t kLargestModel = 1 << 16;

/// Texture of a kind: brightness, 0 to 249, of the pixel of a window.
inline int texture(int x, int y) {
  return (x / 3 + y / 2) % 3 * 100 + (x * 31 + y * 17) % 50;
}

/// A file in memory, gone with this object.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes) : handle_(memfd_create("input", MFD_CLOEXEC)) {
    if (handle_ < 0 || write(handle_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("no file in memory");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(handle_); }

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(handle_); }

 private:
  int handle_;
};

}  // namespace sightline::fuzz
