#pragma once
/// Internal to src/tiles: TIFF pictures that libtiff decodes as a whole, to convert their colours.

#include <mutex>

#include "image/turn.hpp"
#include "texture/tiles/picture.hpp"
#include "texture/tiles/tiff_file.hpp"

namespace sightline::tiles {

/// A page with luma and chroma outside of JPEG, the colours of print, or CIE Lab: decoded at the first read,
/// and kept in memory.
class WholeTiff : public Picture {
 public:
  /// Whether libtiff converts the page's kind.
  static bool reads(const std::filesystem::path& file, int page);

  /// @throws Error (input) if the file cannot be opened
  WholeTiff(const std::filesystem::path& file, int page);
  Turn turn() const { return turn_; }
  std::vector<Damage> read(const Region& region, std::span<const Channel> channels,
                           std::span<const ImageView<std::uint8_t>> planes) override;

 private:
  void decode();

  TiffFile tiff_;
  const Turn turn_;  // from the tag Orientation
  std::once_flag once_;
  std::vector<std::uint32_t> pixels_;  // in libtiff's packing; empty if they cannot be decoded
  std::vector<Damage> damage_;
};

}  // namespace sightline::tiles
