#include "base/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace sightline {
namespace {

std::string shared_because(const struct stat& status) {
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it";
  return "";
}

bool read_all(int descriptor, std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::read(descriptor, bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::string shared_because(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? shared_because(status) : "";
}

std::optional<std::string> read_private_file(const std::filesystem::path& file, std::uintmax_t most_bytes,
                                             std::string& problem) {
  problem.clear();
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> bytes;
  try {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
      problem = shared_because(status);
      if (problem.empty() && static_cast<std::uintmax_t>(status.st_size) <= most_bytes) {
        bytes.emplace(static_cast<std::size_t>(status.st_size), '\0');
        if (!read_all(descriptor, *bytes)) bytes.reset();
      }
    }
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  return bytes;
}

}  // namespace sightline
