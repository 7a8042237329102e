#pragma once
/// Downloads of files whose size and checksum are known beforehand.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace sightline::media {

struct Download {
  std::string name;  ///< for messages
  std::string url;   ///< HTTPS, or HTTP where `may_be_plain`
  std::uint64_t bytes = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  bool may_be_plain = false;
  std::chrono::milliseconds patience{60'000};  ///< longest wait without data
};

/// Downloads a file, which has its name only once its size and checksum are right; otherwise nothing is left.
/// Makes the file's folder. Redirects stay on the host, and do not turn from HTTPS to HTTP. Proxies are those
/// of the environment (https_proxy, no_proxy).
/// @param stopped   whether to give up; asked every 50 ms or more often
/// @param progress  called with the number of bytes so far
/// Throws Error (failed).
void download(const Download& wanted, const std::filesystem::path& file, const std::function<bool()>& stopped,
              const std::function<void(std::uint64_t)>& progress);

/// SHA-256 of a file's content, as 64 lower-case hexadecimal digits. Throws Error (input) if it cannot be
/// read.
std::string sha256_of(const std::filesystem::path& file);

}  // namespace sightline::media
