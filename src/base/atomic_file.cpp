#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"

namespace sightline {
namespace fs = std::filesystem;

namespace {

// /dev/stdout leads to a file that others write to as well. /dev/shm is a folder like others.
bool is_of_system(const fs::path& name) {
  std::error_code ignored;
  const std::string text = fs::absolute(name, ignored).lexically_normal().string();
  return (text.starts_with("/dev/") && !text.starts_with("/dev/shm/")) || text.starts_with("/proc/");
}

// The longest prefix of a name that leaves `more` bytes in a file name of the file's folder.
std::string shortened(const fs::path& file, std::size_t more) {
  const fs::path folder = file.parent_path();
  const long longest = ::pathconf(folder.empty() ? "." : folder.c_str(), _PC_NAME_MAX);
  const std::size_t name_limit = longest > 0 ? static_cast<std::size_t>(longest) : NAME_MAX;
  std::string name = file.filename().string();
  const std::size_t before = file.native().size() - name.size();
  const std::size_t limit = std::min(name_limit, PATH_MAX - 1 - std::min<std::size_t>(before, PATH_MAX - 1));
  std::size_t size = std::min(name.size(), limit - std::min(limit, more));
  constexpr auto is_inside_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (size > 0 && size < name.size() && is_inside_character(name[size])) --size;
  name.resize(size);
  return name;
}

fs::path with_random_suffix(const fs::path& file, const char* kind) {
  std::uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  char suffix[24];
  const int length = std::snprintf(suffix, sizeof suffix, ".%s-%08x", kind, number);
  return file.parent_path() / (shortened(file, static_cast<std::size_t>(length)) + suffix);
}

// Others who can write to a folder can plant links in it.
bool is_trusted_link(const fs::path& name) {
  struct stat link {
  }, folder{};
  if (::lstat(name.c_str(), &link) != 0) return false;
  if (link.st_uid == ::geteuid() || link.st_uid == 0) return true;
  const fs::path parent = name.parent_path();
  return ::stat(parent.empty() ? "." : parent.c_str(), &folder) == 0 &&
         (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::error_code system_error(int number) {
  return {number, std::generic_category()};
}

mode_t mode_for(Readers readers) {
  return readers == Readers::owner ? 0600 : 0666;
}

// Empties a file that is there already.
int open_existing(const fs::path& file) {
  const int handle = ::open(file.c_str(), O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
  if (handle < 0) return -1;
  struct stat status {};
  if (::fstat(handle, &status) == 0 && S_ISREG(status.st_mode)) {
    int error = 0;
    if (status.st_nlink > 1) {
      error = EMLINK;
    } else if (::ftruncate(handle, 0) != 0) {
      error = errno;
    }
    if (error != 0) {
      ::close(handle);
      errno = error;
      return -1;
    }
  }
  return handle;
}

// `put` writes some of the bytes and returns their number.
template <typename Put>
std::error_code write_all(std::string_view bytes, const Put& put) {
  while (!bytes.empty()) {
    const ssize_t written = put(bytes);
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    if (written == 0) return system_error(EIO);
    if (written < 0 && errno != EINTR) return system_error(errno);
  }
  return {};
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& name, Readers readers, Naming naming)
    : file_(without_link(name)), place_(file_) {
  if (naming == Naming::when_whole && make_unfinished(readers)) return;
  place_ = file_;
  descriptor_ = open_anew(file_, readers);
  if (descriptor_ < 0) error_ = system_error(errno);
}

// Returns false if the file has to be written under its own name. A file that cannot be written at all counts
// as one, so that writing reports the reason.
bool AtomicFile::make_unfinished(Readers readers) {
  if (is_of_system(file_)) return false;
  std::error_code problem;
  const fs::file_status status = fs::symlink_status(file_, problem);
  if (problem.value() == ENAMETOOLONG) return false;
  const bool is_file = fs::is_regular_file(status);
  if (fs::exists(status) && !fs::is_symlink(status) && (!is_file || ::access(file_.c_str(), W_OK) != 0))
    return false;
  for (;;) {
    place_ = with_random_suffix(file_, "part");
    descriptor_ =
        ::open(place_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_for(readers));
    if (descriptor_ >= 0) break;
    if (errno == EEXIST || errno == EINTR) continue;
    if (is_file && (errno == EACCES || errno == EPERM || errno == EROFS)) return false;
    error_ = system_error(errno);
    return true;
  }
  struct stat made {};
  if (::fstat(descriptor_, &made) == 0) {
    device_ = made.st_dev;
    inode_ = made.st_ino;
  }
  return true;
}

AtomicFile::~AtomicFile() {
  // Closed last: as long as it is open, no other file gets its number.
  if (!kept_ && is_unfinished() && is_in_place()) ::unlink(place_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool AtomicFile::is_in_place() const {
  struct stat there {};
  return ::lstat(place_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_;
}

std::error_code AtomicFile::write(std::string_view bytes) {
  if (error_) return error_;
  return write_all(bytes,
                   [this](std::string_view rest) { return ::write(descriptor_, rest.data(), rest.size()); });
}

std::error_code AtomicFile::write_at(std::int64_t offset, std::string_view bytes) {
  if (error_) return error_;
  return write_all(bytes, [&, this](std::string_view rest) {
    const auto done = static_cast<std::int64_t>(bytes.size() - rest.size());
    return ::pwrite(descriptor_, rest.data(), rest.size(), offset + done);
  });
}

std::error_code AtomicFile::finish() {
  if (error_) return error_;
  if (is_unfinished() && !is_in_place()) {
    throw Error(ExitCode::failed,
                "cannot write '" + file_.string() + "': another program has moved or replaced '" +
                    place_.string() + "'",
                "write to a folder that only you can change");
  }
  // Network file systems report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) return error_ = system_error(errno);
  std::error_code error;
  if (is_unfinished()) fs::rename(place_, file_, error);
  kept_ = !error;
  return error;
}

void write_whole(const fs::path& path, std::string_view bytes, const std::string& what, Readers readers) {
  AtomicFile file(path, readers);
  std::error_code error = file.write(bytes);
  if (fault::strikes(fault::Kind::write, what.c_str())) error = system_error(EIO);
  if (!error) error = file.finish();
  if (error) {
    throw Error(ExitCode::failed, "cannot write " + what + " '" + path.string() + "': " + error.message(),
                "check the folder, its permissions and the space left");
  }
}

int open_anew(const fs::path& name, Readers readers) {
  const fs::path file = without_link(name);
  if (is_of_system(file)) return ::open(file.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
  for (;;) {
    int handle =
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_for(readers));
    if (handle >= 0 || errno != EEXIST) return handle;
    handle = open_existing(file);
    if (handle >= 0) return handle;
    const int error = errno;
    if (error == ENOENT || error == EINTR) continue;
    const bool is_to_be_replaced = error == ELOOP || error == EMLINK;
    if (!is_to_be_replaced || (::unlink(file.c_str()) != 0 && errno != ENOENT)) {
      errno = error;
      return -1;
    }
  }
}

fs::path name_of_its_own(const fs::path& file) {
  return with_random_suffix(file, "tmp");
}

fs::path without_link(const fs::path& name) {
  std::error_code error;
  if (is_of_system(name) || !fs::is_symlink(name, error) || !is_trusted_link(name)) return name;
  fs::path file = fs::canonical(name, error);
  return error ? name : file;
}

}  // namespace sightline
