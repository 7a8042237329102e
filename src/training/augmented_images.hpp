#pragma once
/// Image sets together with variants of their pictures (augmentation.hpp). A variant depends on its index and
/// the seed alone, so it is made again whenever it is loaded and takes no memory.

#include <cstdint>

#include "image/box.hpp"
#include "training/augmentation.hpp"
#include "training/image_set.hpp"

namespace sightline::training {

/// Negative pictures, then `copies` variants of all of them: mirrored and roughened in the first round,
/// enlarged (and mirrored at random) from the second on. The pictures must outlive it.
class AugmentedNegatives : public ImageSet {
 public:
  AugmentedNegatives(const ImageSet& pictures, int copies, std::uint64_t seed,
                     const Roughness& roughness = {})
      : pictures_(pictures), copies_(static_cast<std::size_t>(copies)), seed_(seed), roughness_(roughness) {}
  std::size_t size() const override { return pictures_.size() * (1 + copies_); }
  Image<std::uint8_t> load(std::size_t index) const override;
  std::string name(std::size_t index) const override { return pictures_.name(index % pictures_.size()); }

 private:
  const ImageSet& pictures_;
  std::size_t copies_;
  std::uint64_t seed_;
  Roughness roughness_;
};

/// Number of variants of each positive, and their parameters.
struct PositiveAugmentation {
  int jittered_copies = 0;  ///< see jitter()
  int occluded_copies = 0;  ///< covered by another picture's object, see occlude(), then jittered
  Size window;              ///< size of the object's window in the middle of every picture, in pixels
  Box object;               ///< inside that window
  std::uint64_t seed = 1;
};

/// Pictures of one object each, then the jittered variants of all of them, then the occluded ones. The
/// pictures must outlive it.
class AugmentedPositives : public ImageSet {
 public:
  AugmentedPositives(const ImageSet& pictures, const PositiveAugmentation& augmentation)
      : pictures_(pictures), augmentation_(augmentation) {}
  std::size_t size() const override;
  Image<std::uint8_t> load(std::size_t index) const override;
  std::string name(std::size_t index) const override { return pictures_.name(index % pictures_.size()); }

 private:
  const ImageSet& pictures_;
  PositiveAugmentation augmentation_;
};

}  // namespace sightline::training
