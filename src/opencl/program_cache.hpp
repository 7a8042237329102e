#pragma once
/// Built kernels on disk, so that only the first start of a program waits for the compiler.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "opencl/device.hpp"

namespace sightline::opencl {

/// One file a program, named by a hash of everything the binary depends on: platform, device, driver version,
/// source and options. Entries carry a checksum; a damaged one counts as absent. Writing goes through a
/// temporary name, so any number of processes may share a folder. When the folder grows past the limit, the
/// entries unused longest go.
///
/// A cache that cannot be read or written is no error: kernels are built again, and one warning says why.
/// Thread-safety: any thread; different processes too.
class ProgramCache {
 public:
  explicit ProgramCache(std::filesystem::path folder, std::uint64_t limit_bytes = std::uint64_t{128} << 20);

  /// $XDG_CACHE_HOME/sightline/kernels, or ~/.cache/...; empty if neither is known.
  static std::filesystem::path default_folder();

  static std::string key(const DeviceInfo& device, const std::string& source, const std::string& options);

  std::optional<std::vector<std::byte>> load(const std::string& key) const;
  void store(const std::string& key, const std::vector<std::byte>& binary) const;
  void remove(const std::string& key) const;

 private:
  void evict() const;
  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
};

}  // namespace sightline::opencl
