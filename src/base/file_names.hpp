#pragma once
/// Names for successive files that never replace an existing file.

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

namespace sightline {

/// Expands a pattern: the conversions of strftime for the local time (`%Y%m%d-%H%M%S`), and `%f` for the
/// number of a frame with six digits or more. "%%" is a percent sign, which becomes "_": writers of videos
/// and pictures would take it for a place to put a number in.
std::string expand_pattern(const std::string& pattern, std::int64_t time, std::int64_t frame = 0);

/// Makes names from the user's pattern:
/// - a plain name (`live.mp4`): that, then `live-001.mp4`, `live-002.mp4`...; numbered from the first where
///   `numbered` says so. Numbering goes on after the highest that is there.
/// - a pattern with conversions (see expand_pattern; in folders too, which are then made): expanded for each
///   file; `-001`... behind it where the name is taken.
/// - a folder, or a name that ends with a slash: `default_name` in it.
/// A name once given out is not given out again, even if the file is gone.
/// Thread-safety: all functions may be called from any thread.
class FileNames {
 public:
  FileNames(const std::string& wish, const std::string& default_name, bool numbered);

  /// Reserves the next free name by creating an empty file. Devices and named pipes are used as they are.
  /// @throws Error (failed) if the file cannot be created
  std::string reserve(std::int64_t frame = 0);

  /// A name such as `reserve` would give, of the same extension.
  std::string example() const;

 private:
  bool create(const std::filesystem::path& file) const;
  [[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) const;

  std::string pattern_;
  bool numbered_ = false;
  bool makes_folders_ = false;
  mutable std::mutex mutex_;
  std::string last_;  // the name before its number
  std::int64_t last_number_ = 0;
};

}  // namespace sightline
