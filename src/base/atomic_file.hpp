#pragma once
/// Files that have their name only once they are whole.

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace sightline {

/// A file on its way: it is written at `place()`, has its name once `finish` has given it, and goes without a
/// trace where `finish` is never called. What is no regular file is written directly; see `temporary_name`.
/// Thread-safety: none.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& name);
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
void write_whole(const std::filesystem::path& path, std::string_view bytes, const std::string& what);

/// Where a file is written until it is whole, to be renamed then: beside its place, as `NAME.part`. The place
/// itself where that cannot be: for what is no regular file (a pipe, a device, what /dev and /proc lead to),
/// may not be written, or lies in a folder that takes no new file. Where the name is a link to a file, that
/// file counts; see `without_link`.
std::filesystem::path temporary_name(const std::filesystem::path& file);

/// A name beside a file's for a writer of its own: no other process and no other call gets the same one. For
/// what several may write at once (a cache, a model), of whom the last to rename wins.
std::filesystem::path name_of_its_own(const std::filesystem::path& file);

/// The file that a link leads to; the name itself where it is none, or one of /dev or /proc.
std::filesystem::path without_link(const std::filesystem::path& name);

}  // namespace sightline
