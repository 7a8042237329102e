#pragma once
/// Files that have their name only once they are whole.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace sightline {

/// Read permission of a new file: as the umask allows, or the owner only (personal data).
enum class Readers { all, owner };

/// When a new file gets its name: once it is whole, or at once (others read it while it grows).
enum class Naming { when_whole, at_once };

/// A file written through one descriptor from creation to end, so that other users of the folder cannot
/// redirect the bytes by swapping names. Until `finish` its name is `NAME.part-` and eight random hexadecimal
/// digits; without `finish`, it is removed. Links are resolved by `without_link`.
///
/// It is written under its own name, as `open_anew` does, where that is asked for, and where there is no
/// other way: it is no regular file (a pipe, a device, what /dev and /proc lead to), or lies in a folder that
/// takes no new file. Thread-safety: none.
class AtomicFile {
 public:
  /// Does not throw if the file cannot be made: `error` and the later calls report the reason.
  explicit AtomicFile(const std::filesystem::path& name, Readers readers = Readers::all,
                      Naming naming = Naming::when_whole);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The name until `finish`.
  const std::filesystem::path& place() const { return place_; }
  /// True while the file has a temporary name.
  bool is_unfinished() const { return place_ != file_; }
  /// Open for writing (a regular file for reading, too), for libraries that take descriptors; not to be
  /// closed. -1 where there is an error.
  int descriptor() const { return descriptor_; }
  /// Why the file could not be made.
  std::error_code error() const { return error_; }

  /// Appends, or writes from an offset on.
  std::error_code write(std::string_view bytes);
  std::error_code write_at(std::int64_t offset, std::string_view bytes);
  /// Closes the file and gives it its name. An error where that cannot be. Throws Error (failed) if the
  /// unfinished file has gone or is another one.
  std::error_code finish();
  /// The unfinished file stays under its name.
  void keep() { kept_ = true; }

 private:
  bool make_unfinished(Readers readers);
  bool is_in_place() const;

  std::filesystem::path file_;
  std::filesystem::path place_;
  int descriptor_ = -1;
  std::error_code error_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool kept_ = false;
};

/// Writes a whole file, which has its name once all is in it.
/// @param what  the file is, for messages: "report"
/// Throws Error (failed) with the path and the system's reason.
void write_whole(const std::filesystem::path& path, std::string_view bytes, const std::string& what,
                 Readers readers = Readers::all);

/// Opens a file under its own name for writing, empty. A link that others planted is not followed, and a file
/// that has several names is replaced, not emptied. @return -1 and errno where that cannot be
int open_anew(const std::filesystem::path& name, Readers readers = Readers::all);

/// An unguessable name next to the file's, for exclusive creation. Long names are shortened.
std::filesystem::path name_of_its_own(const std::filesystem::path& file);

/// The target of a link. Returns the name itself if it is no link, a link in /dev or /proc, or another user's
/// link in a folder that others can write to, since such a link may be an attack.
std::filesystem::path without_link(const std::filesystem::path& name);

}  // namespace sightline
