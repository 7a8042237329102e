#include "labelling/viewport.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::labelling {

void Viewport::set(Size picture, double pixel_aspect, Size output, int left) {
  const double aspect = std::isfinite(pixel_aspect) && pixel_aspect > 0 ? pixel_aspect : 1;
  if (picture == picture_ && output == output_ && aspect == aspect_ && left == left_) return;
  const bool is_other = picture != picture_ || aspect != aspect_;
  picture_ = picture;
  output_ = output;
  left_ = left;
  aspect_ = aspect;
  if (is_other || fitted_) {
    fit();
  } else {
    keep_in_sight();
  }
}

double Viewport::fitting_scale() const {
  const double across =
      std::max(1.0, output_.width - left_ - 2.0 * kMargin) / std::max(1.0, picture_.width * aspect_);
  const double down = std::max(1.0, output_.height - 2.0 * kMargin) / std::max(1, picture_.height);
  return std::min({across, down, kMaxScale});
}

void Viewport::fit() {
  scale_ = fitting_scale();
  // On whole pixels, so that a picture at its own size is sharp.
  origin_ = {std::round((output_.width + left_ - picture_.width * scale_x()) / 2),
             std::round((output_.height - picture_.height * scale_) / 2)};
  fitted_ = true;
}

void Viewport::zoom(double factor, Point at) {
  const Point fixed = to_picture(at);
  const double smallest = fitting_scale();
  scale_ = std::clamp(scale_ * factor, smallest, kMaxScale);
  if (scale_ <= smallest) return fit();
  origin_ = {at.x - fixed.x * scale_x(), at.y - fixed.y * scale_};
  fitted_ = false;
  keep_in_sight();
}

void Viewport::pan(double dx, double dy) {
  origin_.x += dx;
  origin_.y += dy;
  fitted_ = false;
  keep_in_sight();
}

// A picture larger than the window may move until its edge is in the middle; a smaller one stays inside.
void Viewport::keep_in_sight() {
  const auto keep = [](double origin, double length, double room) {
    const double slack = length > room ? room / 2 : 0;
    const double low = std::min(0.0, room - length) - slack, high = std::max(0.0, room - length) + slack;
    return std::round(std::clamp(origin, low, high));
  };
  origin_ = {keep(origin_.x, picture_.width * scale_x(), output_.width),
             keep(origin_.y, picture_.height * scale_, output_.height)};
}

Point Viewport::to_picture(Point output) const {
  return {(output.x - origin_.x) / scale_x(), (output.y - origin_.y) / scale_};
}

Point Viewport::to_output(Point picture) const {
  return {origin_.x + picture.x * scale_x(), origin_.y + picture.y * scale_};
}

Box Viewport::visible() const {
  const Point first = to_picture({0, 0});
  const Point last = to_picture({static_cast<double>(output_.width), static_cast<double>(output_.height)});
  const auto begin = [](double at, int end) {
    return std::clamp(2 * std::floor((at - 1) / 2), 0.0, end / 2 * 2.0);
  };
  const double left = begin(first.x, picture_.width), top = begin(first.y, picture_.height);
  return {left, top, std::clamp(std::ceil(last.x) + 1, left, static_cast<double>(picture_.width)) - left,
          std::clamp(std::ceil(last.y) + 1, top, static_cast<double>(picture_.height)) - top};
}

}  // namespace sightline::labelling
