#pragma once
/// Built kernels on disk, so that only the first start of a program waits for the compiler.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "opencl/device.hpp"

namespace sightline::opencl {

/// One file a program, named by a hash of everything the binary depends on: platform, device, driver version,
/// source and options. Entries carry a checksum; a damaged one counts as absent. Writing goes through a
/// temporary name, so any number of processes may share a folder. When the folder grows past the limit, the
/// entries unused longest go.
///
/// Binaries are native code, and drivers trust them: entries that another user may have written are removed,
/// and a folder of another user is not used. An entry that a process died of is not loaded again: see
/// `CacheTrial`.
///
/// A cache that cannot be read or written is no error: kernels are built again, and one warning says why.
/// Thread-safety: any thread; different processes too.
class CacheTrial;

class ProgramCache {
 public:
  explicit ProgramCache(std::filesystem::path folder, std::uint64_t limit_bytes = std::uint64_t{128} << 20);

  /// $XDG_CACHE_HOME/sightline/kernels, or ~/.cache/...; empty if neither is known.
  static std::filesystem::path default_folder();

  static std::string key(const DeviceInfo& device, const std::string& source, const std::string& options);

  std::optional<std::vector<std::byte>> load(const std::string& key) const;
  void store(const std::string& key, const std::vector<std::byte>& binary) const;
  void remove(const std::string& key) const;
  /// A trial of an entry that has been loaded.
  std::shared_ptr<CacheTrial> trial(const std::string& key) const;

 private:
  bool is_private() const;
  void end_failed_trials() const;
  void clear() const;
  void evict() const;
  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
};

/// Marks an entry on disk while its binary is tried: while the driver loads it, and from the first launch of
/// its kernels until that has ended well. Where the mark outlives its process, the binary may have been the
/// reason: the next `load` of any process removes the entry, or all entries if the process died while
/// loading. A mark that cannot be made is no error. Thread-safety: one thread at a time.
class CacheTrial {
 public:
  enum class Phase { loading, running };

  CacheTrial(std::filesystem::path folder, std::string key)
      : folder_(std::move(folder)), key_(std::move(key)) {}
  ~CacheTrial() { end(); }
  CacheTrial(const CacheTrial&) = delete;
  CacheTrial& operator=(const CacheTrial&) = delete;

  /// Does nothing during a trial, and where the kernel's first launch has had one. @return whether one begins
  bool begin(Phase phase, const std::string& kernel = "");
  void end() noexcept;

 private:
  std::filesystem::path folder_;
  std::string key_;
  std::filesystem::path mark_;
  int lock_ = -1;                ///< the mark, locked as long as this process lives
  std::set<std::string> tried_;  ///< kernels
};

}  // namespace sightline::opencl
