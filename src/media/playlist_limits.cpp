#include "media/playlist_limits.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sightline::media {

constexpr std::string_view kSignature = "#EXTM3U";

bool PlaylistLimits::allows(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kLongest = 16;  // longest start of a tag
  constexpr int kMostSegments = 200'000;
  constexpr int kMostOthers = 100;
  for (const std::uint8_t byte : bytes) {
    if (kind_ == Kind::other) return true;
    if (byte == '\n' || byte == '\r') {
      end_line();
    } else if (line_.size() < kLongest) {
      line_ += static_cast<char>(byte);
    }
    if (kind_ == Kind::unknown && line_.size() == kSignature.size())
      kind_ = line_ == kSignature ? Kind::playlist : Kind::other;
    if (segments_ > kMostSegments || others_ > kMostOthers) return false;
  }
  return true;
}

void PlaylistLimits::end_line() {
  const std::string_view line = line_;
  constexpr std::array<std::string_view, 4> kOthers{"#EXT-X-STREAM-I", "#EXT-X-I-FRAME",
                                                    "#EXT-X-MEDIA:", "#EXT-X-MAP"};
  if (kind_ == Kind::unknown) kind_ = Kind::other;
  if (line.starts_with("#EXTINF")) ++segments_;
  if (std::ranges::any_of(kOthers, [&](std::string_view tag) { return line.starts_with(tag); })) ++others_;
  line_.clear();
}

}  // namespace sightline::media
