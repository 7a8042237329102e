#pragma once
/// Files in folders that other users can write to: nothing there is trusted.

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace sightline {

/// Opens a regular file below a folder. Links are followed neither at its name nor at the folders between,
/// and a FIFO or a device is not waited for. A file to be written must have one name only.
/// @param flags  of open(2); O_CREAT makes a file with mode 0666
/// @return the descriptor, to be closed
/// Throws Error (failed) where it cannot be opened or is something else.
int open_below(const std::filesystem::path& folder, const std::filesystem::path& name, int flags);

/// Such a file, open for reading. Thread-safety: none.
class SharedFile {
 public:
  /// @param file  its folder may be reached through links; the file itself may be none
  explicit SharedFile(const std::filesystem::path& file);
  /// @param name  relative to the folder
  SharedFile(const std::filesystem::path& folder, const std::filesystem::path& name);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  const struct stat& status() const { return status_; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(status_.st_size); }
  /// Bytes [offset, offset + size). Throws Error (failed) where the file ends before.
  std::string read(std::uint64_t offset, std::uint64_t size) const;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  struct stat status_ {};
};

/// Whether there is a regular file of that name. Throws Error (failed) for anything else that has it, such as
/// a link or a FIFO, and for a folder that may not be searched.
bool has_regular_file(const std::filesystem::path& file);

}  // namespace sightline
