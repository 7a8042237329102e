#include "characterisation/characteristics.hpp"

#include <algorithm>

namespace sightline::characterisation {

const char* to_string(Clock clock) {
  return clock == Clock::device ? "device" : "host";
}

double Curve::at(double x) const {
  const auto found = std::ranges::find(points, x, &Point::x);
  return found == points.end() ? 0 : best(*found);
}

const Curve* Characteristics::curve(const std::string& id) const {
  const auto found = std::ranges::find(curves, id, &Curve::id);
  return found == curves.end() ? nullptr : &*found;
}

double Characteristics::figure(const std::string& id) const {
  const auto found = std::ranges::find(figures, id, &Figure::id);
  return found == figures.end() ? 0 : found->best();
}

}  // namespace sightline::characterisation
