#pragma once
// Folders and files of a test's own.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sightline::test {

/// A new folder under the system's temporary one; the destructor removes it with its content.
class TempDir {
 public:
  /// @throws std::runtime_error where none can be made
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  /// The path of a file in it, which need not be there.
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Content of a file; empty if it cannot be read.
std::vector<char> load(const std::string& path);
std::string bytes_of(const std::filesystem::path& file);

/// The unfinished file of that name (AtomicFile, media::Writer); empty if there is none.
std::filesystem::path unfinished(const std::filesystem::path& file);

/// Number of files and folders in a folder.
std::size_t files_in(const std::filesystem::path& folder);

/// Creates or replaces a file.
void store(const std::string& path, const std::vector<char>& bytes);
void store(const std::string& path, const std::string& text);

}  // namespace sightline::test
