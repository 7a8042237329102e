#pragma once
/// Made-up faces.

#include "faces/landmarks/marks.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::test {

/// A frame with five bright spots on dark ground, in a box that lies about them.
struct Spots {
  explicit Spots(unsigned seed) {
    Numbers numbers(seed);
    face.box = {20.0 + numbers(-5, 5), 20.0 + numbers(-5, 5), 60, 60};
    const int places[][2] = {{38, 38}, {62, 38}, {50, 52}, {40, 65}, {60, 65}};
    for (int y = 0; y < 100; ++y) {
      for (int x = 0; x < 100; ++x) picture.view().at(x, y) = static_cast<std::uint8_t>(numbers(20, 40));
    }
    for (std::size_t i = 0; i < landmarks::kPoints; ++i) {
      const int x = places[i][0] + numbers(-2, 2), y = places[i][1] + numbers(-2, 2);
      face.points[i] = {x + 0.5, y + 0.5};
      for (int dy = -4; dy <= 4; ++dy) {
        for (int dx = -4; dx <= 4; ++dx)
          if (dx * dx + dy * dy <= 16) picture.view().at(x + dx, y + dy) = 220;
      }
    }
  }
  Image<std::uint8_t> picture{100, 100};
  landmarks::MarkedFace face;
};

}  // namespace sightline::test
