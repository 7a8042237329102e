#pragma once
/// Internal to src/tiles: a picture stored sideways, upside down or mirrored.

#include <memory>

#include "image/turn.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {

/// The upright picture: each region is read where it is stored, and turned.
class TurnedPicture : public Picture {
 public:
  TurnedPicture(std::unique_ptr<Picture> stored, Turn turn);
  std::vector<Damage> read(const Region& region, std::span<const Channel> channels,
                           std::span<const ImageView<std::uint8_t>> planes) override;

 private:
  Region mirrored(Region region) const;
  Region stored_region(const Region& region) const;
  Region upright_region(const Region& stored) const;

  const std::unique_ptr<Picture> stored_;
  const Turn turn_;
};

}  // namespace sightline::tiles
