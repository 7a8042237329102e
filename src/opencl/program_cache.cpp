#include "opencl/program_cache.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/fnv.hpp"
#include "base/json_store.hpp"

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
    spdlog::warn("cannot use the kernel cache '{}' ({}): every start will build the kernels again",
                 folder.string(), reason);
  }
}

}  // namespace

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
  const fs::path file = folder_ / key;
  std::ifstream stream(file, std::ios::binary);
  if (!stream || fault::strikes(fault::Kind::open, "ProgramCache")) return std::nullopt;
  // Size of the open file, since its name may belong to another file by now.
  stream.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(stream.tellg());
  stream.seekg(0);
  Header header;
  const Header expected;
  if (size < sizeof header || !stream.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.size != size - sizeof header) {
    remove(key);
    return std::nullopt;
  }
  std::vector<std::byte> binary(header.size);
  if (fault::strikes(fault::Kind::read, "ProgramCache") ||
      !stream.read(reinterpret_cast<char*>(binary.data()), static_cast<std::streamsize>(binary.size())) ||
      fnv1a(binary.data(), binary.size()) != header.checksum) {
    remove(key);
    return std::nullopt;
  }
  std::error_code error;
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);  // used: not to be evicted next
  return binary;
}

void ProgramCache::store(const std::string& key, const std::vector<std::byte>& binary) const {
  if (folder_.empty() || binary.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return warn_once(folder_, error.message());
  Header header;
  header.size = binary.size();
  header.checksum = fnv1a(binary.data(), binary.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(binary.data()), binary.size());
  try {
    write_whole(folder_ / key, bytes, "compiled kernels");
  } catch (const Error& problem) {
    return warn_once(folder_, problem.what());
  }
  evict();
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
