#include "opencl/program_cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/fnv.hpp"
#include "base/json_store.hpp"
#include "base/log.hpp"
#include "base/private_file.hpp"

namespace sightline::opencl {
namespace fs = std::filesystem;
namespace {

struct Header {
  char magic[8] = {'S', 'L', 'K', 'E', 'R', 'N', '0', '1'};
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
};

void warn_once(const fs::path& folder, const std::string& reason) {
  static std::atomic_flag warned = ATOMIC_FLAG_INIT;
  if (!warned.test_and_set()) {
    logger().warn("cannot use the kernel cache '{}' ({}): every start will build the kernels again",
                  folder.string(), reason);
  }
}

constexpr const char* kLoading = ".loading-";
constexpr const char* kRunning = ".running-";

// The key of an entry whose mark it is; empty for other files.
std::string key_of_mark(const std::string& name, const char* phase) {
  const std::size_t at = name.find(phase);
  return at == std::string::npos ? "" : name.substr(0, at);
}

// Whether no living process has the mark.
bool is_left_behind(const fs::path& mark) {
  const int descriptor = ::open(mark.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return is_free;
}

}  // namespace

bool CacheTrial::begin(Phase phase, const std::string& kernel) {
  if (phase == Phase::running && !tried_.insert(kernel).second) return false;
  if (lock_ >= 0 || folder_.empty()) return false;
  // Locked before it has a mark's name: one without a lock counts as left behind.
  const fs::path unnamed = name_of_its_own(folder_ / key_);
  const int lock = ::open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0) return false;
  const std::string suffix = unnamed.extension().string().substr(1);
  mark_ = folder_ / (key_ + (phase == Phase::loading ? kLoading : kRunning) + suffix);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0 || ::rename(unnamed.c_str(), mark_.c_str()) != 0) {
    ::unlink(unnamed.c_str());
    ::close(lock);
    return false;
  }
  lock_ = lock;
  return true;
}

void CacheTrial::end() noexcept {
  if (lock_ < 0) return;
  ::unlink(mark_.c_str());
  ::close(std::exchange(lock_, -1));
}

ProgramCache::ProgramCache(fs::path folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

fs::path ProgramCache::default_folder() {
  return cache_file("kernels");
}

std::string ProgramCache::key(const DeviceInfo& device, const std::string& source,
                              const std::string& options) {
  std::string text;
  for (const std::string& part :
       {device.platform, device.name, device.version, device.driver_version, source, options}) {
    text += part + '\0';
  }
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(fnv1a(text.data(), text.size())),
                static_cast<unsigned long long>(fnv1a(text.data(), text.size(), 0x9e3779b97f4a7c15ULL)));
  return name;
}

std::optional<std::vector<std::byte>> ProgramCache::load(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  if (!is_private()) return std::nullopt;
  end_failed_trials();
  const fs::path file = folder_ / key;
  std::string problem;
  const std::optional<std::string> bytes = read_private_file(file, limit_bytes_, problem);
  if (!bytes || fault::strikes(fault::Kind::open, "ProgramCache")) {
    if (!problem.empty()) {
      static std::atomic_flag warned = ATOMIC_FLAG_INIT;
      if (!warned.test_and_set())
        logger().warn("stored kernels '{}' are not used: {}; they are built again", file.string(), problem);
      remove(key);
    }
    return std::nullopt;
  }
  Header header;
  const Header expected;
  if (bytes->size() >= sizeof header) std::memcpy(&header, bytes->data(), sizeof header);
  if (fault::strikes(fault::Kind::read, "ProgramCache") || bytes->size() < sizeof header ||
      std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.size != bytes->size() - sizeof header ||
      fnv1a(bytes->data() + sizeof header, bytes->size() - sizeof header) != header.checksum) {
    remove(key);
    return std::nullopt;
  }
  std::vector<std::byte> binary(bytes->size() - sizeof header);
  std::memcpy(binary.data(), bytes->data() + sizeof header, binary.size());
  std::error_code error;
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);  // used: not to be evicted next
  return binary;
}

void ProgramCache::store(const std::string& key, const std::vector<std::byte>& binary) const {
  if (folder_.empty() || binary.empty()) return;
  std::error_code error;
  fs::create_directories(folder_.parent_path(), error);
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    error = {errno, std::generic_category()};
    return warn_once(folder_, error.message());
  }
  if (!is_private()) return;
  Header header;
  header.size = binary.size();
  header.checksum = fnv1a(binary.data(), binary.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(binary.data()), binary.size());
  try {
    write_whole(folder_ / key, bytes, "compiled kernels", Readers::owner);
  } catch (const Error& problem) {
    return warn_once(folder_, problem.what());
  }
  evict();
}

std::shared_ptr<CacheTrial> ProgramCache::trial(const std::string& key) const {
  return std::make_shared<CacheTrial>(folder_, key);
}

// Whether the folder is this user's alone. One that others could write to is emptied, and theirs no more.
bool ProgramCache::is_private() const {
  struct stat status {};
  const bool is_there = ::stat(folder_.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (!is_there) return true;  // it is still to be made
  const std::string problem = shared_because(folder_);
  if (problem.empty()) return true;
  if (status.st_uid != ::geteuid()) {
    warn_once(folder_, problem);
    return false;
  }
  logger().warn("the kernel cache '{}' is emptied: {}", folder_.string(), problem);
  if (::chmod(folder_.c_str(), status.st_mode & 0700) != 0) {
    warn_once(folder_, problem);
    return false;
  }
  clear();
  return true;
}

// Removes what processes may have died of.
void ProgramCache::end_failed_trials() const {
  std::error_code error;
  bool died_loading = false;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string loading = key_of_mark(name, kLoading), running = key_of_mark(name, kRunning);
    if ((loading.empty() && running.empty()) || !is_left_behind(entry->path())) continue;
    logger().info("a process died while it used the stored kernels '{}': they are built again",
                  (folder_ / (loading + running)).string());
    std::error_code ignored;
    fs::remove(entry->path(), ignored);
    remove(loading + running);
    died_loading = died_loading || !loading.empty();
  }
  if (died_loading) clear();
}

void ProgramCache::clear() const {
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    fs::remove(entry->path(), ignored);
  }
}

void ProgramCache::remove(const std::string& key) const {
  std::error_code error;
  fs::remove(folder_ / key, error);
}

void ProgramCache::evict() const {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder_, error)) {
    std::error_code gone;  // another process may be evicting too
    const Entry entry{file.last_write_time(gone), file.file_size(gone), file.path()};
    if (gone) continue;
    total += entry.size;
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_) break;
    fs::remove(entry.path, error);
    total -= entry.size;
  }
}

}  // namespace sightline::opencl
