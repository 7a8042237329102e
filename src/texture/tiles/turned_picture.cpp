#include "texture/tiles/turned_picture.hpp"

#include <utility>

namespace sightline::tiles {
namespace {

Region transposed(const Region& region) {
  return {region.y, region.x, region.height, region.width};
}

}  // namespace

TurnedPicture::TurnedPicture(std::unique_ptr<Picture> stored, Turn turn)
    : stored_(std::move(stored)), turn_(turn) {
  info_ = stored_->info();
  if (!turn.transpose) return;
  std::swap(info_.width, info_.height);
  std::swap(info_.block.width, info_.block.height);
}

// Maps a region of the upright picture; its own inverse.
Region TurnedPicture::mirrored(Region region) const {
  if (turn_.mirror_columns) region.x = info_.width - region.x - region.width;
  if (turn_.mirror_rows) region.y = info_.height - region.y - region.height;
  return region;
}

Region TurnedPicture::stored_region(const Region& region) const {
  return turn_.transpose ? transposed(mirrored(region)) : mirrored(region);
}

Region TurnedPicture::upright_region(const Region& stored) const {
  return mirrored(turn_.transpose ? transposed(stored) : stored);
}

std::vector<Damage> TurnedPicture::read(const Region& region, std::span<const Channel> channels,
                                        std::span<const ImageView<std::uint8_t>> planes) {
  const Region where = stored_region(region);
  std::vector<Image<std::uint8_t>> parts;
  std::vector<ImageView<std::uint8_t>> views;
  parts.reserve(channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i)
    views.push_back(parts.emplace_back(where.width, where.height).view());
  std::vector<Damage> damage = stored_->read(where, channels, views);
  for (std::size_t i = 0; i < channels.size(); ++i)
    turn_pixels({views[i].data(), views[i].stride(), views[i].size(), 1}, turn_, planes[i].data(),
                planes[i].stride());
  for (Damage& part : damage) part.where = upright_region(part.where);
  return damage;
}

}  // namespace sightline::tiles
