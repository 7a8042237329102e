#include "training/augmented_images.hpp"

#include <utility>

#include "base/random.hpp"
#include "training/augmentation.hpp"

namespace sightline::training {
namespace {

// Streams of random numbers, far apart, so that no two of a trainer's draws are alike.
constexpr std::uint64_t kNegativeStream = 0x4D000000;
constexpr std::uint64_t kPositiveStream = 0x56000000;

}  // namespace

Image<std::uint8_t> AugmentedNegatives::load(std::size_t index) const {
  Image<std::uint8_t> picture = pictures_.load(index % pictures_.size());
  if (index < pictures_.size()) return picture;
  Random random(seed_, kNegativeStream + index);
  if (index < 2 * pictures_.size()) {
    mirror(picture.view());
    if (roughness_.blur > 0 || roughness_.grain > 0) roughen(picture.view(), roughness_, random);
    return picture;
  }
  return enlarge(std::as_const(picture).view(), random);
}

std::size_t AugmentedPositives::size() const {
  const int copies = 1 + augmentation_.jittered_copies + augmentation_.occluded_copies;
  return pictures_.size() * static_cast<std::size_t>(copies);
}

Image<std::uint8_t> AugmentedPositives::load(std::size_t index) const {
  const std::size_t original = index % pictures_.size();
  const std::size_t copy = index / pictures_.size();
  Image<std::uint8_t> picture = pictures_.load(original);
  if (copy == 0) return picture;
  Random random(augmentation_.seed, kPositiveStream + index);
  if (copy > static_cast<std::size_t>(augmentation_.jittered_copies)) {
    const auto other = static_cast<std::size_t>(random.below(pictures_.size()));
    Box object = augmentation_.object;
    object.x += (picture.width() - augmentation_.window.width) / 2;
    object.y += (picture.height() - augmentation_.window.height) / 2;
    const Image<std::uint8_t> in_front = pictures_.load(other);
    occlude(picture.view(), in_front.view(), object, random);
  }
  return jitter(std::as_const(picture).view(), random);
}

}  // namespace sightline::training
