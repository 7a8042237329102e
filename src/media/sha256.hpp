#pragma once
/// SHA-256 of bytes, by FFmpeg.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct AVSHA;

namespace sightline::media {

/// Thread-safety: one thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(const void* bytes, std::size_t count);
  /// The hash of all bytes; call it once, last.
  std::array<std::uint8_t, 32> digest();
  /// The same as 64 lower-case hexadecimal digits.
  std::string digits();

 private:
  struct Free {
    void operator()(AVSHA* state) const;
  };
  std::unique_ptr<AVSHA, Free> state_;
};

}  // namespace sightline::media
