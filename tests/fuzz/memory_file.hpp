#pragma once
// Bytes under a name, for what reads files.

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "targets.hpp"

namespace sightline::fuzz {

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
