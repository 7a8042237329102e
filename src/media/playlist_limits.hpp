#pragma once
/// Internal to src/media: how much an HLS playlist may name.

#include <cstdint>
#include <span>
#include <string>

namespace sightline::media {

/// Counts the entries of a playlist while its bytes pass. FFmpeg's time grows with the square of the
/// variants, and a line of a few bytes takes kilobytes of memory.
class PlaylistLimits {
 public:
  /// To be called for all bytes in their order. False where the playlist names more than 100 variants,
  /// renditions and initialisation parts, or more than 200,000 segments. Bytes that are no playlist are not
  /// looked at.
  bool allows(std::span<const std::uint8_t> bytes);

 private:
  enum class Kind { unknown, playlist, other };
  void end_line();

  Kind kind_ = Kind::unknown;
  std::string line_;  ///< its first characters
  int others_ = 0;
  int segments_ = 0;
};

}  // namespace sightline::media
