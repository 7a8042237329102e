#pragma once
/// Files that have their name only once they are whole.

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace sightline {

/// Read permission of a new file: everybody whom the umask allows, or its owner alone (personal data).
enum class Readers { all, owner };

/// An unfinished file: it is written at `place()`, takes its name in `finish`, and is removed where `finish`
/// is never called. What is no regular file is written directly; see `make_temporary`. Thread-safety: none.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& name, Readers readers = Readers::all);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& place() const { return place_; }
  /// To be called when all is written and closed. An error where the name cannot be given.
  std::error_code finish();

 private:
  std::filesystem::path file_;
  std::filesystem::path place_;
  bool finished_ = false;
};

/// Writes a whole file, which has its name once all is in it.
/// @param what  the file is, for messages: "report"
/// Throws Error (failed) with the path and the system's reason.
void write_whole(const std::filesystem::path& path, std::string_view bytes, const std::string& what,
                 Readers readers = Readers::all);

/// Makes an empty file to write to until all is there, and to rename then: `NAME.part-` and eight random
/// hexadecimal digits, in the same folder. Nobody can guess the name and plant a link there, and one that is
/// there is not followed. Returns the file itself where it must be written directly: it is no regular file (a
/// pipe, a device, what /dev and /proc lead to), may not be written, or lies in a folder that takes no new
/// file. Where the name is a link to a file, that file counts; see `without_link`.
std::filesystem::path make_temporary(const std::filesystem::path& file, Readers readers = Readers::all);

/// An unguessable name beside a file's, to be made exclusively.
std::filesystem::path name_of_its_own(const std::filesystem::path& file);

/// The file that a link leads to; the name itself where it is none, or one of /dev or /proc.
std::filesystem::path without_link(const std::filesystem::path& name);

}  // namespace sightline
