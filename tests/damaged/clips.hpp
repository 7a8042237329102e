#pragma once
// Small videos and pictures of many kinds, made with the ffmpeg program: what is then damaged.

#include <cstdint>
#include <string>
#include <vector>

namespace sightline::damaged {

using Bytes = std::vector<std::uint8_t>;

struct Clip {
  std::string name;  ///< with the extension, for example "h264.mp4"
  Bytes bytes;
  int width = 0;
  int height = 0;
};

/// One of each kind that this machine's ffmpeg can make. Throws std::runtime_error where it can make none.
/// @param folder  for temporary files
std::vector<Clip> make_clips(const std::string& folder);

/// Runs ffmpeg with what follows its general options. Returns whether it did what it was told.
bool run_ffmpeg(const std::vector<std::string>& arguments);

}  // namespace sightline::damaged
