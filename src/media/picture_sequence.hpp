#pragma once
/// Internal to src/media: numbered pictures, as in `frame-%04d.png`.

#include <cstdint>
#include <optional>
#include <string>

namespace sightline::media {

/// Numbers of the files that a pattern fits.
struct PictureSequence {
  std::int64_t first = 0;
  std::int64_t end = 0;      ///< the first number from `first` on that no file has
  std::int64_t further = 0;  ///< files with higher numbers than `end`
};

/// None if no file fits, or the pattern has other parts than one %d in the file's name.
std::optional<PictureSequence> find_sequence(const std::string& pattern);

}  // namespace sightline::media
