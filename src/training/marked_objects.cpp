#include "training/marked_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace sightline::training {

void check_inside(const Box& box, Size picture, const std::string& name) {
  if (clipped(box, picture).area() > box.area() / 2) return;
  throw Error(
      ExitCode::input,
      fmt::format("the box from ({:g}, {:g}) to ({:g}, {:g}) is outside of '{}', which has {}x{} pixels",
                  box.x, box.y, box.x + box.width, box.y + box.height, name, picture.width, picture.height),
      "mark the picture again, or remove the line from the list");
}

Image<std::uint8_t> MarkedObjects::load(std::size_t index) const {
  const MarkedObject& object = objects_[index];
  const Image<std::uint8_t> picture = pictures_.load(object.picture);
  const Box& box = object.box;
  check_inside(box, picture.view().size(), pictures_.name(object.picture));
  const auto pixel = [](double at) { return static_cast<int>(std::lround(at)); };
  const int left = pixel(box.x - margin_ * box.width), top = pixel(box.y - margin_ * box.height);
  Image<std::uint8_t> cut(std::max(pixel(box.width * (1 + 2 * margin_)), 1),
                          std::max(pixel(box.height * (1 + 2 * margin_)), 1));
  for (int y = 0; y < cut.height(); ++y) {
    const std::uint8_t* const from = picture.view().row(std::clamp(top + y, 0, picture.height() - 1));
    for (int x = 0; x < cut.width(); ++x)
      cut.view().at(x, y) = from[std::clamp(left + x, 0, picture.width() - 1)];
  }
  return cut;
}

std::string MarkedObjects::name(std::size_t index) const {
  const MarkedObject& object = objects_[index];
  const auto first =
      std::lower_bound(objects_.begin(), objects_.begin() + static_cast<std::ptrdiff_t>(index),
                       object.picture, [](const MarkedObject& o, std::size_t p) { return o.picture < p; });
  return pictures_.name(object.picture) + "#" +
         std::to_string(objects_.begin() + static_cast<std::ptrdiff_t>(index) - first + 1);
}

}  // namespace sightline::training
