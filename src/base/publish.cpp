#include "base/publish.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/shared_file.hpp"

namespace sightline {
namespace fs = std::filesystem;

namespace {

// Whether the data are on the disk.
bool sync_path(const fs::path& path, int flags) {
  const int handle = ::open(path.c_str(), flags | O_CLOEXEC);
  if (handle < 0) return false;
  bool synced = ::fsync(handle) == 0;
  int error = errno;
  if (fault::strikes(fault::Kind::write, "fsync")) {
    synced = false;
    error = EIO;
  }
  // Network file systems report a full disk only here.
  const bool closed = ::close(handle) == 0;
  if (!synced) errno = error;
  return synced && closed;
}

// Returns 0, or errno. Servers may answer a repeated request with an error although the first one has
// succeeded.
int name_once(const fs::path& temporary, const fs::path& final) {
  int error = EPERM;
  if (!fault::strikes(fault::Kind::write, "link"))
    error = ::link(temporary.c_str(), final.c_str()) == 0 ? 0 : errno;
  std::error_code ignored;
  if (error == 0 || fs::equivalent(temporary, final, ignored)) return 0;
  const bool has_no_links = error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK;
  if (!has_no_links) return error;
  return ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

}  // namespace

Published publish(const fs::path& temporary, const fs::path& final,
                  const std::function<bool(const fs::path&, const fs::path&)>& same) {
  int error = sync_path(temporary, O_RDONLY) ? name_once(temporary, final) : errno;
  Published outcome = Published::first;
  if (error == EEXIST) {
    outcome = same(temporary, final) ? Published::same : Published::differs;
    error = 0;
  }
  if (outcome != Published::differs) ::unlink(temporary.c_str());
  if (error == EINVAL || error == EPERM || error == EOPNOTSUPP) {
    throw Error(ExitCode::failed, "cannot name '" + final.string() + "': the file system has no hard links",
                "use a folder on another file system");
  }
  if (error != 0) {
    throw Error(ExitCode::failed, "cannot write '" + final.string() + "': " + std::strerror(error),
                "check the folder, its permissions and the space left");
  }
  sync_path(final.parent_path(), O_RDONLY | O_DIRECTORY);  // not all file systems can
  return outcome;
}

bool equal_files(const fs::path& a, const fs::path& b) {
  constexpr std::uint64_t kBlock = 1 << 16;
  const SharedFile one(a), other(b);
  if (one.size() != other.size()) return false;
  for (std::uint64_t place = 0; place < one.size(); place += kBlock) {
    const std::uint64_t size = std::min(kBlock, one.size() - place);
    if (one.read(place, size) != other.read(place, size)) return false;
  }
  return true;
}

std::string machine_name() {
  std::array<char, 256> name{};
  // Several nodes of a cluster may run on one host.
  if (const char* const node = std::getenv("SLURMD_NODENAME"); node && *node) return node;
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == 0) return "unknown";
  return name.data();
}

fs::path temporary_name(const fs::path& file, const std::string& suffix) {
  std::string machine = machine_name();
  std::ranges::replace(machine, '/', '_');
  return file.string() + fmt::format(".{}-{}-{:08x}.{}", machine, ::getpid(), std::random_device()(), suffix);
}

}  // namespace sightline
