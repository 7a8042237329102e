#pragma once
/// Models of landmarks, faces' boxes and pictures for tests.

#include "faces/landmarks/finder.hpp"
#include "faces/landmarks/model.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::landmarks {

/// Random trees around five points; leaves that move these about a lot.
inline Model random_model(int depth, int stages, int trees, int pixels, unsigned seed) {
  test::Numbers numbers(seed);
  Model model;
  const int mean[kCoordinates] = {28, 32, 52, 32, 40, 45, 31, 57, 49, 57};
  for (std::size_t i = 0; i < kCoordinates; ++i) model.mean[i] = mean[i] * kUnit + numbers(-kUnit, kUnit);
  model.depth = depth;
  model.stages = stages;
  model.trees = trees;
  model.pixels = pixels;
  const auto offset = [&] { return static_cast<std::int16_t>(numbers(-20 * kUnit, 20 * kUnit)); };
  for (int i = 0; i < stages * pixels; ++i)
    model.places.push_back({static_cast<std::uint8_t>(numbers(0, kPoints - 1)), offset(), offset()});
  for (int i = 0; i < stages; ++i) model.shifts.push_back(static_cast<std::uint8_t>(numbers(0, 3)));
  const auto pixel = [&] { return static_cast<std::uint8_t>(numbers(0, pixels - 1)); };
  for (int i = 0; i < stages * trees * model.nodes(); ++i)
    model.splits.push_back({pixel(), pixel(), static_cast<std::int8_t>(numbers(-128, 127))});
  for (int i = 0; i < stages * trees * model.leaves_of_tree(); ++i) {
    Leaf leaf;
    for (std::int8_t& value : leaf) value = static_cast<std::int8_t>(numbers(-128, 127));
    model.leaves.push_back(leaf);
  }
  return model;
}

/// Of frames of 150x110 pixels: enlarged, as they are, reduced, beyond every edge, and far away.
inline constexpr Square kSquares[] = {{40, 30, 64},   {41, 33, 24},      {3, 2, 1},         {10, 5, 100},
                                      {-60, 20, 90},  {100, 70, 128},    {-200, -150, 500}, {20, -40, 65},
                                      {150, 110, 63}, {-5000, 9000, 40}, {0, 0, 1024}};

}  // namespace sightline::landmarks
