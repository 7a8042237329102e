#include "base/atomic_file.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
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

}  // namespace

AtomicFile::AtomicFile(const fs::path& name) : file_(without_link(name)), place_(temporary_name(file_)) {}

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

void write_whole(const fs::path& path, std::string_view bytes, const std::string& what) {
  AtomicFile unfinished(path);
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

fs::path temporary_name(const fs::path& file) {
  if (is_of_system(file)) return file;
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::exists(status) && (!fs::is_regular_file(status) || access(file.c_str(), W_OK) != 0)) return file;
  const fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
  if (access(folder.c_str(), W_OK) != 0) return file;
  fs::path part = file;
  return part += ".part";
}

fs::path name_of_its_own(const fs::path& file) {
  static std::atomic<unsigned> number{0};
  for (;;) {
    fs::path own = file;
    own += ".tmp" + std::to_string(getpid()) + "-" + std::to_string(number++);
    std::error_code ignored;
    if (!fs::exists(own, ignored)) return own;  // else a process of that number has left it
  }
}

fs::path without_link(const fs::path& name) {
  std::error_code error;
  if (is_of_system(name) || !fs::is_symlink(name, error)) return name;
  fs::path file = fs::canonical(name, error);
  return error ? name : file;
}

}  // namespace sightline
