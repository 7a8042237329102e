#include "base/shared_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace sightline {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse_shared(const fs::path& file, int error) {
  const std::string name = "'" + file.string() + "'";
  if (error == ELOOP || error == ENOTDIR || error == ENXIO || error == EISDIR)
    throw Error(ExitCode::failed, name + " is a link or not a regular file", "delete it");
  throw Error(ExitCode::failed, "cannot open " + name + ": " + std::strerror(error),
              "check the folder and its permissions");
}

}  // namespace

int open_below(const fs::path& folder, const fs::path& name, int flags) {
  const fs::path file = folder / name;
  int handle = ::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const fs::path& step : name.parent_path()) {
    if (handle < 0) break;
    const int inner = ::openat(handle, step.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    ::close(std::exchange(handle, inner));
    errno = error;
  }
  if (handle < 0) refuse_shared(file, errno);
  const int opened =
      ::openat(handle, name.filename().c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  int error = errno;
  ::close(handle);
  if (opened < 0) refuse_shared(file, error);
  struct stat status {};
  error = ::fstat(opened, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : ENXIO;
  const bool is_alias = error == 0 && (flags & O_ACCMODE) != O_RDONLY && status.st_nlink != 1;
  if (error == 0 && !is_alias) return opened;
  ::close(opened);
  if (is_alias) throw Error(ExitCode::failed, "'" + file.string() + "' has several names", "delete it");
  refuse_shared(file, error);
}

SharedFile::SharedFile(const fs::path& file) : SharedFile(file.parent_path(), file.filename()) {}

SharedFile::SharedFile(const fs::path& folder, const fs::path& name)
    : file_(folder / name), descriptor_(open_below(folder, name, O_RDONLY)) {
  static_cast<void>(::fstat(descriptor_, &status_));
}

SharedFile::~SharedFile() {
  ::close(descriptor_);
}

std::string SharedFile::read(std::uint64_t offset, std::uint64_t size) const {
  if (offset > this->size() || size > this->size() - offset)
    throw Error(ExitCode::failed, "'" + file_.string() + "' ends too early");
  std::string bytes(size, 0);
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t more =
        ::pread(descriptor_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0)
      throw Error(ExitCode::failed, "cannot read '" + file_.string() + "'" +
                                        (more < 0 ? std::string(": ") + std::strerror(errno) : ""));
    done += static_cast<std::uint64_t>(more);
  }
  return bytes;
}

bool has_regular_file(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    refuse_shared(file, errno);
  }
  if (!S_ISREG(status.st_mode)) refuse_shared(file, ENXIO);
  return true;
}

}  // namespace sightline
