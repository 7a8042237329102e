#pragma once
// Folders and files of a test's own.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sightline::test {

/// A new folder under the system's temporary one, removed with all that is in it when this object goes.
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

/// What is in a file; nothing where it cannot be read.
std::vector<char> load(const std::string& path);
std::string bytes_of(const std::filesystem::path& file);

/// The unfinished file of that name (AtomicFile, media::Writer); empty where there is none.
std::filesystem::path unfinished(const std::filesystem::path& file);

/// How many files and folders a folder holds.
std::size_t files_in(const std::filesystem::path& folder);

/// Makes a file, or writes one anew.
void store(const std::string& path, const std::vector<char>& bytes);
void store(const std::string& path, const std::string& text);

}  // namespace sightline::test
