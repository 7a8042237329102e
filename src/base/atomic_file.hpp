#pragma once
/// Files that have their name only once they are whole.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace sightline {

/// Read permission of a new file: everybody whom the umask allows, or its owner alone (personal data).
enum class Readers { all, owner };

/// When a new file gets its name: once it is whole, or at once (others read it while it grows).
enum class Naming { when_whole, at_once };

/// A file being written, through one descriptor from its creation to its end: whoever can write to the folder
/// cannot have the bytes go elsewhere by swapping names. Until `finish` it is called `NAME.part-` and eight
/// random hexadecimal digits, and it is removed where `finish` is never called. Links are resolved as
/// `without_link` says.
///
/// It is written under its own name, as `open_anew` does, where that is asked for, and where there is no
/// other way: it is no regular file (a pipe, a device, what /dev and /proc lead to), or lies in a folder that
/// takes no new file. Thread-safety: none.
class AtomicFile {
 public:
  /// Throws nothing for a file that cannot be made: `error` says why, as do all that follows.
  explicit AtomicFile(const std::filesystem::path& name, Readers readers = Readers::all,
                      Naming naming = Naming::when_whole);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The name until `finish`.
  const std::filesystem::path& place() const { return place_; }
  /// Whether that is another name than the file will have.
  bool is_unfinished() const { return place_ != file_; }
  /// Open for writing (a regular file for reading, too), for libraries that take descriptors; not to be
  /// closed. -1 where there is an error.
  int descriptor() const { return descriptor_; }
  /// Why the file could not be made.
  std::error_code error() const { return error_; }

  /// Appends, or writes from an offset on.
  std::error_code write(std::string_view bytes);
  std::error_code write_at(std::int64_t offset, std::string_view bytes);
  /// Closes the file and gives it its name. An error where that cannot be. Throws Error (failed) where the
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

/// An unguessable name beside a file's, to be made exclusively; the start of a long name is all that is kept
/// of it.
std::filesystem::path name_of_its_own(const std::filesystem::path& file);

/// The file that a link leads to. The name itself where it is no link, one of /dev or /proc, or a link of
/// another user in a folder that others can write to: nobody can tell who is to be harmed by it.
std::filesystem::path without_link(const std::filesystem::path& name);

}  // namespace sightline
