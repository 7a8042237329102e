#pragma once
/// Exact comparison of results with stored ones.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace sightline::apps {

/// Exit code of a run whose results differ from stored ones.
inline constexpr int kResultsDiffer = 6;

/// Stored results (`jsonl`, `json`), and how others differ from them.
///
/// Frames belong together if they have the same number, or the same picture's name, in sources of the same
/// name. Folders of sources do not count, so that results can be compared from anywhere. All other fields
/// must be equal, without tolerance. A digest is compared where both frames have one. Thread-safety: one
/// thread at a time.
class ResultComparison {
 public:
  /// Throws Error (input) for a file that cannot be read, or holds anything but frames of results.
  /// @param found_name  name of the results that are compared, for the text
  ResultComparison(const std::string& file, std::string found_name);

  /// Compares a frame, a line of `jsonl`, with the stored one.
  /// @param place  line of a file, for the error; 0: none
  void compare(const std::string& line, std::size_t place = 0);
  /// Compares all frames of a file. Throws as the constructor.
  void compare_file(const std::string& file);
  /// Stored frames that were not compared are missing. Call it once, last.
  void finish();

  /// Whether stored frames have digests.
  bool has_digests() const { return has_digests_; }
  bool is_same() const { return !first_; }
  /// "3 of 250 frames differ", and the first difference in the order of the stored frames; lines.
  std::string text() const;

 private:
  using Key = std::tuple<std::string, std::string, std::int64_t>;  ///< source, picture, number
  struct Stored {
    std::string line;
    std::size_t place;  ///< among all stored frames, from 1
  };
  struct Difference {
    std::size_t place;
    std::string where, expected, found;
  };
  void note(Difference difference);

  std::string file_, found_name_;
  std::map<Key, std::deque<Stored>> stored_;
  bool has_digests_ = false;
  std::size_t last_place_ = 0;  ///< of the stored frames that were compared
  std::int64_t frames_ = 0;     ///< in either
  std::int64_t differing_ = 0, missing_ = 0, extra_ = 0;
  std::optional<Difference> first_;
};

}  // namespace sightline::apps
