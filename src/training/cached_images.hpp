#pragma once
/// Pictures that are searched again and again, kept decoded.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "training/image_set.hpp"

namespace sightline::training {

/// Cache size of trainers, one byte a pixel.
inline constexpr std::size_t kTrainingCacheBytes = std::size_t{2} << 30;

/// The same pictures; the first ones that are loaded stay in memory, up to `most_bytes` of pixels.
/// The pictures must outlive it. Thread-safety: as ImageSet.
class CachedImages : public ImageSet {
 public:
  CachedImages(const ImageSet& pictures, std::size_t most_bytes)
      : pictures_(pictures), most_bytes_(most_bytes), kept_(pictures.size()) {}
  std::size_t size() const override { return pictures_.size(); }
  Image<std::uint8_t> load(std::size_t index) const override;
  std::string name(std::size_t index) const override { return pictures_.name(index); }

 private:
  const ImageSet& pictures_;
  std::size_t most_bytes_;
  mutable std::atomic<std::size_t> bytes_{0};
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Image<std::uint8_t>>> kept_;
};

}  // namespace sightline::training
