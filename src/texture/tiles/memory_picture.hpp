#pragma once
/// Internal to src/tiles: pictures that are decoded as a whole.

#include <mutex>
#include <vector>

#include "frame/frame.hpp"
#include "media/decoded_picture.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {

/// A picture that FFmpeg decodes, in memory.
class MemoryPicture : public Picture {
 public:
  /// Throws Error (input) if the file is none.
  explicit MemoryPicture(const std::filesystem::path& file, const OpenOptions& options);
  std::vector<Damage> read(const Region& region, std::span<const Channel> channels,
                           std::span<const ImageView<std::uint8_t>> planes) override;

 private:
  std::vector<Damage> damage_;
  Frame frame_;
  media::SampleRange range_;  // range of samples of more than 8 bits, if given
  Image<std::uint8_t> luma_;
  std::once_flag rgb_once_;
  std::vector<std::uint8_t> rgb_;  // once a colour has been asked for
};

}  // namespace sightline::tiles
