#pragma once
/// Folders that have their name only once all is in them.

#include <sys/types.h>

#include <filesystem>

namespace sightline {

/// A folder that appears complete or not at all. It is filled at `place()`, next to its final name; `finish`
/// renames it. Without `finish`, the destructor deletes it with its contents. Thread-safety: none.
class AtomicFolder {
 public:
  /// Makes the place; the folder around it must be there.
  /// @param replaces  replaces an existing object of that name; otherwise an existing one is an Error, except
  /// for an empty folder Throws Error (failed) if there is something of that name, or no folder can be made.
  AtomicFolder(const std::filesystem::path& name, bool replaces);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& place() const { return place_; }
  /// To be called when all files are written and closed. Throws Error (failed) if the name cannot be
  /// given, or the place has gone or is another folder.
  void finish();

 private:
  bool is_in_place() const;

  std::filesystem::path name_;
  std::filesystem::path place_;
  bool replaces_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace sightline
