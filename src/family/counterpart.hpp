#pragma once
/// Another library that runs a family's models, to be compared with.

#include <string>
#include <vector>

#include "image/box.hpp"
#include "image/view.hpp"

namespace sightline {

/// A detector of another library's, with the same model and parameters. Thread-safety: one thread at a time.
class Counterpart {
 public:
  virtual ~Counterpart() = default;
  /// Library and version: "OpenCV 4.6.0".
  virtual std::string name() const = 0;
  /// The boxes of the objects in a picture. Throws Error (failed).
  virtual std::vector<Box> find(GrayView picture) = 0;
};

}  // namespace sightline
