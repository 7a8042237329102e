#include "training/cached_images.hpp"

#include <algorithm>

namespace sightline::training {
namespace {

Image<std::uint8_t> copy(GrayView picture) {
  Image<std::uint8_t> result(picture.width(), picture.height());
  for (int y = 0; y < picture.height(); ++y)
    std::copy_n(picture.row(y), picture.width(), result.view().row(y));
  return result;
}

}  // namespace

Image<std::uint8_t> CachedImages::load(std::size_t index) const {
  std::shared_ptr<const Image<std::uint8_t>> kept;
  {
    const std::lock_guard lock(mutex_);
    kept = kept_[index];
  }
  if (kept) return copy(kept->view());
  Image<std::uint8_t> picture = pictures_.load(index);
  const std::size_t bytes =
      static_cast<std::size_t>(picture.width()) * static_cast<std::size_t>(picture.height());
  if (bytes_.fetch_add(bytes) + bytes > most_bytes_) {
    bytes_ -= bytes;
    return picture;
  }
  kept = std::make_shared<const Image<std::uint8_t>>(copy(picture.view()));
  const std::lock_guard lock(mutex_);
  kept_[index] = std::move(kept);
  return picture;
}

}  // namespace sightline::training
