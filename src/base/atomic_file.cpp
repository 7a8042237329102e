#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "base/fault.hpp"

namespace sightline {
namespace fs = std::filesystem;

namespace {

// /dev/stdout leads to a file that others write to as well.
bool is_of_system(const fs::path& name) {
  const std::string text = name.lexically_normal().string();
  return text.starts_with("/dev/") || text.starts_with("/proc/");
}

fs::path with_random_suffix(const fs::path& file, const char* kind) {
  std::uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, ".%s-%08x", kind, number);
  fs::path name = file;
  return name += suffix;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& name, Readers readers)
    : file_(without_link(name)), place_(make_temporary(file_, readers)) {}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!finished_ && place_ != file_) fs::remove(place_, ignored);
}

std::error_code AtomicFile::finish() {
  std::error_code error;
  if (place_ != file_) fs::rename(place_, file_, error);
  finished_ = !error;
  return error;
}

void write_whole(const fs::path& path, std::string_view bytes, const std::string& what, Readers readers) {
  AtomicFile unfinished(path, readers);
  errno = 0;
  std::ofstream file(unfinished.place(), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  int error = 0;
  if (!file || fault::strikes(fault::Kind::write, what.c_str())) {
    error = errno != 0 ? errno : EIO;
  } else {
    error = unfinished.finish().value();
  }
  if (error != 0) {
    throw Error(ExitCode::failed,
                "cannot write " + what + " '" + path.string() + "': " + std::strerror(error),
                "check the folder, its permissions and the space left");
  }
}

fs::path make_temporary(const fs::path& file, Readers readers) {
  if (is_of_system(file)) return file;
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::exists(status) && (!fs::is_regular_file(status) || access(file.c_str(), W_OK) != 0)) return file;
  for (;;) {
    fs::path part = with_random_suffix(file, "part");
    const int handle = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              readers == Readers::owner ? 0600 : 0666);
    if (handle >= 0) {
      ::close(handle);
      return part;
    }
    if (errno != EEXIST && errno != EINTR) return file;  // its writer reports the error, if there is one
  }
}

fs::path name_of_its_own(const fs::path& file) {
  return with_random_suffix(file, "tmp");
}

fs::path without_link(const fs::path& name) {
  std::error_code error;
  if (is_of_system(name) || !fs::is_symlink(name, error)) return name;
  fs::path file = fs::canonical(name, error);
  return error ? name : file;
}

}  // namespace sightline
