#pragma once
/// Sets of pictures for training and evaluation, loaded one at a time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "image/view.hpp"

namespace sightline::training {

/// Thread-safety: `load` is called from several threads at once.
class ImageSet {
 public:
  virtual ~ImageSet() = default;
  virtual std::size_t size() const = 0;
  /// The luma of the picture. Throws Error (input) if it cannot be read.
  virtual Image<std::uint8_t> load(std::size_t index) const = 0;
  /// Name of the picture in messages and signatures; need not be unique.
  virtual std::string name(std::size_t index) const = 0;
};

/// Several sets, one after the other. They must outlive it, and keep their sizes.
class ConcatenatedImages : public ImageSet {
 public:
  explicit ConcatenatedImages(std::vector<const ImageSet*> sets);
  std::size_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  Image<std::uint8_t> load(std::size_t index) const override;
  std::string name(std::size_t index) const override;

 private:
  /// The set, and the index in it.
  std::pair<const ImageSet*, std::size_t> find(std::size_t index) const;
  std::vector<const ImageSet*> sets_;
  std::vector<std::size_t> ends_;  ///< the index after each set's last
};

/// Some of a set, which must outlive it.
class ChosenImages : public ImageSet {
 public:
  ChosenImages(const ImageSet& images, std::vector<std::size_t> chosen)
      : images_(images), chosen_(std::move(chosen)) {}
  std::size_t size() const override { return chosen_.size(); }
  Image<std::uint8_t> load(std::size_t index) const override { return images_.load(chosen_[index]); }
  std::string name(std::size_t index) const override { return images_.name(chosen_[index]); }
  /// Its index in the set.
  std::size_t original(std::size_t index) const { return chosen_[index]; }

 private:
  const ImageSet& images_;
  std::vector<std::size_t> chosen_;
};

}  // namespace sightline::training
