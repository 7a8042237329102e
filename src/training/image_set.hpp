#pragma once
/// What is trained on and evaluated with: pictures, loaded one at a time.

#include <cstddef>
#include <cstdint>
#include <string>

#include "image/view.hpp"

namespace sightline::training {

/// Thread-safety: `load` is called from several threads at once.
class ImageSet {
 public:
  virtual ~ImageSet() = default;
  virtual std::size_t size() const = 0;
  /// The luma of the picture. Throws Error (input) where it cannot be read.
  virtual Image<std::uint8_t> load(std::size_t index) const = 0;
  /// What the picture is called in messages and signatures; need not be unique.
  virtual std::string name(std::size_t index) const = 0;
};

}  // namespace sightline::training
