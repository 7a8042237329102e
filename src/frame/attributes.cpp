#include "frame/attributes.hpp"

namespace sightline {

const std::string& SharedAttributes::name() const {
  static const std::string none;
  return values_ ? values_->name : none;
}

SharedAttributes SharedAttributes::moved(double x, double y) const {
  if (!values_ || values_->landmarks.empty()) return *this;
  DetectionAttributes values = *values_;
  for (Landmark& landmark : values.landmarks) {
    landmark.x += x;
    landmark.y += y;
  }
  return values;
}

SharedAttributes SharedAttributes::without_landmarks() const {
  if (!values_ || values_->landmarks.empty()) return *this;
  DetectionAttributes values = *values_;
  values.landmarks.clear();
  return values;
}

}  // namespace sightline
