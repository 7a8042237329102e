#pragma once
/// Digest of a frame's objects: a number that is equal on every machine and device.

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "frame/frame_result.hpp"
#include "media/sha256.hpp"

namespace sightline::pipeline {

/// The first 16 bytes of the SHA-256 over, for each object in order and in little-endian byte order: x, y,
/// width and height (64-bit floats), score (32-bit float), label (its UTF-8 text and a zero byte), and x, y
/// and confidence of each landmark (32-bit floats). An object whose label has no name has an empty one.
/// @param labels  names of Detection::label
std::array<std::uint8_t, 16> digest_of(std::span<const Detection> objects,
                                       const std::vector<std::string>& labels);

/// Digest of all frames of an input: of a single frame, that of its objects; of several, the first 16 bytes
/// of the SHA-256 over the digests of all frames in their order. Thread-safety: one thread at a time.
class RunDigest {
 public:
  void add(const std::array<std::uint8_t, 16>& frame);
  /// Call it once, last.
  std::array<std::uint8_t, 16> digest();

 private:
  media::Sha256 hash_;
  std::array<std::uint8_t, 16> last_{};
  std::int64_t frames_ = 0;
};

/// As 32 lower-case hexadecimal digits.
std::string digits_of(const std::array<std::uint8_t, 16>& digest);

/// The confidence of a landmark in digests and in other languages: unknown.
inline constexpr float kLandmarkConfidence = std::numeric_limits<float>::quiet_NaN();

}  // namespace sightline::pipeline
