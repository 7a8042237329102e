#pragma once
// A finder of faces that a test draws itself.

#include <cstdlib>
#include <functional>
#include <utility>

#include "faces/gallery/face_finder.hpp"

namespace sightline::test {

/// Faces with templates of two bytes, of which the first says who it is and the second how they look: people
/// are 1000 apart for each number between them, looks 1.
class MadeUpFinder : public gallery::FaceFinder {
 public:
  static gallery::FaceTemplate face(int who, int looks, double sharpness = 1, Box box = {0, 0, 10, 10}) {
    gallery::FaceTemplate made;
    made.face.box = box;
    made.bytes = {static_cast<std::uint8_t>(who), static_cast<std::uint8_t>(looks)};
    made.crop = Image<std::uint8_t>(4, 4);
    made.sharpness = sharpness;
    return made;
  }

  /// @param strangers  see distance_of_strangers; null: the model does not know
  explicit MadeUpFinder(std::function<std::int64_t(double)> strangers = {})
      : strangers_(std::move(strangers)) {}

  const gallery::TemplateKind& kind() const override { return kind_; }
  std::vector<gallery::FaceTemplate> find(PictureView) override { return {}; }
  std::int64_t distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) const override {
    return std::abs(1000 * (a[0] - b[0]) + (a[1] - b[1]));
  }
  double real_distance(std::int64_t distance) const override { return static_cast<double>(distance) / 1000; }
  std::optional<std::int64_t> distance_of_strangers(double share) const override {
    return strangers_ ? std::optional(strangers_(share)) : std::nullopt;
  }

 private:
  gallery::TemplateKind kind_{"made up", "00", "of a test", 2};
  std::function<std::int64_t(double)> strangers_;
};

}  // namespace sightline::test
